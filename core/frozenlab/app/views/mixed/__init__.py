"""How pages show tasks of several families."""
