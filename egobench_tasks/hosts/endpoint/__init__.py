"""Questions asked of an OpenAI-compatible server; knows no lighteval and no Inspect."""
