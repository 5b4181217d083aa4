"""Plans on a board, with their verdicts in words: what the player, the search and animations draw."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pandas as pd

from frozenlab.base.numbers import counted, listed
from frozenlab.lake.board import MOVES, Board, Cell, Plan
from frozenlab.lake.rules import Path, Paths, Verdict, judge_paths, walk
from frozenlab.tasks.lake.dialects import parse_plan
from frozenlab.tasks.lake.words import OUTCOMES

SENTENCES = {
    "parse_error": "The answer cannot be read as a plan.",
    "truncated": "The answer was cut off before the plan was complete.",
    "missing_agent": "The answer gives {who} no path.",
    "out_of_bounds": "Step {step}: {who} leaves the board at {cell}.",
    "hole": "Step {step}: {who} falls into the hole at {cell}.",
    "locked_door": "Step {step}: {who} enters the door at {cell}, which opens for another agent only.",
    "against_arrow": "Step {step}: {who} leaves one-way ice for {cell}, where its arrow does not point.",
    "illegal_jump": "Step {step}: {who} jumps to {cell}, which is no neighbouring cell.",
    "vertex_conflict": "Step {step}: {who} are both on {cell}.",
    "edge_conflict": "Step {step}: {who} swap cells; {first} enters {cell}.",
    "goal_not_reached": "After the last step ({step}), {who} {are} not on the goal.",
}
"""Fault -> what happened, with places for the step, the agents, the first of them and the cell. The browser fills in the same sentences."""

BADGES = {"optimal": "optimal makespan", "suboptimal": "valid, makespan not optimal"}
"""What a single plan is called: optimal is always optimal in something. Charts of rates use the shorter words of OUTCOMES."""


KEPT = 16
"""Plans of which a page, which runs again at every click, need not make paths and verdict anew: one of a thousand agents takes 20 MB."""
MOST_NAMED = 12
"""Agents that are listed by number; rules.js has it too."""
BESIDE = 1.0
"""Cells around a board that an agent leaves: it goes no farther than one cell, and the ring around it there is seen whole."""
LAST_WORDS = 6
"""Words that are shown of an answer that was cut off."""


@dataclass(frozen=True)
class Track:
    """One plan on the board."""

    label: str
    paths: Paths | None
    """The cells of every agent at time 0, 1, 2, ..., illegal ones included; None where there is no plan to show."""
    verdict: Verdict | None = None
    cheapest: int | None = None
    """The smallest sum of costs of the board, where it is known."""
    absent: tuple[int, ...] = ()
    """Agents that have no path here; they are drawn faint on their starts."""
    completion: str | None = None
    """The answer as a model wrote it."""

    @property
    def badge(self) -> str | None:
        """The outcome, and in what the plan is optimal."""
        if self.verdict is None:
            return None
        outcome = self.verdict.outcome
        if outcome == "suboptimal" and self.verdict.sum_of_costs == self.cheapest:
            return "optimal sum of costs"
        return BADGES.get(outcome, OUTCOMES[outcome].label)

    def caption(self, short: bool = False) -> str:
        """What stands below it; ``short``: of a valid plan the figures only."""
        return fault_sentence(self.verdict, short) if self.verdict else ""

    @property
    def last_words(self) -> str:
        """How an answer that was cut off breaks off; empty for others."""
        if self.verdict is None or self.verdict.outcome != "truncated" or not self.completion:
            return ""
        return f"… {' '.join(self.completion.split()[-LAST_WORDS:])} …"


@lru_cache(KEPT)
def followed(board: Board, plan: Plan, optimum: int | None) -> tuple[Paths, Verdict]:
    """The paths of a plan and the verdict on it; ``optimum`` is the best makespan, if that is known."""
    paths = walk(board, plan)
    return paths, judge_paths(board, paths, optimum)


def plain_track(board: Board, track: Track, short: bool = False) -> dict[str, Any]:
    """A track as the player takes it; ``short``: the caption of a valid plan is its figures."""
    verdict = track.verdict
    paths = track.paths if verdict is not None and verdict.valid else complete(board, track.paths)
    return {
        "label": track.label,
        "badge": track.badge,
        "outcome": (verdict.outcome if verdict.valid else "fault") if verdict else None,
        "caption": track.caption(short),
        "paths": paths,
        "fault": _mark(paths, verdict),
        "absent": track.absent,
        "last_words": track.last_words,
    }


def fault_sentence(verdict: Verdict, short: bool = False) -> str:
    """The verdict as one plain sentence; ``short``: of a valid plan the figures only."""
    if verdict.valid:
        figures = f"{counted(verdict.makespan or 0, 'step')}, sum of costs {verdict.sum_of_costs:,}"
        more = {True: " No plan is faster.", False: " A faster plan exists.", None: ""}[verdict.optimal]
        return figures if short else f"All on goal after {figures}.{more}"
    who = names(verdict.agents)
    if verdict.outcome == "missing_agent" and not verdict.agents:
        return "The answer does not give every agent a path."
    if verdict.outcome == "illegal_jump" and not verdict.step:
        return f"{who.capitalize()} does not begin at its start but at {verdict.cell}."
    first, are = names(verdict.agents[:1]), "is" if len(verdict.agents) == 1 else "are"
    return SENTENCES[verdict.outcome].format(who=who, first=first, step=verdict.step, cell=verdict.cell, are=are)


def names(agents: Sequence[int]) -> str:
    """``agent 2``, ``agents 0 and 1``"""
    if not agents:
        return "no agent"
    if len(agents) > MOST_NAMED:
        return f"{len(agents):,} agents"
    return f"agent{'s' if len(agents) > 1 else ''} {listed(map(str, agents))}"


def complete(board: Board, paths: Paths | None) -> Paths | None:
    """``paths`` with one path an agent (one without a path stands on its start), held near the board where they leave it."""
    if paths is None:
        return None
    filled = [*paths, *[()] * (board.num_agents - len(paths))][: board.num_agents]
    return tuple(
        tuple(path)
        if path and on_board(board, path)
        else tuple((max(-1, min(r, board.height)), max(-1, min(c, board.width))) for r, c in path or (agent.start,))
        for path, agent in zip(filled, board.agents, strict=True)
    )


def margin_of(board: Board, shown: Sequence[dict[str, Any]]) -> float:
    """Cells around the board: room for the agents that leave it in the tracks ``shown``, as :func:`plain_track` has them."""
    return BESIDE if any(leave(board, track["paths"]) for track in shown if track["outcome"] in ("fault", None)) else 0.08


def leave(board: Board, paths: Paths | None) -> bool:
    """Whether an agent leaves the board."""
    return not all(on_board(board, path) for path in paths or ())


def on_board(board: Board, path: Path) -> bool:
    """Whether no cell of a path lies off the board."""
    rows, cols = [r for r, _ in path], [c for _, c in path]
    return min(rows) >= 0 and max(rows) < board.height and min(cols) >= 0 and max(cols) < board.width


_LETTERS = {step: letter for letter, step in MOVES.items()}


@lru_cache(KEPT)
def packed(paths: Paths | None) -> list[Any] | None:
    """Paths as the player takes them, a tenth as long: the first cell and the letters of the moves, or all cells where there is a jump.
    All callers share the list and must not change it."""

    def pack(path: Path) -> Any:
        moves = [_LETTERS.get((there[0] - here[0], there[1] - here[1])) for here, there in pairwise(path)]
        return path if None in moves else (path[0], "".join(moves))  # type: ignore[arg-type]

    return None if paths is None else [pack(path) for path in paths]


def _mark(paths: Paths | None, verdict: Verdict | None) -> dict[str, Any] | None:
    """When and where the player shows the fault. A swap of cells is met halfway, in time and place."""
    if verdict is None or verdict.valid or paths is None:
        return None

    def at(agent: int, step: int) -> Cell:
        return paths[agent][min(step, len(paths[agent]) - 1)]

    step = verdict.step if verdict.step is not None else 0
    if verdict.fault == "edge_conflict":
        i, j = verdict.agents
        (r1, c1), (r2, c2) = at(i, step), at(j, step)
        return {"time": step - 0.5, "marks": [((r1 + r2) / 2, (c1 + c2) / 2)]}
    cells = [at(i, step) for i in verdict.agents if i < len(paths)]
    return {"time": step, "marks": list(dict.fromkeys(cells))}


def paths_from_json(text: str | None) -> Paths | None:
    """Reads the ``paths`` column of a session's tables: per agent a list of ``[row, col]``."""
    if not isinstance(text, str):
        return None
    data = json.loads(text)
    return None if data is None else tuple(tuple((r, c) for r, c in path) for path in data)


@dataclass(frozen=True, kw_only=True)
class Recorded(Track):
    """One answer that a session wrote down while it validated, with its verdict; or the plan of a file, which has none yet."""

    board_id: str
    board: Board

    @property
    def origin(self) -> str:
        """Where it is from, in a sentence."""
        if self.verdict is None:
            return f"The plan of {self.label}, judged here."
        return f"The answer of {self.label}, as it was recorded, to board {self.board_id}."


def recorded(row: pd.Series, label: str) -> Recorded:
    """The answer of one row of a validation or completions table. Its verdict is the one on record."""
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
    paths = paths_from_json(row["paths"])
    return Recorded(label, paths, verdict, board_id=row["board_id"], board=board, completion=row["completion"])


def begun(track: Recorded) -> Recorded:
    """An answer of the lab model that was cut off, with the steps that it holds, so that a room sees how far it came; as it is if one of
    them breaks a rule, which is not what the verdict says, and so are other answers."""
    if track.verdict is None or track.verdict.outcome != "truncated":
        return track
    words, team = (track.completion or "").split(), track.board.num_agents
    paths = parse_plan(track.board, " ".join(words[: len(words) // team * team]), finished=True).paths
    if paths is None or judge_paths(track.board, paths).fault not in (None, "goal_not_reached"):
        return track
    return replace(track, paths=paths, verdict=replace(track.verdict, step=len(paths[0]) - 1), completion=None)


def _whole(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]


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
