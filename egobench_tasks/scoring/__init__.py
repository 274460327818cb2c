"""A text becomes scores: parsing, arithmetic, chance, intervals; imports the standard library alone."""
