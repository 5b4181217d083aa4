"""What only the pages about a session show: Home, Train and Story."""
