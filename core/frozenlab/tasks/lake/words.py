"""The lake's knobs and outcomes: names, words, bounds and colours. Guard, forms, charts, tables and help read them from here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from frozenlab.lake import config_cell
from frozenlab.lake.config_cell import Knob as KnobName
from frozenlab.lake.rules import Fault
from frozenlab.tasks.knobs import Knob, Outcome, by_name

KNOBS = by_name(
    Knob("share", "share", "Part of all training boards that are of this cell; the shares sum to 100 %.", 0, 1, 0.01, 0),
    Knob("hole_ratio", "hole ratio", "Part of the cells that are holes.", 0, 1, 0.01, 1),
    Knob(
        "wait_ratio",
        "wait ratio",
        "Part of the boards that cannot be solved optimally without some agent waiting: the density of conflicts.",
        0,
        1,
        0.01,
        1,
    ),
)

RATIO_KNOBS: tuple[KnobName, ...] = tuple(knob for knob in config_cell.KNOBS if knob != "share")
"""The knobs of a cell besides its share."""


def fault(name: Fault, label: str, sentence: str, rule: str, color: str) -> Outcome:
    return Outcome(name, label, sentence, rule, color, valid=False)


OUTCOMES = by_name(
    Outcome("optimal", "optimal", "it is optimal", "", "#00855F", True),
    Outcome("suboptimal", "valid, not optimal", "it is valid, and not optimal", "", "#4E9E3A", True),
    Outcome("valid", "valid", "it is valid", "", "#4E9E3A", True),
    fault(
        "parse_error",
        "not readable as a plan",
        "the answer cannot be read",
        "A plan names one path for every agent in the model's dialect; this answer does not.",
        "#66778C",
    ),
    fault(
        "truncated",
        "cut off before its end",
        "the answer is cut off",
        "The model has a limit of words for one answer; it was reached before every agent had its whole path.",
        "#8292A4",
    ),
    fault(
        "missing_agent",
        "an agent has no path",
        "it has no moves for {agents}",
        "Every agent needs a path, even one that only waits.",
        "#7E8C9B",
    ),
    fault("out_of_bounds", "walks off the board", "{agents} leaves the board", "Agents stay on the board.", "#9A62BD"),
    fault(
        "hole",
        "walks into a hole",
        "{agents} moves into a hole",
        "Holes are the hatched cells. Whoever enters one has fallen in.",
        "#1A7FBF",
    ),
    fault(
        "locked_door",
        "enters a locked door",
        "{agents} enters a door without its key",
        "A door opens for one agent only, the one whose number it has. Nobody else may enter it.",
        "#B5384B",
    ),
    fault(
        "against_arrow",
        "leaves one-way ice the wrong way",
        "{agents} does not follow the arrow of one-way ice",
        "A cell with an arrow can be entered from any side, and an agent may wait on it; it can be left only where the arrow points.",
        "#5B5FC7",
    ),
    fault(
        "illegal_jump",
        "jumps over more than one cell",
        "{agents} does not begin at its start, or moves further than one cell",
        "In one step an agent goes to one of the four neighbouring cells, or waits.",
        "#1F96A8",
    ),
    fault(
        "vertex_conflict",
        "two agents on one cell",
        "{agents} are in the same cell",
        "Two agents never stand on the same cell at the same time. An agent that has arrived still blocks its cell.",
        "#CC4A14",
    ),
    fault(
        "edge_conflict",
        "two agents swap cells",
        "{agents} swap cells",
        "Two neighbouring agents cannot swap their cells in one step. Following another agent is fine.",
        "#B97700",
    ),
    fault(
        "goal_not_reached",
        "ends away from its goal",
        "not on the goal at the end: {agents}",
        "At the end every agent stands on its own goal.",
        "#C56A9C",
    ),
)
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
    *fewer, most = map(str, teams)
    return f"{', '.join(fewer)} and {most} agents" if fewer else f"{most} agent{'' if most == '1' else 's'}"


def setting_label(name: str) -> str:
    """A knob's label, or a layout's name with what it counts.

    >>> setting_label("hole_ratio"), setting_label("maze")
    ('hole ratio', 'maze boards')
    """
    return KNOBS[name].label if name in KNOBS else f"{name} boards"
