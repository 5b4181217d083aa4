"""The Benchmark page: measuring a checkpoint, and the results of families that have no page of their own."""
