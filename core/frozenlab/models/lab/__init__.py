"""The lab model: a small transformer with a vocabulary of its own."""
