"""Compiled code, and where it is kept once compiled."""
