"""How far a proposal may change the mix of layouts of a cell."""

from __future__ import annotations

from collections.abc import Collection

from frozenlab.lake.config_cell import LAYOUTS, CellConfig


def mixed(new: CellConfig, old: CellConfig, allowed: Collection[str], max_step: float) -> tuple[CellConfig, str]:
    """The cell ``new`` with layouts of those allowed and those that the cell has, moved at most ``max_step`` away from the old ones, and
    the reason why they may be others than it asks for.

    The part of a layout that may not be used falls to the others in proportion; where nothing is left, the old layouts stay.
    """
    new = new.model_copy(update=old.kind._asdict())
    if new.layouts == old.layouts or old.layout is not None:
        return new.model_copy(update={"layouts": old.layouts}), ""
    kept = {layout: part for layout, part in new.layouts.items() if allowed and layout in {*allowed, *old.layouts}}
    total = sum(kept.values())
    wanted = {layout: part / total for layout, part in kept.items()} if total else old.layouts
    moves = {layout: wanted.get(layout, 0.0) - old.layouts.get(layout, 0.0) for layout in LAYOUTS}
    way = max_step / max(max_step, *map(abs, moves.values()))
    used = {layout: old.layouts.get(layout, 0.0) + way * move for layout, move in moves.items()}
    reason = f"an engineer may use {', '.join(allowed)}, and their parts move at most {max_step:g} a stage and sum to 1"
    if not allowed:
        reason = "in this session layouts are not the engineer's to change"
    return new.model_copy(update={"layouts": {layout: part for layout, part in used.items() if part > 1e-9}}), reason
