"""Configs on the line through two configs, for any task family."""

from __future__ import annotations

from frozenlab.base.cells import Config
from frozenlab.tasks.families import family_of


def between(kept: Config, best: Config, dose: float) -> Config:
    """The config ``dose`` times as far from ``kept`` as ``best`` is, in the same direction: 0 is ``kept``, 1 is ``best``, -1 is as far in
    the opposite direction.

    Ratios stay within their bounds, and shares are scaled to sum to 1. Parts that a cell is mixed of stay those of ``kept``, and so does a
    cell that ``best`` lacks.
    """
    family = family_of(kept.family)
    aims = {name: best.cells.get(name, own) for name, own in kept.cells.items()}
    shares = {name: max(0.0, own.share + dose * (aims[name].share - own.share)) for name, own in kept.cells.items()}
    cells = {}
    for name, own in kept.cells.items():
        changes = {"share": shares[name] / sum(shares.values())}
        for knob in (family.knobs[ratio] for ratio in family.ratios_of(own)):
            was, aim = own.settings()[knob.name], aims[name].settings()[knob.name]
            changes[knob.name] = min(max(was + dose * (aim - was), knob.low), knob.high)
        cells[name] = own.model_copy(update=changes)
    return kept.with_cells(cells)
