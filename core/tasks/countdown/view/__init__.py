"""How pages show Countdown."""
