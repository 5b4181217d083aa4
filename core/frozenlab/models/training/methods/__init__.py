"""The training methods, one file each. To add one, write its file, import its class here and give it a place in METHODS."""

from __future__ import annotations

from frozenlab.models.training.methods.dr_grpo import DrGRPO
from frozenlab.models.training.methods.expert_iteration import ExpertIteration
from frozenlab.models.training.methods.grpo import GRPO
from frozenlab.models.training.methods.imitation import Imitation
from frozenlab.models.training.methods.method import Method

METHODS: tuple[Method, ...] = (
    GRPO(),
    DrGRPO(),
    Imitation(),
    ExpertIteration(),
)
"""Every method, in the order in which people are shown them."""
BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}
NAMES: tuple[str, ...] = tuple(BY_NAME)


def title_of(name: str) -> str:
    """What people call a method; one from a newer version of the lab by its name."""
    return BY_NAME[name].title if name in BY_NAME else name


def titled(name: str) -> str:
    """The method's line in a list: ``GRPO · reinforcement learning, the paper's method``."""
    return f"{BY_NAME[name].title} · {BY_NAME[name].label}"
