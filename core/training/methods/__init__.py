"""How a stage trains: GRPO, imitation and expert iteration."""
