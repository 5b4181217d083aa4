"""Countdown: reach a target from a few numbers by adding, subtracting and multiplying, each number at most once."""
