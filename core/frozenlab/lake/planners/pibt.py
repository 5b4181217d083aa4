"""PIBT: the quickest, without any promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.planners.planner import Clock, Planner
from frozenlab.lake.solvers.many import News

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd

PATIENCE = 8
"""Times the longest distance, and so many steps more for each agent: a walk that takes longer begins anew with other draws."""


@dataclass(frozen=True)
class PIBT(Planner):
    """PIBT, priority inheritance with backtracking (Okumura, Machida, Defago and Tamura 2022, Artificial Intelligence), with the swaps
    of LaCAM (Okumura 2023): every agent goes towards its goal, the most urgent first, and pushes those in its way. It ends with its first
    plan; where the agents block each other for good, it tries again until the time is up."""

    name: ClassVar[str] = "pibt"
    title: ClassVar[str] = "PIBT"
    promise: ClassVar[Literal["none"]] = "none"

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        from frozenlab.lake.kernels.pibt import new_room, run_pibt

        k = len(crowd.goals)
        far = crowd.distance[np.arange(k), crowd.starts].astype(np.float32)
        most = PATIENCE * (int(far.max()) + k)
        room = new_room(len(crowd.successors), k)
        positions = np.empty((most + 1, k), np.int32)
        positions[0] = crowd.starts
        for trial in count():
            state = np.uint64(seeds.derive(seed, "planners/pibt", trial))
            turns, urgency = np.arange(k, dtype=np.int32), far / np.float32(1 << 15)
            time, home = 0, False
            while not home and time < most:
                if clock.is_up:
                    return
                steps = min(clock.effort(), most - time)
                time, home, state = run_pibt(crowd, positions, time, steps, turns, urgency, room, np.uint64(state))
            if home:
                yield News(crowd.cell_of[positions[: time + 1]])
                return
