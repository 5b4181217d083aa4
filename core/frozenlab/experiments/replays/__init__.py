"""Asking engineers again about one stage, without training."""
