"""From a clip to the frames a model sees: which times, which pixels, kept where; knows no question."""
