"""Drawing random boards from a config."""
