"""The loop, the session folder, the background worker."""
