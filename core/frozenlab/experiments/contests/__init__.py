"""Contests: people and the engineer write a config for the same student, both train, and the same boards score them."""
