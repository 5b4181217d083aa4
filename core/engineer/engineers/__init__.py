"""The engineers, one module each."""
