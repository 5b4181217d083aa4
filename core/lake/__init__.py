"""MAPF-FrozenLake, a testbed for multi-agent path finding that stands on its own: it needs neither PyTorch nor the app.

| to | import |
|---|---|
| make, read and write a board | ``frozenlab.lake.board`` (``Board``), other tools' files ``frozenlab.lake.formats`` |
| judge a plan | ``frozenlab.lake.rules`` (``judge``) |
| judge thousands of answers of a language model | ``frozenlab.lake.words.checking`` (``check``) |
| solve boards exactly | ``frozenlab.lake.solve.solver`` (``solve``, ``solve_all``) |
| see how Conflict-Based Search works | ``frozenlab.lake.solve.cbs`` (``search``) |
| describe an environment | ``frozenlab.lake.config`` (``EnvironmentConfig``), by name ``frozenlab.lake.presets`` |
| draw certified boards from it | ``frozenlab.lake.draw.generator`` (``generate``) |
| hold-out suites | ``frozenlab.lake.suites`` (``SUITES``, ``build_suite``, ``held_out``) |
| suites from files and the hub | ``frozenlab.lake.suite_sources`` |
| train a language model with TRL or verifiers | ``frozenlab.lake.envs.rl``, ``frozenlab.lake.envs.verifiers_env`` |
| train policies | ``frozenlab.lake.envs.parallel`` (PettingZoo, Gymnasium), ``frozenlab.lake.envs.vector`` |

Compiled code (``kernels``, ``draw.drawing``, ``draw.layouts``) is loaded with the first board that is solved or drawn.
"""
