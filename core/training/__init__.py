"""The warm start and one GRPO stage."""
