"""MAPF-FrozenLake as a task family: what the loop and the app need of :mod:`frozenlab.lake`."""
