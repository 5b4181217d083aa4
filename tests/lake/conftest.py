"""Hypothesis without its time limits: a test says whether something is right, not how busy the machine is."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
