"""The part of the Benchmark page about boards: results next to each other and to the paper."""
