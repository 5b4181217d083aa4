"""How pages show diagnoses."""
