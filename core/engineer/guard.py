"""The guard: every proposed config passes through it, and it tells what it repaired."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from frozenlab.engineer.schema import RATIO_KNOBS, GuardReport, Repair
from frozenlab.lake.config import LAYOUTS, CellConfig, EnvironmentConfig, Layout
from frozenlab.lake.draw.feasible import undrawable


class GuardSettings(BaseModel):
    """How far a proposal may move the config in one stage."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_step: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Largest change of a hole or wait ratio a stage."""
    min_share: Annotated[float, Field(ge=0, le=0.1)] = 0.02
    """No cell falls below this share, so that none is forgotten unseen."""


USUAL = GuardSettings()


def guard(
    proposed: EnvironmentConfig, previous: EnvironmentConfig, settings: GuardSettings = USUAL, layouts: Collection[Layout] = ()
) -> tuple[EnvironmentConfig, GuardReport]:
    """A config that can be drawn, close enough to ``previous``, with the report of every repair.

    The cells and the wait definition are the session's: a cell that the proposal leaves out keeps its values, a new one is dropped. Layouts
    change only to those that ``layouts`` allows. Ratios and parts of layouts move at most ``max_step`` a stage; a cell that the generator
    cannot draw keeps its previous ratios and layouts; shares stay above ``min_share`` and sum to 1.
    """
    repairs: list[Repair] = []
    cells = {}
    for name, old in previous.cells.items():
        new = proposed.cells.get(name)
        if new is None:
            left_out = f"the proposal leaves {previous.describe(old.kind).words} out; it is kept"
            repairs.append(Repair(cell=name, knob="share", proposed=0.0, used=old.share, reason=left_out))
            new = old
        new = new.model_copy(update=old.kind._asdict() | ({"layouts": old.layouts} if old.layout else {}))
        new = with_allowed_layouts(name, new, old, layouts, settings.max_step, repairs)
        new = within_step(name, new, old, settings.max_step, repairs)
        cells[name] = drawable(name, new, old, previous, repairs)
    shares = floored({name: cell.share for name, cell in cells.items()}, settings.min_share, repairs)
    used = {name: cell.model_copy(update={"share": shares[name]}) for name, cell in cells.items()}
    return previous.with_cells(used), GuardReport(repairs=tuple(repairs))


def with_allowed_layouts(
    name: str, new: CellConfig, old: CellConfig, layouts: Collection[Layout], max_step: float, repairs: list[Repair]
) -> CellConfig:
    """The layouts, of those allowed and those that the cell has, moved at most ``max_step`` away from the old ones.

    The part of a layout that may not be used falls to the others in proportion; where nothing is left, the old layouts stay.
    """
    if new.layouts == old.layouts:
        return new
    kept = {layout: part for layout, part in new.layouts.items() if layouts and layout in {*layouts, *old.layouts}}
    total = sum(kept.values())
    wanted = {layout: part / total for layout, part in kept.items()} if total else old.layouts
    moves = {layout: wanted.get(layout, 0.0) - old.layouts.get(layout, 0.0) for layout in LAYOUTS}
    way = max_step / max(max_step, *map(abs, moves.values()))
    used = {layout: old.layouts.get(layout, 0.0) + way * move for layout, move in moves.items()}
    reason = f"an engineer may use {', '.join(layouts)}, and their parts move at most {max_step:g} a stage and sum to 1"
    if not layouts:
        reason = "in this session layouts are not the engineer's to change"
    repairs += [
        Repair(cell=name, knob=layout, proposed=new.layouts.get(layout, 0.0), used=part, reason=reason)
        for layout, part in used.items()
        if abs(part - new.layouts.get(layout, 0.0)) > 1e-9
    ]
    return new.model_copy(update={"layouts": {layout: part for layout, part in used.items() if part > 1e-9}})


def within_step(name: str, new: CellConfig, old: CellConfig, max_step: float, repairs: list[Repair]) -> CellConfig:
    """The ratios, moved at most ``max_step`` away from the old ones."""
    for knob in RATIO_KNOBS:
        before, wanted = getattr(old, knob), getattr(new, knob)
        used = min(max(wanted, before - max_step), before + max_step)
        if abs(used - wanted) > 1e-9:
            used = round(used, 6)
            repairs.append(Repair(cell=name, knob=knob, proposed=wanted, used=used, reason=f"a ratio moves at most {max_step:g} a stage"))
            new = new.model_copy(update={knob: used})
    return new


def drawable(name: str, new: CellConfig, old: CellConfig, previous: EnvironmentConfig, repairs: list[Repair]) -> CellConfig:
    """The cell with its old ratios and layouts where boards of the new ones cannot be drawn."""
    reason = undrawable(previous.with_cells({**previous.cells, name: new}), name)
    if reason is None:
        return new
    kept = old.model_copy(update={"share": new.share})
    proposed, used = new.settings(), kept.settings()
    repairs += [
        Repair(cell=name, knob=setting, proposed=proposed.get(setting, 0.0), used=used.get(setting, 0.0), reason=reason)
        for setting in (*RATIO_KNOBS, *LAYOUTS)
        if proposed.get(setting) != used.get(setting)
    ]
    return kept


def floored(shares: dict[str, float], min_share: float, repairs: list[Repair]) -> dict[str, float]:
    """The shares scaled to sum to 1; one that would be below ``min_share`` gets it, from what the others have above it."""
    lowest = min(min_share, 1 / len(shares))
    total = sum(shares.values())
    if abs(total - 1) < 1e-9 and min(shares.values()) >= lowest:
        return shares
    above = {name: max(share / total - lowest, 0.0) if total else 1.0 for name, share in shares.items()}
    rest = (1 - lowest * len(shares)) / (sum(above.values()) or 1.0)
    used = {name: lowest + rest * part for name, part in above.items()}
    for name, share in shares.items():
        if share < lowest:
            repairs.append(Repair(cell=name, knob="share", proposed=share, used=used[name], reason=f"no share falls below {lowest:g}"))
    return used
