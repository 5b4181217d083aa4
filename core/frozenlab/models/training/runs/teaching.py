"""Which completions of a GRPO step teach, and the loss of a part of them."""

from __future__ import annotations

from typing import Any

import torch

Batch = dict[str, Any]
"""What the trainer knows about some completions: tensors with a row each, and numbers that hold for all of them."""


def teaches(advantages: torch.Tensor) -> torch.Tensor:
    """Whether each completion has an advantage, and so a gradient."""
    sizes = advantages.abs()
    return sizes > 1e-3 * sizes.max()  # rewards that are equal do not always equal their mean to the last bit


def chosen_rows(step: Batch, chosen: torch.Tensor) -> Batch:
    """The batch with some of its completions."""
    n = len(step["advantages"])
    return {name: value[chosen] if torch.is_tensor(value) and value.shape[:1] == (n,) else value for name, value in step.items()}


def loss_of_part(loss: torch.Tensor, loss_type: str, share: float) -> torch.Tensor:
    """The part that ``share`` of the completions has in the loss of all: DAPO divides by the tokens of the whole step anyway, the others by
    the completions that they are given."""
    return loss if loss_type == "dapo" else loss * share
