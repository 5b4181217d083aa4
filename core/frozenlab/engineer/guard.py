"""The guard: every proposed config passes through it, and it tells what it repaired."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from frozenlab.base.cells import Config, Settings
from frozenlab.engineer.schema import GuardReport, Repair
from frozenlab.tasks.families import family_of
from frozenlab.tasks.family import Family


class GuardSettings(BaseModel):
    """How far a proposal may move the config in one stage."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    family, repairs = family_of(previous.family), list[Repair]()
    cells = {}
    for cell in previous.described():
        name, old = cell.name, previous.cells[cell.name]
        new = proposed.cells.get(name)
        if new is None:
            left_out = f"the proposal leaves {cell.words} out; it is kept"
            repairs.append(Repair(cell=name, knob="share", proposed=0.0, used=old.share, reason=left_out))
            new = old
        new = with_allowed_parts(name, new, old, layouts, settings.max_step, family, repairs)
        new = within_step(name, new, old, settings.max_step, family, repairs)
        cells[name] = drawable(name, new, old, previous, family, repairs)
    shares = floored({name: cell.share for name, cell in cells.items()}, settings.min_share, repairs)
    used = {name: cell.model_copy(update={"share": shares[name]}) for name, cell in cells.items()}
    return previous.with_cells(used), GuardReport(repairs=tuple(repairs))


def with_allowed_parts(
    name: str, new: Settings, old: Settings, allowed: Collection[str], max_step: float, family: Family, repairs: list[Repair]
) -> Settings:
    """The cell with the parts that the session allows it to be mixed of, such as layouts."""
    used, reason = family.mixed(new, old, allowed, max_step)
    proposed, kept = new.settings(), used.settings()
    repairs += [
        Repair(cell=name, knob=part, proposed=proposed.get(part, 0.0), used=kept.get(part, 0.0), reason=reason)
        for part in family.parts
        if abs(kept.get(part, 0.0) - proposed.get(part, 0.0)) > 1e-9
    ]
    return used


def within_step(name: str, new: Settings, old: Settings, max_step: float, family: Family, repairs: list[Repair]) -> Settings:
    """The ratios, moved at most ``max_step`` away from the old ones."""
    for knob in family.ratios_of(old):
        before, wanted = old.settings()[knob], new.settings()[knob]
        used = min(max(wanted, before - max_step), before + max_step)
        if abs(used - wanted) > 1e-9:
            used = round(used, 6)
            repairs.append(Repair(cell=name, knob=knob, proposed=wanted, used=used, reason=f"a ratio moves at most {max_step:g} a stage"))
            new = new.model_copy(update={knob: used})
    return new


def drawable(name: str, new: Settings, old: Settings, previous: Config, family: Family, repairs: list[Repair]) -> Settings:
    """The cell with its old ratios and layouts where tasks of the new ones cannot be drawn."""
    reason = family.undrawable(previous.with_cells({**previous.cells, name: new}), name)
    if reason is None:
        return new
    kept = old.model_copy(update={"share": new.share})
    proposed, used = new.settings(), kept.settings()
    repairs += [
        Repair(cell=name, knob=setting, proposed=proposed.get(setting, 0.0), used=used.get(setting, 0.0), reason=reason)
        for setting in (*family.ratios_of(old), *family.parts)
        if proposed.get(setting) != used.get(setting)
    ]
    return kept


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
