"""Everything that knows an evaluation host (lighteval, Inspect)."""
