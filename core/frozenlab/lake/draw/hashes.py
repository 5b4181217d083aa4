"""Canonical hashes: the same for all rotations and mirror images of a board and for all orders of its agents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import Board
from frozenlab.lake.solvers.solver import groups_of

NOTHING = np.empty(0, np.uint64)
"""No hashes: an empty list of boards to leave out."""


def canonical_hash(board: Board) -> str:
    """The canonical hash of a board as 16 hex digits.

    Example:
        >>> canonical_hash(Board.from_text("S F G")) == canonical_hash(Board.from_text("G\\nF\\nS"))
        True
    """
    return f"{canonical_hashes([board])[0]:016x}"


def canonical_hashes(boards: Sequence[Board]) -> NDArray[np.uint64]:
    """:func:`canonical_hash` of many boards as numbers, ascending and each once: what ``exclude`` takes."""
    from frozenlab.lake.draw.drawing import canonical_of_boards

    hashes = [NOTHING]
    for _, (exits, starts, goals, width) in groups_of(boards):
        hashes.append(canonical_of_boards(exits, exits.shape[1] // width, width, starts, goals))
    return np.unique(np.concatenate(hashes))
