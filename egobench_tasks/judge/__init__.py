"""A language model as judge of open answers: its prompt, its verdicts, and a store of them (PROTOCOL 2)."""
