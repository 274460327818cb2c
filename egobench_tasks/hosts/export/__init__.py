"""Questions written as finished messages for other programs to ask, and answers read back; knows no lighteval."""
