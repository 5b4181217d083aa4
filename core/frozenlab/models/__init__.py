"""Models, prompts and generation: the lab model and its dialect."""
