"""What only the Benchmark page shows."""
