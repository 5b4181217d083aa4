"""The lake in words: its knobs and outcomes, how boards are drawn, and what engineers read of the task and of failed plans.

Guard, forms, charts, tables and help read names, bounds and colours from here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from frozenlab.base.cells import Cell
from frozenlab.base.numbers import listed
from frozenlab.lake import config_cell
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig, Placement, WaitDefinition
from frozenlab.lake.config_cell import SCATTER, CellConfig, Layout
from frozenlab.lake.draw.generator import Realised
from frozenlab.lake.layouts import LAYOUTS
from frozenlab.lake.rules import MOVES
from frozenlab.tasks.words import OPTIMAL, SUBOPTIMAL, Knob, Outcome, by_name

KNOBS = by_name(
    Knob("share", "share", "Part of all training boards that are of this cell; the shares sum to 100 %.", 0, 1, 0.01, 0),
    Knob("hole_ratio", "hole ratio", "Part of the cells that are holes.", 0, 1, 0.01, 1),
    Knob("wait_ratio", "wait ratio",
         "Part of the boards that cannot be solved optimally without some agent waiting: the density of conflicts.", 0, 1, 0.01, 1),
)  # fmt: skip
OUTCOMES = by_name(
    OPTIMAL,
    SUBOPTIMAL,
    Outcome("valid", "valid", "it is valid", "", "#4E9E3A", True),
    Outcome("parse_error", "not readable as a plan", "the answer cannot be read",
            "A plan names one path for every agent in the model's dialect; this answer does not.", "#66778C"),
    Outcome("truncated", "cut off before its end", "the answer is cut off",
            "The model has a limit of words for one answer; it was reached before every agent had its whole path.", "#8292A4"),
    Outcome("missing_agent", "an agent has no path", "it has no moves for {agents}",
            "Every agent needs a path, even one that only waits.", "#7E8C9B"),
    Outcome("out_of_bounds", "walks off the board", "{agents} leaves the board", "Agents stay on the board.", "#9A62BD"),
    Outcome("hole", "walks into a hole", "{agents} moves into a hole",
            "Holes are the hatched cells. An agent that enters one falls in.", "#1A7FBF"),
    Outcome("locked_door", "enters a locked door", "{agents} enters a door without its key",
            "A door opens for one agent only, the one whose number it has. Other agents may not enter it.", "#B5384B"),
    Outcome("against_arrow", "leaves one-way ice the wrong way", "{agents} does not follow the arrow of one-way ice",
            "A cell with an arrow can be entered from any side, and an agent may wait on it; "
            "it can be left only where the arrow points.", "#5B5FC7"),
    Outcome("illegal_jump", "jumps over more than one cell", "{agents} does not begin at its start, or moves further than one cell",
            "In one step an agent goes to one of the four neighbouring cells, or waits.", "#1F96A8"),
    Outcome("vertex_conflict", "two agents on one cell", "{agents} are in the same cell",
            "Two agents never stand on the same cell at the same time. An agent that has arrived still blocks its cell.", "#CC4A14"),
    Outcome("edge_conflict", "two agents swap cells", "{agents} swap cells",
            "Two neighbouring agents cannot swap their cells in one step. Following another agent is fine.", "#B97700"),
    Outcome("goal_not_reached", "ends away from its goal", "not on the goal at the end: {agents}",
            "At the end every agent stands on its own goal.", "#C56A9C"),
)  # fmt: skip
"""By name, in the order in which charts stack them. ``valid``: where the optimum is not known."""

CELL = re.compile(rf"(?:(\d+)@)?({'|'.join(config_cell.LAYOUTS)}|)(\d+)")
"""The name of a cell: team, layout and map size."""


def cell_label(name: str) -> str | None:
    """A cell in charts and tables; None: no cell of boards has such a name.

    >>> [cell_label(name) for name in ("6", "3@6", "maze6", "3@maze6", "numbers3")]
    ['6×6', '3 on 6×6', '6×6 maze', '3 on 6×6 maze', None]
    """
    parts = CELL.fullmatch(name)
    if parts is None:
        return None
    team, layout, size = parts.groups()
    return (f"{team} on " if team else "") + f"{size}×{size}" + (f" {layout}" if layout else "")


def cells_noun(names: Sequence[str]) -> str | None:
    """Map sizes, unless the names tell more apart.

    >>> cells_noun(["4", "6"]), cells_noun(["2@4", "3@4"]), cells_noun(["maze4"])
    ('map size', 'team and map size', None)
    """
    if all(name.isdigit() for name in names):
        return "map size"
    return "team and map size" if all("@" in name for name in names) else None


def teams_title(teams: Sequence[int]) -> str:
    """
    >>> teams_title((1,)), teams_title((3,)), teams_title((2, 3, 4))
    ('1 agent', '3 agents', '2, 3 and 4 agents')
    """
    return f"{listed(map(str, teams))} agent{'' if tuple(teams) == (1,) else 's'}"


def setting_label(name: str) -> str:
    """A knob's label, or a layout's name with what it counts.

    >>> setting_label("hole_ratio"), setting_label("maze")
    ('hole ratio', 'maze boards')
    """
    return KNOBS[name].label if name in KNOBS else f"{name} boards"


LAYOUT_WORDS: dict[Layout, str] = {recipe.name: recipe.words for recipe in LAYOUTS}
MUST_WAIT_IF: dict[WaitDefinition, str] = {"makespan": "every quickest plan has a WAIT", "sum_of_costs": "every cheapest plan has a WAIT"}
WAIT_HELP = (
    "Quickest: the fewest steps until all have arrived (the makespan; the paper's). Cheapest: the least sum of costs, which counts for "
    "each agent the steps until it has arrived for good; then a WAIT counts that comes before the arrival."
)
STARTS_AND_GOALS: dict[Placement, str] = {"uniform": "anywhere", "connected": "agent by agent, within reach"}
PLACEMENT_HELP = (
    "Anywhere on the frozen cells; a board without a solution is replaced by another (the paper's). Or each agent's start and goal "
    "within connected cells, as POGEMA does, which favours boards with isolated pockets."
)


def notes(config: EnvironmentConfig) -> list[str]:
    """What a config says besides its cells, where that is not the paper's."""
    found = []
    if config.wait_definition != "makespan":
        found.append(f"A board must wait if {MUST_WAIT_IF[config.wait_definition]}.")
    if config.placement != "uniform":
        found.append(f"Starts and goals: {STARTS_AND_GOALS[config.placement]}.")
    return found


# --- what an engineer reads -------------------------------------------------------------------------------------------

NAMES_OF_PLACES = {"size": "map size", "agents": "number of agents", "layout": "layout"}

TASK_BRIEF = """\
You design the environment in which a policy (a language model) learns multi-agent path finding by reinforcement learning. On a frozen lake
map, {teams} move at once, one cell or WAIT in each time step; they must not enter holes, share a cell or swap cells, and all have
to reach their goals in as few time steps as possible. Training goes in stages. After each stage you read what happened and write the
environment config of the next one. The aim is the highest share of valid and optimal plans on held-out boards of all sizes in the end."""

KNOBS_BRIEF = """\
The config has a cell for each {what}: {cells}. For each cell you set, in whole per cent:
- share_percent: the part of the training boards that are of this cell. The shares are scaled to sum to 100.
- hole_percent: the part of a board that is holes. More holes, fewer ways and longer detours.
- wait_percent: the part of the cell's boards that cannot be solved optimally unless some agent waits: how often agents are in each other's
  way."""

LAYOUTS_BRIEF = """
- layouts: how the holes lie, as parts of the boards of a cell without a layout of its own, scaled to sum to 100. You may use {layouts}."""


def brief(cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
    """The task, the cells and the knobs; the layouts (``parts``) too if the engineer may change them, and what there is besides holes."""
    knobs = KNOBS_BRIEF.format(what=what_cells_are(cells), cells=cells_in_words(cells))
    text = f"{TASK_BRIEF.format(teams=teams_in_words(cells))}\n\n{knobs}"
    text += "\n" + LAYOUTS_BRIEF.format(layouts=", ".join(parts)) if parts else ""
    offered = {str(cell.place.get("layout")) for cell in cells} | set(parts)
    return text + "".join(
        f"\nLayout {recipe.name}: holes {recipe.words}." for recipe in LAYOUTS if recipe.furnish and recipe.name in offered
    )


def teams_in_words(cells: Sequence[Cell]) -> str:
    """``2 agents``; ``2, 3 or 4 agents``."""
    return f"{listed(map(str, sorted({int(cell.place['agents']) for cell in cells})), 'or')} agents"


def what_cells_are(cells: Sequence[Cell]) -> str:
    """``map size``; ``map size and number of agents``."""
    differing = [name for name in NAMES_OF_PLACES if len({cell.place.get(name) for cell in cells}) > 1]
    return " and ".join(NAMES_OF_PLACES[name] for name in differing or ["size"])


def cells_in_words(cells: Sequence[Cell]) -> str:
    """``4, 6``; ``3@4 (size 4 with 3 agents), ...``."""
    return ", ".join(cell.name if cell.name.isdigit() else f"{cell.name} ({cell.words})" for cell in cells)


LETTERS = {move: letter for letter, move in MOVES.items()}


def statistics(cell: Cell, own: CellConfig, drawn: Realised) -> tuple[str, dict[str, float]]:
    """The config of a cell and what was drawn from it. Layouts are named where not all boards are scattered."""
    mixed = "" if own.layouts == SCATTER else f", {', '.join(f'{part:.0%} {layout}' for layout, part in own.layouts.items())} boards"
    makespan = drawn.mean_makespan or 0.0
    text = (
        f"{cell.words}: config share {own.share:.2f}, hole ratio {own.hole_ratio:.2f}, wait ratio {own.wait_ratio:.2f}{mixed}; "
        f"drawn {drawn.boards} boards, holes {drawn.hole_ratio:.2f}, wait {drawn.wait_ratio:.2f}, "
        f"mean optimal makespan {makespan:.1f}."
    )
    numbers = {"share": own.share, "hole_ratio": own.hole_ratio, "wait_ratio": own.wait_ratio, "makespan": makespan}
    figures = {"drawn_boards": drawn.boards, "drawn_hole_ratio": drawn.hole_ratio, "drawn_wait_ratio": drawn.wait_ratio}
    return text, numbers | figures


def case(row: Any) -> tuple[str, int]:
    """What went wrong with a failed plan, as a phrase, and at which time step."""
    import pandas as pd

    step = 0 if pd.isna(row["step"]) else int(row["step"])
    who = " and ".join(str(agent) for agent in json.loads(row["fault_agents"]))
    where = "" if pd.isna(row["cell"]) else f" at {tuple(json.loads(row['cell']))}"
    agents = f" of agent {who}" if who else ""
    board = f"board {row['board_id']} ({row['agents']} agents, optimum {row['optimal_makespan']} steps)"
    when = "" if pd.isna(row["step"]) else f" at step {step}"
    return f"{board}: {row['fault'].replace('_', ' ')}{agents}{where}{when}", step


LONGEST_SHOWN = 40
"""Steps of a plan that are shown."""


def shown(row: Any) -> str:
    """The board of a failed plan, and where the plan takes each agent."""
    import pandas as pd

    board = Board.from_dict(json.loads(row["board"]))
    way = [f"  agent {i} from {agent.start} to {agent.goal}" for i, agent in enumerate(board.agents)]
    if not pd.isna(row["paths"]):
        way = [f"{asked}: {moves(path)}" for asked, path in zip(way, json.loads(row["paths"]), strict=True)]
    return "\n".join([*(f"  {line}" for line in board.to_dict()["map"]), *way])


def moves(path: Sequence[Sequence[int]]) -> str:
    """
    >>> moves([[0, 0], [0, 1], [0, 1], [1, 1]]), moves([[0, 0], [2, 2]]), moves([])
    ('R W D', 'jump to (2, 2)', 'no actions')
    """
    taken = [LETTERS.get((b[0] - a[0], b[1] - a[1]), f"jump to {tuple(b)}") for a, b in pairwise(path)]
    return " ".join(taken[:LONGEST_SHOWN]) + (" ..." if len(taken) > LONGEST_SHOWN else "") or "no actions"
