"""Tables become a page, Markdown, figures, terminal output and files; computes no score."""
