"""The code and the colours that draw a board in the browser, for every component that shows one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.theme import DARK, LIGHT
from frozenlab.lake.board import Board
from frozenlab.lake.picture import AGENT_COLORS

CODE = text_of(__file__, "board_draw.js")
STYLE = text_of(__file__, "board.css")
COLORS = {"light": asdict(LIGHT), "dark": asdict(DARK), "agents": AGENT_COLORS}
"""The colours that the code takes, so that all that draws a board agrees."""


def plain_board(board: Board) -> dict[str, Any]:
    """A board as the browser takes it."""
    return {"rows": board.rows, "agents": [asdict(agent) for agent in board.agents]}
