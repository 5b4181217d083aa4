"""What stands in the way of a session, before it starts."""

from __future__ import annotations

from frozenlab.models.folders import STUDENT
from frozenlab.session.footprint import shortfalls
from frozenlab.session.spec import SessionSpec


def obstacles(spec: SessionSpec) -> list[str]:
    """Why the session would fail: cells that cannot be drawn, tasks that the model has no words for, a machine that lacks something."""
    found = [f"{reason[0].upper()}{reason[1:]}." for reason in shortfalls(spec)] if spec.language else []
    config, family = spec.initial_config, spec.tasks
    if spec.policy == "lab-model" or spec.policy.startswith(STUDENT):
        engineer = "model" in spec.engineer.author.needs
        found += family.lab.obstacles(config, engineer) if family.lab else [f"The lab model has no words for the tasks of {family.name}."]
    return found + [reason for name in config.cells if (reason := family.undrawable(config, name))]
