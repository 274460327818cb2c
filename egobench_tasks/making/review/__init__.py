"""`egobench review`: people confirm, repair or drop questions; what they decide becomes a new release."""
