"""What stands in the way of a session, before it starts."""

from __future__ import annotations

from frozenlab.engineer.dialects.lab import MAX_CELLS
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.loop.footprint import shortfalls
from frozenlab.loop.spec import SessionSpec
from frozenlab.tasks.lake.dialects.vocabulary import MAX_SIDE


def obstacles(spec: SessionSpec) -> list[str]:
    """Why the session would fail: cells that cannot be drawn, boards that the model has no words for, a machine that lacks something."""
    found = [f"{reason[0].upper()}{reason[1:]}." for reason in shortfalls(spec)] if spec.language else []
    config = spec.initial_config
    if spec.policy == "lab-model":
        found += [
            f"The lab model reads boards up to {MAX_SIDE}×{MAX_SIDE}; the config asks for {size}×{size}."
            for size in config.sizes
            if size > MAX_SIDE
        ]
        if "model" in spec.engineer.needs and len(config.cells) > MAX_CELLS:
            found.append(
                f"The lab model as engineer reads up to {MAX_CELLS} cells; the config has {len(config.cells)}. Take fewer sizes or "
                "teams, or another engineer."
            )
        if "model" in spec.engineer.needs and any(cell.layout for cell in config.cells.values()):
            found.append("The lab model as engineer has no words for layouts: leave cells of one layout out, or take another engineer.")
    return found + [reason for name in config.cells if (reason := undrawable(config, name))]
