"""The engineers in words."""

from __future__ import annotations

from frozenlab.engineer.schema import EngineerName

WHO: dict[EngineerName, str] = {
    "policy": "the model itself",
    "base": "the model before any training",
    "api": "a model behind an API",
    "rules": "the rules engineer",
    "bandit": "the bandit",
    "uniform": "the uniform baseline",
    "random": "the random baseline",
    "fixed": "the fixed baseline",
    "human": "a person",
}
"""Engineers in the middle of a sentence."""
