"""The Design page: a config, and boards drawn from it."""
