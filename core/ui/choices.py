"""What the Play page offers to choose from: boards, recorded answers, and models that can plan."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from core.lake.board import Board, read_board
from core.lake.config import EnvironmentConfig
from core.lake.generator import GenerationError, generate, infeasible, random_instances
from core.lake.rules import Paths, Verdict
from core.policy.folders import policy_folder
from core.sessions.store import Session, SessionStore
from core.ui.board import paths_from_json

FIRST_BOARD = read_board("""
S F F F H F
F F H F F F
H F F s F G
F F H F F F
F H F F H F
g F F F F F
""")
"""What the page opens with."""


def random_board(size: int, agents: int, hole_ratio: float, needs_wait: bool | None, seed: int) -> Board:
    """One solvable board; ``needs_wait`` None keeps the natural mix. The same arguments give the same board.

    Raises:
        GenerationError: there is no such board, or none was found; the message says why.
    """
    if needs_wait is None:
        reason = infeasible(size, agents, hole_ratio, None)
        if reason:
            raise GenerationError(reason)
        return next(random_instances((size,), (agents,), (hole_ratio,), 1, seed)).board
    config = EnvironmentConfig.uniform((size,), agents, hole_ratio, float(needs_wait))
    return generate(config, 1, seed)[0].board


@dataclass(frozen=True)
class Recorded:
    """One answer that a session wrote down while it validated."""

    board_id: str
    label: str
    board: Board
    paths: Paths | None
    verdict: Verdict
    completion: str


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


def validations(session: Session) -> dict[str, pd.DataFrame]:
    """The validations of a session by name, the latest first."""
    found = {}
    for stage in [*reversed(range(session.spec.stages)), None]:
        table = session.validation(stage)
        if table is not None and not table.empty:
            found["before training" if stage is None else f"after stage {stage + 1}"] = table
    return found


def models(store: SessionStore) -> dict[str, Path]:
    """Every checkpoint that can be asked, by a name that tells it apart: the shipped lab model, then session by session."""
    lab_model = policy_folder("lab-model")
    found = {"Lab model, as shipped": lab_model}
    for session in store.sessions():
        for checkpoint in session.checkpoints():
            if checkpoint.path != lab_model:
                found[f"{session.title}, {checkpoint.label} ({session.id})"] = checkpoint.path
    return {name: path for name, path in found.items() if (path / "model.safetensors").exists()}
