"""Egocentric-video benchmarks (EgoGears, EgoTempo) for the Hugging Face evaluation stack."""

__version__ = "0.1.0"
