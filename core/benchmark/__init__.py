"""Measuring a checkpoint on a suite, and comparing results with each other and with the paper."""
