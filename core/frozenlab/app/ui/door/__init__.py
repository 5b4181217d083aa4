"""The door of a server that others can reach: who may come in, and as what."""
