"""FrozenLab: a language model learns multi-agent path finding and engineers its own training environment."""
