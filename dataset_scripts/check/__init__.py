"""`egobench check`: every fault of a dataset folder as a finding; changes nothing."""
