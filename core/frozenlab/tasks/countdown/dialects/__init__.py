"""How models are asked about Countdown tasks, and how their answers are read."""
