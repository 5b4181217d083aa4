"""What made the shipped lab model: the warm start, its auxiliary targets, and teaching it from measured outcomes."""
