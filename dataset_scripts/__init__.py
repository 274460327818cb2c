"""Builders that turn raw releases into Hugging Face dataset repositories, and what goes with them; runs no model."""
