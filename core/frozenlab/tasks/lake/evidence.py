"""What the lake adds to the evidence that an engineer sees: what was drawn of a cell, and worked cases of failed plans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from frozenlab.base.cells import Cell
from frozenlab.lake.board import Board
from frozenlab.lake.config_cell import SCATTER, Layout
from frozenlab.lake.rules import MOVES

LETTERS = {move: letter for letter, move in MOVES.items()}


def statistics(
    cell: Cell, share: float, hole_ratio: float, wait_ratio: float, drawn: Mapping[str, float], layouts: Mapping[Layout, float] = SCATTER
) -> tuple[str, dict[str, float]]:
    """The config of one cell, and what was drawn from it: ``boards``, ``hole_ratio``, ``wait_ratio``, ``makespan`` (mean steps).

    Layouts are named where not all boards are scattered.
    """
    mixed = "" if layouts == SCATTER else f", {', '.join(f'{part:.0%} {layout}' for layout, part in layouts.items())} boards"
    text = (
        f"{cell.words}: config share {share:.2f}, hole ratio {hole_ratio:.2f}, wait ratio {wait_ratio:.2f}{mixed}; "
        f"drawn {drawn['boards']:.0f} boards, holes {drawn['hole_ratio']:.2f}, wait {drawn['wait_ratio']:.2f}, "
        f"mean optimal makespan {drawn['makespan']:.1f}."
    )
    numbers = {"share": share, "hole_ratio": hole_ratio, "wait_ratio": wait_ratio, "makespan": drawn["makespan"]}
    return text, numbers | {f"drawn_{name}": drawn[name] for name in ("boards", "hole_ratio", "wait_ratio")}


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
    return "\n".join([*(f"  {line}" for line in board.to_text().splitlines()), *way])


def moves(path: Sequence[Sequence[int]]) -> str:
    """
    >>> moves([[0, 0], [0, 1], [0, 1], [1, 1]]), moves([[0, 0], [2, 2]]), moves([])
    ('R W D', 'jump to (2, 2)', 'no actions')
    """
    taken = [LETTERS.get((b[0] - a[0], b[1] - a[1]), f"jump to {tuple(b)}") for a, b in pairwise(path)]
    return " ".join(taken[:LONGEST_SHOWN]) + (" ..." if len(taken) > LONGEST_SHOWN else "") or "no actions"
