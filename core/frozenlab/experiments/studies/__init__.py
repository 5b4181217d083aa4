"""Studies: the same session over a grid of arms and seeds, and what the arms make of it."""
