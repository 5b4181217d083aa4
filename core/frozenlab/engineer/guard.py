"""The guard: every proposed config passes through it, and it reports what it repaired."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import Field

from frozenlab.base.cells import Config, Settings
from frozenlab.base.schemas import Strict
from frozenlab.engineer.schema import GuardReport, Repair
from frozenlab.tasks.families import family_of


class GuardSettings(Strict):
    """How far a proposal may move the config in one stage."""

    max_step: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Largest change of a hole or wait ratio a stage."""
    min_share: Annotated[float, Field(ge=0, le=0.1)] = 0.02
    """No cell falls below this share, so that none is forgotten unseen."""


USUAL = GuardSettings()


def guard(proposed: Config, previous: Config, settings: GuardSettings = USUAL, layouts: Collection[str] = ()) -> tuple[Config, GuardReport]:
    """A config that can be drawn, close enough to ``previous``, with the report of every repair.

    The cells are the session's, and so is all else that is not theirs: a cell that the proposal leaves out keeps its values, a new one is
    dropped. Layouts change only to those that ``layouts`` allows. Ratios and parts of layouts move at most ``max_step`` a stage; a cell
    that the generator cannot draw keeps its previous ratios and layouts; shares stay above ``min_share`` and sum to 1.
    """
    family, repairs, cells = family_of(previous.family), list[Repair](), {}
    for cell in previous.described():
        name, old = cell.name, previous.cells[cell.name]
        new, ratios = proposed.cells.get(name), family.ratios_of(old)
        if new is None:
            left_out = f"the proposal leaves {cell.words} out; it is kept"
            repairs.append(Repair(cell=name, knob="share", proposed=0.0, used=old.share, reason=left_out))
            new = old
        allowed, why = family.mixed(new, old, layouts, settings.max_step)
        repairs += differences(name, new, allowed, family.parts, why)
        used = within_step(allowed, old, ratios, settings.max_step)
        repairs += differences(name, allowed, used, ratios, f"a ratio moves at most {settings.max_step:g} a stage")
        if undrawable := family.undrawable(previous.with_cells({**previous.cells, name: used}), name):
            wanted, used = used, old.model_copy(update={"share": used.share})
            repairs += differences(name, wanted, used, (*ratios, *family.parts), undrawable)
        cells[name] = used
    shares = floored({name: cell.share for name, cell in cells.items()}, settings.min_share, repairs)
    used_cells = {name: cell.model_copy(update={"share": shares[name]}) for name, cell in cells.items()}
    return previous.with_cells(used_cells), GuardReport(repairs=tuple(repairs))


def differences(name: str, proposed: Settings, used: Settings, knobs: Sequence[str], reason: str) -> list[Repair]:
    """The repairs that lead from one form of a cell to another. A part that a cell lacks is 0."""
    before, after = proposed.settings(), used.settings()
    return [
        Repair(cell=name, knob=knob, proposed=before.get(knob, 0.0), used=after.get(knob, 0.0), reason=reason)
        for knob in knobs
        if abs(after.get(knob, 0.0) - before.get(knob, 0.0)) > 1e-9
    ]


def within_step(new: Settings, old: Settings, ratios: Sequence[str], max_step: float) -> Settings:
    """The cell with its ratios moved at most ``max_step`` away from the old ones."""
    moved = {}
    for ratio in ratios:
        before, wanted = old.settings()[ratio], new.settings()[ratio]
        nearest = min(max(wanted, before - max_step), before + max_step)
        if abs(nearest - wanted) > 1e-9:
            moved[ratio] = round(nearest, 6)
    return new.model_copy(update=moved)


def floored(shares: dict[str, float], min_share: float, repairs: list[Repair]) -> dict[str, float]:
    """The shares scaled to sum to 1; one that would be below ``min_share`` gets it, from what the others have above it."""
    lowest = min(min_share, 1 / len(shares))
    total = sum(shares.values())
    if abs(total - 1) < 1e-9 and min(shares.values()) >= lowest - 1e-9:
        return shares
    above = {name: max(share / total - lowest, 0.0) if total else 1.0 for name, share in shares.items()}
    rest = (1 - lowest * len(shares)) / (sum(above.values()) or 1.0)
    used = {name: lowest + rest * part for name, part in above.items()}
    for name, share in shares.items():
        if share < lowest - 1e-9:
            repairs.append(Repair(cell=name, knob="share", proposed=share, used=used[name], reason=f"no share falls below {lowest:g}"))
    return used
