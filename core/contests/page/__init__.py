"""The page Contest."""
