"""Everything that knows Inspect AI; no rule of a benchmark lives here."""
