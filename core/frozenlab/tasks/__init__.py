"""Task families: what the loop trains on, a folder each."""
