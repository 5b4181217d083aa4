"""Boards to begin a drawing with, each with the one difficulty that it is known for."""

from __future__ import annotations

from frozenlab.lake.board import Board, read_board

TEMPLATES: dict[str, Board] = {
    "corridor": read_board("""
        H H H H H H H
        S g F F F G s
        H H H F H H H
    """),
    "swap": read_board("""
        g S s G
        F F F F
    """),
    "room": read_board("""
        S F F H F F g
        F F F H F F F
        F F F F F F F
        F F F H F F F
        s F F H F F G
    """),
    "roundabout": read_board("""
        H H S H H
        H F F F H
        s F H F G
        H F F F H
        H H g H H
    """),
    "bottleneck": read_board("""
        S F H H F g
        F F H H F G
        s F F F F a
        A F H H F F
    """),
}
"""Name -> board: two agents head on with one way to dodge; neighbours who swap; a door between two rooms; a ring; one way for three."""
