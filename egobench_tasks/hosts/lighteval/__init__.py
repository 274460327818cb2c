"""Everything that knows lighteval; no report, and no rule of a benchmark, lives here."""
