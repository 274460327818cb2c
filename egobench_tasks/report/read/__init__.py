"""Runs and datasets become scored outcomes, whatever host wrote them; no table and no statistics here."""
