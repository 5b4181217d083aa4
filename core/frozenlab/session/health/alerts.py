"""Looks at a session by the rules of :mod:`frozenlab.session.health.rules`, and says what it finds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from frozenlab.base import numbers
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Z95, ComparisonError, decimals_of, number, paired_change
from frozenlab.jobs import machine
from frozenlab.session.health import rules
from frozenlab.tasks.families import cell_label

if TYPE_CHECKING:
    import pandas as pd

    from frozenlab.session.session import Session

LITTLE_DISK = 10**9
LITTLE_MEMORY = 0.04
"""Share of the machine's memory."""


@dataclass(frozen=True)
class Alert:
    """One thing that is wrong."""

    rule: str
    evidence: str
    """What is seen, with its figures."""
    helps: str
    """What to do."""

    def __str__(self) -> str:
        return f"{self.evidence} {self.helps}"


def alerts(session: Session) -> list[Alert]:
    """What is wrong with a session now: with its training, its worker and, while it runs here, its machine."""
    stage = session.state().stage
    training = [*of_steps(session.metrics(stage)), *of_results(session, stage), *of_suite(session, stage)]
    return [*training, *of_worker(session), *of_machine(session)]


def of_steps(metrics: pd.DataFrame) -> list[Alert]:
    """What is wrong in the steps of a stage; nothing before there are enough to tell."""
    return [*lost(metrics), *out_of_bounds(metrics), *changed(metrics)]


def lost(metrics: pd.DataFrame) -> Iterator[Alert]:
    """Whether the last step has figures that are no numbers."""
    names = [name for name in rules.ALWAYS_FINITE if name in metrics and metrics[name].isna().iloc[-1]]
    if names:
        evidence = (
            f"After step {metrics['step'].iloc[-1]} of the stage {' and '.join(names)} {'is' if len(names) == 1 else 'are'} not finite."
        )
        yield Alert(rules.NOT_FINITE, evidence, rules.HELPS_NOT_FINITE)


def out_of_bounds(metrics: pd.DataFrame) -> Iterator[Alert]:
    if len(metrics) < rules.STEPS:
        return
    last = metrics.tail(rules.STEPS)
    for rule in rules.BOUNDS:
        if rule.figure in last and last[rule.figure].notna().any():
            mean = float(last[rule.figure].mean())
            if not rule.least <= mean <= rule.most:
                yield Alert(rule.name, rule.evidence.format(mean, percent=numbers.share(mean)), rule.helps)


def changed(metrics: pd.DataFrame) -> Iterator[Alert]:
    if len(metrics) < rules.OLD + rules.NEW:
        return
    if {"seconds", "length"} <= {*metrics}:
        metrics = metrics.assign(seconds_a_token=metrics["seconds"] / metrics["length"].clip(lower=1))
    for rule in rules.CHANGES:
        if rule.figure in metrics and len(known := metrics[rule.figure].dropna()) >= rules.OLD + rules.NEW:
            before, now = before_and_now(known, rule)
            if before > rule.floor and (now < rule.factor * before if rule.kind == "fall" else now > rule.factor * before):
                yield Alert(rule.name, rule.evidence.format(before, now), rule.helps)


def before_and_now(figures: pd.Series[float], rule: rules.Change) -> tuple[float, float]:
    """The best that the figure was in a few steps of the stage, and what it is now; medians, which one odd step does not move."""
    runs = figures.iloc[: -rules.NEW].rolling(rules.OLD).median()
    before = runs.max() if rule.kind == "fall" else runs.min()
    return float(before), float(figures.tail(rules.NEW).median())


def of_results(session: Session, stage: int) -> Iterator[Alert]:
    """Whether the newest validation is clearly worse than that of the base or of the stage before, on all boards or on those of a cell."""
    newest = next((number for number in range(stage, -1, -1) if session.validation(number) is not None), None)
    if newest is None:
        return
    after = session.validation(newest)
    for earlier in dict.fromkeys([None, newest - 1 if newest else None]):
        before = session.validation(earlier)
        if before is None or after is None:
            continue
        since = "before training" if earlier is None else f"after stage {earlier + 1}"
        if fall := clear_fall(before, after):
            yield Alert(
                rules.WORSE, f"After stage {newest + 1} the valid rate on held-out boards is {fall} than {since}.", rules.HELPS_WORSE
            )
        cells = dict(list(after.groupby("config_cell")))
        for cell in in_order(cells):
            if len(cells[cell]) >= rules.FEWEST and (fall := clear_fall(before, cells[cell])):
                evidence = f"After stage {newest + 1} the valid rate on held-out boards of {cell_label(cell)} is {fall} than {since}."
                yield Alert(rules.FORGOTTEN, evidence, rules.HELPS_FORGOTTEN)


def clear_fall(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    """``12 points lower (95 % 8 to 16, n = 200)`` if clearly fewer of the same boards are solved than before; otherwise None."""
    try:
        change = paired_change(before, after)
    except ComparisonError:
        return None
    if change.value + rules.STRICT / Z95 * (change.high - change.value) >= 0:
        return None
    fall, least, most = (number(100 * part, decimals_of(change.n)) for part in (-change.value, -change.high, min(1, -change.low)))
    return f"{fall} points lower (95 % {least} to {most}, n = {change.n})"


def of_suite(session: Session, stage: int) -> Iterator[Alert]:
    """Cells that are trained and that no held-out board measures."""
    drawn, base = session.environment(stage), session.validation(None)
    if drawn is None or base is None:
        return
    measured = {*base["config_cell"].astype(str)}
    if unseen := [cell for cell, own in drawn.config.cells.items() if own.share > 0 and cell not in measured]:
        yield Alert(
            "not-measured",
            f"It trains on {', '.join(map(cell_label, unseen))}, of which the validation has no board: what is learnt there is not seen.",
            "Add them to the suite of a new session.",
        )


def of_worker(session: Session) -> Iterator[Alert]:
    """A worker that is silent, gone, or ended by an error."""
    state = session.state()
    match state.status:
        case "stalled":
            yield Alert("stalled", "The worker lives but is silent.", "It may be swapping; stop it if it does not come back.")
        case "crashed":
            evidence = "The worker died (killed, or the machine restarted)."
            yield Alert("crashed", evidence, "Resume continues from the last finished step.")
        case "failed":
            yield Alert("failed", state.error or "It failed and gave no reason.", "What the session said last is in its worker.log.")


def of_machine(session: Session) -> Iterator[Alert]:
    """A disk or a memory that is almost full, while the session runs here."""
    state = session.state()
    if not state.live or state.elsewhere:
        return
    free = shutil.disk_usage(session.dir).free
    if free < LITTLE_DISK:
        helps = "Make room: a session whose disk is full fails, and can be resumed from its last step when there is room."
        yield Alert("little-disk", f"Only {free / 1e6:.0f} MB are free on its disk.", helps)
    memory = machine.memory()
    if memory.available < LITTLE_MEMORY * memory.total:
        helps = "Stop something: the system ends a process when no memory is left."
        yield Alert("little-memory", f"Only {memory.available / 1e6:.0f} MB of memory are free.", helps)
