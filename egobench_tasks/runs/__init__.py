"""Answers as they are kept: journal, attempts, shards; asks no model and scores nothing."""
