"""From what a stage measured to the context an engineer sees.

``gather`` words every section; ``describe`` keeps those that the spec switches on. The tables are the session folder's own: one row a
held-out board (validation), one row a sampled plan (completions), one row a training step (metrics).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import pandas as pd

from frozenlab.engineer import lines
from frozenlab.engineer.schema import SECTIONS, Context, Evidence, ProposalRecord, Section
from frozenlab.lake.config import EnvironmentConfig, Layout
from frozenlab.lake.draw.generator import Realised
from frozenlab.lake.rules import FAULTS

TEACHES = (0.2, 0.8)
"""Sampled valid rates between these leave most groups of plans mixed, so that there is something to learn from them (the 80/20 rule)."""
WORKS = 0.05
"""Held-out gain of a stage from which on a size's config is said to work,"""
LUCK = 0.05
"""unless chance alone would bring such a gain more often than this: of 20 sizes that nothing happened to, one at most is said to work. That
takes 5 boards won and none lost, or 12 won and 4 lost."""
CASES_PER_SIZE = 2


@dataclass(frozen=True)
class StageMeasurements:
    """Everything one stage left behind."""

    stage: int | None
    """0-based; None: the time before the first."""
    config: EnvironmentConfig
    realised: Mapping[int, Realised]
    """What was drawn from the config, by map size."""
    metrics: pd.DataFrame
    """One row a training step; per size the columns ``valid_<size>`` and ``optimal_<size>``, empty where a step had no such board."""
    validation: pd.DataFrame
    """Held-out boards after the stage, one row each."""
    validation_before: pd.DataFrame | None
    """The same boards before it; None before the first stage."""
    last_proposal: ProposalRecord | None
    """The proposal that led to this stage; None if no engineer was asked before it."""
    method: str = "grpo"
    """How the stage was trained."""


def gather(stage: StageMeasurements) -> dict[Section, tuple[Evidence, ...]]:
    """Every section, worded; a size of the config that the suite does not hold has no held-out evidence."""
    sources = {
        "behaviour": behaviour_lines,
        "failures": failure_lines,
        "statistics": statistics_lines,
        "preserved": preserved_lines,
        "history": history_lines,
    }
    return {section: tuple(sources[section](stage)) for section in SECTIONS}


def describe(stage: StageMeasurements, sections: Sequence[Section], layouts: tuple[Layout, ...] = ()) -> Context:
    """The context with only the sections that are switched on, and the layouts that a proposal may use."""
    evidence = gather(stage)
    return Context(
        stage=stage.stage,
        agents=stage.config.agents,
        sizes=tuple(stage.config.sizes),
        layouts=layouts,
        sections={section: evidence[section] for section in SECTIONS if section in sections},
    )


def behaviour_lines(stage: StageMeasurements) -> Iterator[Evidence]:
    first, last = thirds(stage.metrics)
    mean = last.mean(numeric_only=True)
    if {"reward", "entropy"} <= set(mean.dropna().index):  # else nothing was sampled, or no sampled plan was good enough to learn from
        yield lines.behaviour_whole(mean["reward"], mean["reward"] - first["reward"].mean(), mean["entropy"], mean["length"], stage.method)
    for size in stage.config.sizes:
        sampled = sampled_valid(stage.metrics, size)
        if sampled is not None:
            yield lines.behaviour(size, sampled[0], sampled[1], float(last[f"optimal_{size}"].mean()))


def thirds(metrics: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The first and the last third of a stage's steps (at least one step each)."""
    n = max(1, len(metrics) // 3)
    return metrics.head(n), metrics.tail(n)


def sampled_valid(metrics: pd.DataFrame, size: int) -> tuple[float, float] | None:
    """Valid rate of the size's samples in the last third of the stage and its change since the first; None if nothing was sampled."""
    if f"valid_{size}" not in metrics:
        return None
    first, last = (part[f"valid_{size}"].mean() for part in thirds(metrics))
    return None if pd.isna(last) else (float(last), 0.0 if pd.isna(first) else float(last - first))


def held_out(validation: pd.DataFrame, size: int) -> pd.DataFrame:
    return validation[validation["size"] == size]


def failure_lines(stage: StageMeasurements) -> Iterator[Evidence]:
    for size in stage.config.sizes:
        rows = held_out(stage.validation, size)
        if rows.empty:
            continue
        failed = rows[~rows["valid"]]
        faults: dict[str, float] = {fault: float((rows["fault"] == fault).mean()) for fault in FAULTS}
        yield lines.failures(size, len(rows), float(rows["valid"].mean()), float(rows["optimal"].mean()), faults, tuple(failed["board_id"]))
        yield from worked_cases(size, failed)


def worked_cases(size: int, failed: pd.DataFrame) -> Iterator[Evidence]:
    """The first failing board of each of the size's commonest faults."""
    commonest = failed["fault"].value_counts().index[:CASES_PER_SIZE]
    for letter, fault in zip("abcdefghi", commonest, strict=False):
        row = failed[failed["fault"] == fault].iloc[0]
        step = 0 if pd.isna(row["step"]) else int(row["step"])
        who = " and ".join(str(agent) for agent in json.loads(row["fault_agents"]))
        where = "" if pd.isna(row["cell"]) else f" at {tuple(json.loads(row['cell']))}"
        agents = f" of agent {who}" if who else ""
        sentence = (
            f"Size {size}, board {row['board_id']} ({row['agents']} agents, optimum {row['optimal_makespan']} steps): "
            f"{lines.FAULT_NAMES[fault]}{agents}{where} at step {step}."
        )
        yield lines.failure_case(size, letter, str(fault), step, sentence, str(row["board_id"]))


def statistics_lines(stage: StageMeasurements) -> Iterator[Evidence]:
    for size, cell in stage.config.sizes.items():
        drawn = stage.realised.get(size)
        if drawn is None:
            continue
        figures = {
            "boards": drawn.boards,
            "hole_ratio": drawn.hole_ratio,
            "wait_ratio": drawn.wait_ratio,
            "makespan": drawn.mean_makespan or 0.0,
        }
        yield lines.statistics(size, cell.share, cell.hole_ratio, cell.wait_ratio, figures, cell.layouts)


def preserved_lines(stage: StageMeasurements) -> Iterator[Evidence]:
    """Sizes whose held-out valid rate rose by WORKS, by more than chance, while their samples still mix success and failure."""
    if stage.validation_before is None:
        return
    for size in stage.config.sizes:
        after, before = held_out(stage.validation, size), held_out(stage.validation_before, size)
        sampled = sampled_valid(stage.metrics, size)
        if after.empty or before.empty or sampled is None:
            continue
        gain = float(after["valid"].mean() - before["valid"].mean())
        if gain >= WORKS and luck(before, after) <= LUCK and TEACHES[0] <= sampled[0] <= TEACHES[1]:
            yield lines.preserved(size, float(after["valid"].mean()), gain)


def luck(before: pd.DataFrame, after: pd.DataFrame) -> float:
    """The chance that at least as many of the boards that changed sides were won, if winning and losing were equally likely (one-sided
    exact sign test, as McNemar's, on the boards that both tables hold)."""
    both = before[["board_id", "valid"]].merge(after[["board_id", "valid"]], on="board_id", suffixes=("_before", "_after"))
    won = int((~both["valid_before"] & both["valid_after"]).sum())
    changed = int((both["valid_before"] != both["valid_after"]).sum())
    return sum(comb(changed, k) for k in range(won, changed + 1)) / 2**changed


def history_lines(stage: StageMeasurements) -> Iterator[Evidence]:
    last = stage.last_proposal
    if last is None or stage.validation_before is None:
        return
    for size in stage.config.sizes:
        after, before = held_out(stage.validation, size), held_out(stage.validation_before, size)
        if after.empty or before.empty:
            continue
        changes: dict[str, float] = {
            c.knob: c.after - c.before for c in last.changes if c.size == size and c.before is not None and c.after is not None
        }
        claims = last.proposal.claims if last.proposal else ()
        expected = next((claim.expected for claim in claims if claim.size == size), None)
        yield lines.history(size, last.stage, changes, float(before["valid"].mean()), float(after["valid"].mean()), expected)
