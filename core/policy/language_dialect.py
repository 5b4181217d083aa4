"""Boards in plain language: the question of the public benchmark, and how the answer is to be written."""

from __future__ import annotations

from core.lake.board import Board
from core.lake.formats.benchmark import question

RULES = """
Plan for all agents at once. In each time step every agent makes one move: UP, DOWN, LEFT or RIGHT to the next cell (row 0 is the top row,
column 0 the leftmost), or WAIT, which keeps it where it is.
- No agent may leave the map or enter a hole.
- No two agents may be in the same cell at the same time, and no two may swap cells in one time step.
- An agent whose plan has ended stays where it is, and is still in the way of others.
- All agents have to be on their goals in the end, after as few time steps as possible.

End your answer with one line for each agent and nothing after them, the moves in order, separated by commas. For example, for two agents:
Agent 0: RIGHT, RIGHT, DOWN
Agent 1: WAIT, LEFT
""".strip().replace("\ncolumn", " column")


def render_question(board: Board) -> str:
    """What a language model is asked about a board. Raises BoardError for more than five agents: the map has no letters for them."""
    return f"{question(board)}\n\n{RULES}"
