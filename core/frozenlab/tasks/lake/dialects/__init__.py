"""How models are asked about a board and how their answers are read: the lab model in its words, language models in plain text."""
