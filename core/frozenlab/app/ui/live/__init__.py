"""Pages that are told when a job has changed: its folder is looked at once for all who watch it."""
