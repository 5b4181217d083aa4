"""MAPF-FrozenLake, a testbed for multi-agent path finding that stands on its own: it needs neither PyTorch nor the app.

    >>> from frozenlab.lake import Board, judge, solve
    >>> board = Board.from_text("S g F\\nF G s")
    >>> solution = solve(board)
    >>> solution.makespan, judge(board, solution.plan).valid
    (2, True)

| to | import |
|---|---|
| make, read and write a board | ``frozenlab.lake.board`` (``Board``), other tools' files ``frozenlab.lake.formats`` |
| judge a plan | ``frozenlab.lake.rules`` (``judge``) |
| read the answers of a language model | ``frozenlab.lake.words.reading`` (``parse_answer``, ``judge_answer``) |
| solve boards exactly | ``frozenlab.lake.solvers.solver`` (``solve``, ``solve_all``) |
| plan for hundreds of agents | ``frozenlab.lake.planners`` (``PLANNERS``) |
| see how Conflict-Based Search works | ``frozenlab.lake.solvers.cbs`` (``search``) |
| describe an environment | ``frozenlab.lake.config`` (``EnvironmentConfig``), by name ``frozenlab.lake.presets`` |
| draw certified boards from it | ``frozenlab.lake.draw.generator`` (``generate``) |
| suites, held out or from files and the hub | ``frozenlab.lake.suites`` (``SUITES``, ``build_suite``, ``held_out``, ``open_suite``) |
| train a language model with TRL or verifiers | ``frozenlab.lake.envs.rl``, ``frozenlab.lake.envs.verifiers_env`` |
| train policies | ``frozenlab.lake.envs.parallel`` (PettingZoo, Gymnasium), ``frozenlab.lake.envs.vector`` |

Compiled code (``kernels``, ``draw.drawing``, ``draw.layouts``) is loaded with the first board that is solved, planned or drawn.
"""

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.solver import solve

__all__ = ["Agent", "Board", "EnvironmentConfig", "generate", "judge", "solve"]
