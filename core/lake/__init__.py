"""MAPF-FrozenLake, a testbed for multi-agent path finding that stands on its own: it needs neither PyTorch nor the app.

| to | import |
|---|---|
| make, read and write a board | ``core.lake.board`` (``Board``), other tools' files ``core.lake.formats`` |
| judge a plan; thousands of answers of a language model | ``core.lake.rules`` (``judge``); ``core.lake.checking`` (``check``) |
| solve boards exactly | ``core.lake.solver`` (``solve``, ``solve_all``) |
| see how Conflict-Based Search works | ``core.lake.cbs`` (``search``) |
| describe an environment | ``core.lake.config`` (``EnvironmentConfig``), by name ``core.lake.presets`` |
| draw certified boards from it | ``core.lake.generator`` (``generate``) |
| hold-out suites | ``core.lake.suites`` (``SUITES``, ``build_suite``, ``held_out``); from files and the hub ``core.lake.suite_sources`` |
| train a language model with TRL or verifiers | ``core.lake.rl``, ``core.lake.verifiers_env`` |
| train policies | ``core.lake.envs`` (PettingZoo, Gymnasium), ``core.lake.vector`` |

Compiled code (``kernels*``, ``drawing``, ``layouts``) is loaded with the first board that is solved or drawn.
"""
