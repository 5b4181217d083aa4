"""The ``policy``: the checkpoint that is being trained proposes its own next environment (Chen et al. 2026)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal

from frozenlab.engineer.own_model import ModelEngineer
from frozenlab.engineer.protocol import Engineer, Models


class PolicyEngineer(ModelEngineer):
    kind: Literal["policy"] = "policy"
    label = "the model that is being trained"
    who = "the model itself"
    help = "The current checkpoint reads the evidence about itself and writes the next config: the paper's method."
    needs = frozenset({"model", "weights"})

    def build(self, models: Models) -> Engineer:
        model: Any = models.current
        if models.language is None:
            return self.in_lab_dialect(model, models.config)
        return self.in_plain_language(model, lambda: nullcontext(model))
