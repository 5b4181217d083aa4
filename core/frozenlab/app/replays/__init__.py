"""What only the Replay page shows."""
