"""A language model as judge of open answers: prompt, verdicts, their store (PROTOCOL 2); knows no host."""
