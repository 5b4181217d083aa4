"""Sessions in the trackers that people already use."""
