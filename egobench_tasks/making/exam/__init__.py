"""`egobench exam`: people answer the benchmark as models do; each is a run like any other."""
