"""What asks a model, one folder a host; what every host shares belongs in `asking`, `runs` or `scoring`."""
