"""The exact solver, and Conflict-Based Search to learn from."""
