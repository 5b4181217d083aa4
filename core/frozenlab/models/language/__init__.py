"""Hugging Face language models: prompts, answers and text generation."""
