"""The optimizer that teaches the lab model from given plans, and float32 steps of weights that are held in bfloat16."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Muon(torch.optim.Muon):
    """Muon (Jordan et al. 2024) that orthogonalises in float32, on every processor alike.

    torch's own does it in bfloat16, which for matrices as small as the lab model's wins nothing where the processor has instructions for it
    and takes 16 times as long where it has none (``benchmarks/optimizer_dtype.py``).
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                average = self.state[weight].setdefault("momentum_buffer", torch.zeros_like(weight.grad))
                average.lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonal(weight.grad.lerp(average, group["momentum"]), group["ns_coefficients"], group["ns_steps"])
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"] * 0.2 * max(weight.shape) ** 0.5)  # as long as a step of AdamW


def orthogonal(matrix: torch.Tensor, coefficients: tuple[float, float, float], steps: int) -> torch.Tensor:
    """The matrix with singular values of about 1, by the Newton-Schulz iteration."""
    a, b, c = coefficients
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.T if matrix.shape[0] > matrix.shape[1] else wide


class MuonAndAdamW(torch.optim.Optimizer):
    """Muon for the matrices between the embeddings, AdamW for the rest, as one optimizer at one learning rate."""

    def __init__(self, model: nn.Module, rate: float, *, weight_decay: float = 0.0, others: Iterable[nn.Parameter] = ()) -> None:
        """``others`` are parameters outside the model, which AdamW takes too."""
        between = [weight for name, weight in model.named_parameters() if weight.ndim == 2 and "embed" not in name]
        rest = [weight for name, weight in model.named_parameters() if weight.ndim != 2 or "embed" in name]
        self.parts: tuple[torch.optim.Optimizer, ...] = (
            Muon(between, rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"),
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


def step_in_float32(optimizer: torch.optim.Optimizer) -> None:
    """Lets a new optimizer step float32 copies of the weights that are held in bfloat16; the weights become the copies, rounded.

    bfloat16 has 8 significant bits: most of a small step would be lost. The copies are part of the optimizer's checkpoint, so training that
    is resumed goes on to the same bits.
    """
    if parts := getattr(optimizer, "parts", ()):  # each has a checkpoint of its own
        for part in parts:
            step_in_float32(part)
        return
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    for group in optimizer.param_groups:
        for place, weight in enumerate(group["params"]):
            if weight.dtype == torch.bfloat16:
                group["params"][place] = weight.detach().float()
                pairs.append((weight, group["params"][place]))

    def give_gradients(*_: Any) -> None:
        for weight, copy in pairs:
            copy.grad = None if weight.grad is None else weight.grad.float()

    def take_weights(*_: Any) -> None:
        for weight, copy in pairs:
            weight.data.copy_(copy)
            copy.grad = None

    def save(_: Any, state: dict[str, Any]) -> None:
        state["float32"] = [copy for _, copy in pairs]

    def load(_: Any, state: dict[str, Any]) -> None:
        """An older checkpoint, whose weights were float32, goes on from those weights, rounded."""
        for (_, copy), kept in zip(pairs, state.pop("float32", [weight.detach() for weight, _ in pairs]), strict=True):
            copy.copy_(kept)

    if pairs:
        optimizer.register_step_pre_hook(give_gradients)
        optimizer.register_step_post_hook(take_weights)
        optimizer.register_state_dict_post_hook(save)
        optimizer.register_load_state_dict_pre_hook(load)
