"""Outcomes become tables: breakdowns, comparisons, statistics; reads no run and draws nothing."""
