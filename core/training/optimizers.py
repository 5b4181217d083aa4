"""The optimizer that teaches the lab model from given plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class MuonAndAdamW(torch.optim.Optimizer):
    """Muon (Jordan et al. 2024) for the matrices between the embeddings, AdamW for the rest, as one optimizer at one learning rate."""

    def __init__(self, model: nn.Module, rate: float, *, weight_decay: float = 0.0, others: Iterable[nn.Parameter] = ()) -> None:
        """``others`` are parameters outside the model, which AdamW takes too."""
        between = [weight for name, weight in model.named_parameters() if weight.ndim == 2 and "embed" not in name]
        rest = [weight for name, weight in model.named_parameters() if weight.ndim != 2 or "embed" in name]
        self.parts: tuple[torch.optim.Optimizer, ...] = (
            torch.optim.Muon(between, rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW([*rest, *others], rate, betas=(0.9, 0.95), weight_decay=0.0),
        )
        super().__init__([{"params": group["params"], "lr": rate} for part in self.parts for group in part.param_groups], {})
        self.share_groups()

    def share_groups(self) -> None:
        """One list of groups for this optimizer and its parts, so that a schedule reaches them."""
        self.param_groups = [group for part in self.parts for group in part.param_groups]

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.share_groups()
