"""Planning by hand on a board: draw paths, click, or steer by arrow keys; conflicts and the score show in the browser at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from frozenlab.app.ui.components import registered, text_of
from frozenlab.app.views.lake import drawing, player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import SENTENCES, packed
from frozenlab.lake.board import MOVES, Board, Plan
from frozenlab.lake.rules import Paths
from frozenlab.lake.solvers.cbs import Objective

BY_KEYS = "Keys: arrows move the agent, **W** waits, a digit chooses an agent, **Ctrl+Z** undoes."
"""How the desk's board is planned on without a pointer, in Markdown; over the board stands how with one."""
STEP_BY_STEP = (
    "Press an agent on the board and draw its path cell by cell, or use the arrow keys. **W** waits, a digit chooses an agent, **Ctrl+Z** "
    "undoes."
)
BY_TOUCH = "Tap or drag from cell to cell. **Wait** and **Undo** are below the board."
"""The same where no way is found for the reader, with a pointer and keys, and with a finger."""
BUTTONS = text_of(__file__, "hand.html")
STYLE = text_of(__file__, "steer.css")
CODE = text_of(__file__, "steer.js")
"""JavaScript; that of the player has to stand before it."""
LONGEST = 500
"""Steps of a path that are taken from a browser."""

_steer = registered(
    "steer",
    html=text_of(__file__, "steer.html").replace("PLAYER", player.HTML).replace("HAND", BUTTONS),
    css=drawing.STYLE + STYLE,
    js=player.CODE + CODE + text_of(__file__, "steer_component.js"),
)


def steer(
    board: Board,
    *,
    key: str,
    objective: Objective = "makespan",
    optimum: int | None = None,
    ghost: Paths | None = None,
    start: Sequence[str] = (),
    height: int = 460,
    stepwise: bool = False,
    most: int | None = None,
    axes: bool = False,
    numbers: Sequence[Sequence[int | None]] | None = None,
    step: int | None = None,
) -> Plan:
    """Lets the reader plan; returns the plan so far, as :func:`steered` does.

    Args:
        objective: what the score counts.
        optimum: the best value of it, which the score is counted from; None if it is not known.
        ghost: an optimal plan, which the reader may lay over the board.
        start: the plan to begin with. The reader's own plan is kept as long as board and start stay the same.
        height: of the board at most, in CSS pixels, as for :func:`frozenlab.app.views.lake.player.board_player`.
        stepwise: a press on a cell that is not beside the agent finds no way there.
        most: steps that each agent may take; None for any number.
        axes: whether the rows and columns are numbered.
        numbers: of the cells, row by row; they stand under the trails.
        step: to which the board goes, because the page talks about it now; None if it stays where the reader is.
    """
    _steer(
        key=key,
        data=planned_on(board, start, objective=objective, optimum=optimum, ghost=ghost, height=height)
        | {"stepwise": stepwise, "most": most, "axes": axes, "numbers": numbers, "step": step},
        default={"plan": None},
        on_plan_change=lambda: None,
    )
    return steered(board, key=key, start=start)


def planned_on(
    board: Board,
    start: Sequence[str] = (),
    *,
    objective: Objective = "makespan",
    optimum: int | None,
    ghost: Paths | None,
    height: int,
) -> dict[str, Any]:
    """What the browser's part takes, as for :func:`steer`."""
    return {
        "base": base_of(board, start),
        "board": drawing.plain_board(board),
        "plan": list(start),
        "objective": objective,
        "optimum": optimum,
        "ghost": packed(ghost),
        "height": height,
        "sentences": SENTENCES,
        "colors": drawing.COLORS,
    }


def steered(board: Board, *, key: str, start: Sequence[str] = ()) -> Plan:
    """The plan so far of :func:`steer` with these arguments, one text of letters an agent, also before it is drawn in this run."""
    sent = (st.session_state.get(key) or {}).get("plan") or {}
    return tuple(sent["plan"]) if sent.get("base") == base_of(board, start) and is_plan(sent.get("plan"), board) else tuple(start)


def is_plan(plan: Any, board: Board) -> bool:
    """Whether something that a browser has sent is a plan for the board: browsers can send anything."""
    if not isinstance(plan, list) or len(plan) != board.num_agents:
        return False
    return all(isinstance(letters, str) and len(letters) <= LONGEST and set(letters) <= set(MOVES) for letters in plan)


def base_of(board: Board, start: Sequence[str]) -> str:
    """What a plan was begun from."""
    return f"{encode(board)}:{','.join(start)}"
