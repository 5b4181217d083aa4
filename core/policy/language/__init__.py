"""Hugging Face language models: their prompts, their answers and who writes for them."""
