"""Boards and answers in plain language: the prompt, and the check of what a language model wrote."""
