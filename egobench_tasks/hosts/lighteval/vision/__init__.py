"""What stands between a question and a transformers model: settings, loading, prompts, inputs; asks nothing itself."""
