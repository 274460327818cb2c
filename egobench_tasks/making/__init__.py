"""Making and checking a benchmark: audit, review, exam, draft; nothing here scores a published run."""
