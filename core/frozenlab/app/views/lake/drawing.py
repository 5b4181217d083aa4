"""What every component that shows a board has in the browser: the code and the colours that draw it, and the lake's rules and searches.

The rules, Conflict-Based Search and prioritized planning answer there at once; they are those of :mod:`frozenlab.lake`, held against
them by ``tests/browser/test_engine.py``. What counts, a verdict in a table or an optimum, comes from Python.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.theme import DARK, LIGHT
from frozenlab.lake.board import Board
from frozenlab.lake.picture import AGENT_COLORS

CODE = text_of(__file__, "board_draw.js")
ENGINE = text_of(__file__, "rules.js", "cbs.js")
"""JavaScript; ``CODE`` has to stand before it."""
STYLE = text_of(__file__, "board.css")
COLORS = {"light": asdict(LIGHT), "dark": asdict(DARK), "agents": AGENT_COLORS}
"""The colours that the code takes, so that all that draws a board agrees."""


def plain_board(board: Board) -> dict[str, Any]:
    """A board as the browser takes it."""
    return {"rows": board.rows, "agents": [{"start": agent.start, "goal": agent.goal} for agent in board.agents]}
