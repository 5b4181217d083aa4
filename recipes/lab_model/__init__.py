"""What made the shipped lab model: the warm start, its courses, and its auxiliary targets."""
