"""What only the Studies page shows."""
