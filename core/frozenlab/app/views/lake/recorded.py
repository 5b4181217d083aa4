"""Answers that were written down: with their verdicts on record, as tracks for the player."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd

from frozenlab.app.views.lake.tracks import Track, paths_from_json
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths, Verdict


@dataclass(frozen=True)
class Recorded:
    """One answer that a session wrote down while it validated, or the plan of a file."""

    board_id: str
    label: str
    board: Board
    paths: Paths | None
    verdict: Verdict | None = None
    """As recorded; None for the plan of a file, which nobody has judged yet."""
    completion: str | None = None

    @property
    def origin(self) -> str:
        """Where it is from, in a sentence."""
        if self.verdict is None:
            return f"The plan of {self.label}, judged here."
        return f"The answer of {self.label}, as it was recorded, to board {self.board_id}."


def recorded(row: pd.Series, label: str) -> Recorded:
    """The answer of one row of a validation table. Its verdict is the one on record."""
    fault = row["fault"] if isinstance(row["fault"], str) else None
    cell = json.loads(row["cell"]) if isinstance(row["cell"], str) else None
    verdict = Verdict(
        fault=fault,  # type: ignore[arg-type]
        step=_whole(row["step"]),
        agents=tuple(json.loads(row["fault_agents"])) if isinstance(row["fault_agents"], str) else (),
        cell=tuple(cell) if cell else None,
        makespan=_whole(row["makespan"]),
        sum_of_costs=_whole(row["sum_of_costs"]),
        optimal=bool(row["optimal"]),
    )
    board = Board.from_dict(json.loads(row["board"]))
    return Recorded(row["board_id"], label, board, paths_from_json(row["paths"]), verdict, row["completion"])


def _whole(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]


def answer_of(row: pd.Series, label: str) -> Track:
    """What the model did on the board of one row of a validation or completions table, with the verdict on record."""
    answer = recorded(row, label)
    return Track(label, answer.paths, answer.verdict)


def showcase(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    """The id of a board that shows best what training did: it failed visibly before and is solved optimally after.

    Prefers collisions and broken ice over plans that merely stop short, boards that need a wait, and boards of a size that reads well.
    """
    columns = ["board_id", "size", "agents", "needs_wait", "outcome"]
    both = before[columns].merge(after[["board_id", "outcome"]], on="board_id", suffixes=("", "_after"))
    turned = both[
        (both["outcome_after"] == "optimal") & ~both["outcome"].isin(["optimal", "suboptimal", "parse_error", "truncated", "missing_agent"])
    ]
    if turned.empty:
        return None
    visible = turned["outcome"].isin(["vertex_conflict", "edge_conflict", "hole"])
    score = 3 * visible + 2 * turned["needs_wait"].astype(bool) + turned["agents"] - (turned["size"] - 6).abs()
    return str(turned.loc[score.idxmax(), "board_id"])
