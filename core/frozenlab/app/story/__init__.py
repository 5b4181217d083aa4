"""The Story page: what an engineer saw, said and changed after a stage, and whether it was right."""
