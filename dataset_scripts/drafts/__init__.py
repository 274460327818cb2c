"""Drafted questions as raw releases that the ordinary builders take; knows no model."""
