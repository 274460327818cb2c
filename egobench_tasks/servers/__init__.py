"""OpenAI-compatible servers: settings, pace, one client and its replies; knows no question and no verdict."""
