"""How pages show the answers of each task family."""
