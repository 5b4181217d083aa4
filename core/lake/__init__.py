"""MAPF-FrozenLake: boards, rules, solver, generator, environment config and suites."""
