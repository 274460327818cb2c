"""A rendered benchmark with scripted truth, and an oracle that reads it from pixels; no real data here."""
