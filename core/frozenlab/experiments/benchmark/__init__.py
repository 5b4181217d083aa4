"""Measuring a checkpoint on a suite, and keeping the results. What a family counts besides rates stands with the family."""
