"""The schedules of the learning rate. Light: a help text lists them."""

from __future__ import annotations

from typing import Literal, get_args

Schedule = Literal["linear", "per-stage", "constant"]
"""How the learning rate goes: it falls to zero over the whole session, it rises and falls in every stage, or it stays constant."""
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
WARMUP_STEPS: dict[Schedule, int] = {"linear": 5, "per-stage": 2, "constant": 5}
"""What the learning rate rises over unless the settings say otherwise."""
