"""The section `failures`: what goes wrong first on the held-out boards, with worked cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, held_out
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.lake.rules import FAULTS
from frozenlab.tasks.lake.dialects import vocabulary as v

if TYPE_CHECKING:
    import pandas as pd

CASES_PER_SIZE = 2
FAULT_NAMES: dict[str, str] = {fault: fault.replace("_", " ") for fault in FAULTS}


class Failures(Section):
    name: ClassVar[str] = "failures"
    letter: ClassVar[str] = "F"
    heading: ClassVar[str] = "Failures: first faults on held-out boards"
    help: ClassVar[str] = "first faults on the held-out boards of each map size, with worked cases"

    def lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        for size in stage.config.sizes:
            rows = held_out(stage.validation, size)
            if rows.empty:
                continue
            failed = rows[~rows["valid"]]
            faults: dict[str, float] = {fault: float((rows["fault"] == fault).mean()) for fault in FAULTS}
            yield size_line(size, len(rows), float(rows["valid"].mean()), float(rows["optimal"].mean()), faults, tuple(failed["board_id"]))
            yield from worked_cases(size, failed)

    def words(self, line: Evidence) -> list[str]:
        n = line.numbers
        if "step" in n:  # a worked case
            fault = next(name for name in FAULTS if name in n)
            return ["case", f"size{line.size}", fault, v.time_word(n["step"])]
        seen = [word for fault in FAULTS if n.get(fault, 0) >= v.PERCENT_STEP / 200 for word in (fault, v.percent_word(n[fault]))]
        return [f"valid{line.size}", v.percent_word(n["valid"]), "optimal", v.percent_word(n["optimal"]), *seen]

    def boards(self, line: Evidence, tables: StageTables) -> Behind:
        rows = tables.held_out(line.size)
        return Behind("Held-out boards on which it failed", rows[rows["board_id"].isin(line.boards)], "after the stage", tables.before)


def worked_cases(size: int, failed: pd.DataFrame) -> Iterator[Evidence]:
    """The first failing board of each of the size's commonest faults."""

    import pandas as pd

    commonest = failed["fault"].value_counts().index[:CASES_PER_SIZE]
    for letter, fault in zip("abcdefghi", commonest, strict=False):
        row = failed[failed["fault"] == fault].iloc[0]
        step = 0 if pd.isna(row["step"]) else int(row["step"])
        who = " and ".join(str(agent) for agent in json.loads(row["fault_agents"]))
        where = "" if pd.isna(row["cell"]) else f" at {tuple(json.loads(row['cell']))}"
        agents = f" of agent {who}" if who else ""
        sentence = (
            f"Size {size}, board {row['board_id']} ({row['agents']} agents, optimum {row['optimal_makespan']} steps): "
            f"{FAULT_NAMES[fault]}{agents}{where} at step {step}."
        )
        yield case_line(size, letter, str(fault), step, sentence, str(row["board_id"]))


def size_line(size: int, n: int, valid: float, optimal: float, faults: Mapping[str, float], boards: tuple[str, ...] = ()) -> Evidence:
    """Held-out results of one size; ``faults`` are shares of all ``n`` boards."""
    seen = sorted((fault for fault in faults if faults[fault] > 0), key=lambda fault: -faults[fault])
    told = ", ".join(f"{FAULT_NAMES[fault]} {faults[fault]:.0%}" for fault in seen) or "none"
    text = f"Size {size}: {valid:.0%} of {n} held-out boards valid, {optimal:.0%} optimal; first faults: {told}."
    numbers = {"valid": valid, "optimal": optimal, "n": float(n)} | {fault: faults[fault] for fault in seen}
    return Evidence(id=f"F{size}", section="failures", size=size, text=text, numbers=numbers, boards=boards)


def case_line(size: int, letter: str, fault: str, step: int, sentence: str, board_id: str) -> Evidence:
    """One worked failure: what went wrong at which step on one board."""
    return Evidence(
        id=f"F{size}{letter}", section="failures", size=size, text=sentence, numbers={fault: 1.0, "step": float(step)}, boards=(board_id,)
    )
