"""The loop, the session folder that it writes, and forks of it."""
