"""How models are asked about a board and how their answers are read: language models in plain text, the lab model in its words.

The lab dialect writes a board as a prompt of words, a plan as the agents' cells time step by time step.

    <plan> h6 w6 k2 holes r0c1 r2c3 agent0 r0c0 r3c3 agent1 r1c1 r0c3 moves
    r1c0 r1c2 r2c0 r0c2 ...

One-way ice and doors, where a board has them, follow the holes: ``^ r1c1 r2c0 > r3c3 door1 r2c2``.

After ``moves`` the model writes, for each time step from 1 on, the cell of agent 0, agent 1, ...; then the end token. An agent that waits
repeats its cell. The starts are not repeated.
"""

from __future__ import annotations

from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError
from frozenlab.lake import exits
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths
from frozenlab.lake.words import answers, compact
from frozenlab.lake.words.answers import reasoning
from frozenlab.lake.words.reading import Answer, parse_answer
from frozenlab.tasks import vocabulary as v
from frozenlab.tasks.task import Demonstration, Dialect, LabDialect

CELL_OF = {v.cell_word((r, c)): (r, c) for r in range(v.MAX_SIDE) for c in range(v.MAX_SIDE)}
assert tuple(CELL_OF) == v.CELLS

SPARE_STEPS = 12
"""Time steps beyond the longest shortest path that an answer may take before it is cut off. Of 6,000 solved boards of all sizes and teams,
the optimum exceeds that path by 10 in one, by more in none."""


class DialectError(LabError, ValueError):
    """The lab dialect has no words for this board."""


def render_board(board: Board) -> str:
    """The prompt for a board. Raises DialectError for boards with a side above 10 or more than five agents."""
    if board.size > v.MAX_SIDE:
        raise DialectError(f"the board is {board.height}×{board.width}; the lab model reads boards up to {v.MAX_SIDE}×{v.MAX_SIDE}")
    if board.num_agents > v.MAX_AGENTS:
        raise DialectError(f"the board has {board.num_agents:,} agents; the lab model reads up to {v.MAX_AGENTS}")
    shape = v.HEIGHTS[board.height - 1], v.WIDTHS[board.width - 1], v.TEAMS[board.num_agents - 1]
    words = [v.PLAN, *shape, v.HOLES, *map(v.cell_word, board.holes)]
    for name, letter in zip((*v.ARROWS, *v.DOORS), exits.ARROWS + exits.DOORS, strict=True):
        if cells := board.cells_of(letter):
            words += [name, *map(v.cell_word, cells)]
    for name, agent in zip(v.AGENTS, board.agents, strict=False):
        words += [name, v.cell_word(agent.start), v.cell_word(agent.goal)]
    return " ".join([*words, v.MOVES])


def render_plan(paths: Paths) -> str:
    """The completion for a plan, without the end token. Paths that end early are filled up by waiting; the starts are left out."""
    steps = max(len(path) for path in paths)
    return " ".join(v.cell_word(path[min(t, len(path) - 1)]) for t in range(1, steps) for path in paths)


def parse_plan(board: Board, completion: str, finished: bool) -> Answer:
    """Reads a completion (without its end token); ``finished`` says whether the model ended it itself.

    A word that is not a cell is a ``parse_error``, a completion cut off by the length limit is ``truncated``, and a last time step that
    does not name every agent is a ``missing_agent``. Everything else is a plan, however bad.
    """
    words = completion.split()
    if any(word not in CELL_OF for word in words):
        return Answer(fault="parse_error")
    if not finished:
        return Answer(fault="truncated")
    if len(words) % board.num_agents:
        return Answer(fault="missing_agent")
    cells = [CELL_OF[word] for word in words]
    return Answer(paths=tuple((agent.start, *cells[i :: board.num_agents]) for i, agent in enumerate(board.agents)))


def max_plan_words(board: Board) -> int:
    """The most words an answer to this board may take, the end token included; a longer one is cut off and counts as truncated."""
    longest = max(board.distances_to_goal(i).get(agent.start, 0) for i, agent in enumerate(board.agents))  # alone; 0: out of reach
    return board.num_agents * (longest + SPARE_STEPS) + 1


def too_many_cells(config: Config) -> list[str]:
    """Why the lab model cannot read a config as an engineer, if it cannot."""
    if len(config.cells) <= v.MAX_CELLS:
        return []
    many = f"The lab model as engineer reads up to {v.MAX_CELLS} cells; the config has {len(config.cells)}."
    return [f"{many} Take fewer cells, or another engineer."]


class BoardsInLabWords(LabDialect[Instance, Answer]):
    """The lab dialect as a task family offers it."""

    def prompt(self, task: Instance) -> str:
        return render_board(task.board)

    def read(self, task: Instance, text: str, finished: bool) -> Answer:
        return parse_plan(task.board, text, finished)

    def limit(self, task: Instance) -> int:
        return max_plan_words(task.board)

    def obstacles(self, config: EnvironmentConfig, engineer: bool) -> list[str]:
        found = [
            f"The lab model reads boards up to {v.MAX_SIDE}×{v.MAX_SIDE}; the config asks for {size}×{size}."
            for size in config.sizes
            if size > v.MAX_SIDE
        ]
        return found + (too_many_cells(config) if engineer else [])


class BoardsInPlainText(Dialect[Instance, Answer]):
    """The question of the public benchmark, with the rules; answers are read in whatever form they come."""

    def prompt(self, task: Instance) -> str:
        return answers.prompt(task.board)

    def read(self, task: Instance, text: str, finished: bool) -> Answer:
        return parse_answer(task.board, text, finished)

    def demonstrate(self, task: Instance) -> Demonstration | None:
        plan = task.solution.plan
        return None if plan is None else Demonstration(reasoning(task.board, plan), answers.write_answer(plan))


class BoardsInCompactText(Dialect[Instance, Answer]):
    """The question without rules, for models that have learnt them; answers are read in one form only."""

    system = compact.SYSTEM

    def prompt(self, task: Instance) -> str:
        return compact.question(task.board)

    def read(self, task: Instance, text: str, finished: bool) -> Answer:
        return compact.read_answer(task.board, text, finished)

    def demonstrate(self, task: Instance) -> Demonstration | None:
        plan = task.solution.plan
        return None if plan is None else Demonstration("", compact.worked_answer(task.board, plan))
