"""`egobench browse`: questions, clips, the frames a model saw, gold, and what models answered; writes nothing."""
