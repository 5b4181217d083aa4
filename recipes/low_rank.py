"""LoRA adapters from what training all weights has changed, so that a checkpoint ships in few megabytes.

The adapters of a layer change its outputs on given texts as nearly as adapters of that rank can: with C the second moments of its inputs,
B A is the best approximation of (W' - W) C^(1/2) by its singular values, times C^(-1/2) (Wang et al. 2024, SVD-LLM, arXiv 2403.07378). What
training changed outside of the linear layers is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from transformers import PreTrainedModel

DAMPING = 1e-3
"""Part of the mean second moment that is added to all, as some directions hardly occur."""


def low_rank(base: PreTrainedModel, tuned: PreTrainedModel, texts: Sequence[Sequence[int]], config: LoraConfig) -> PeftModel:
    """``base`` with adapters that bring it as near to ``tuned`` as they can on ``texts``, of token ids."""
    with second_moments(tuned) as moments, torch.no_grad():
        for ids in texts:
            tuned(input_ids=torch.tensor([ids], device=tuned.device), use_cache=False)
    model = get_peft_model(base, config)
    for name, layer in model.get_base_model().named_modules():
        if hasattr(layer, "lora_A"):
            changed = tuned.get_submodule(name).weight.data.float() - layer.base_layer.weight.data.float()
            into, out = factors(changed / layer.scaling["default"], moments[name], config.r)
            layer.lora_A["default"].weight.data.copy_(into)
            layer.lora_B["default"].weight.data.copy_(out)
    assert isinstance(model, PeftModel)
    return model


@contextmanager
def second_moments(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Name of a linear layer -> sums of the products of its inputs, (inputs, inputs), over all tokens that it reads meanwhile."""
    moments: dict[str, Tensor] = {}
    hooks = []
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear):
            moments[name] = torch.zeros(layer.in_features, layer.in_features)

            def add(_: nn.Module, given: tuple[Tensor, ...], name: str = name) -> None:
                read = given[0].detach().flatten(0, -2).float()
                moments[name] += read.T @ read

            hooks.append(layer.register_forward_pre_hook(add))
    try:
        yield moments
    finally:
        for hook in hooks:
            hook.remove()


def factors(changed: Tensor, moments: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """A, (rank, inputs), and B, (outputs, rank), whose product is nearest to ``changed``, (outputs, inputs), on inputs of these moments."""
    values, vectors = torch.linalg.eigh(moments + DAMPING * moments.diagonal().mean() * torch.eye(len(moments)))
    root = values.clamp(min=1e-12).sqrt()
    left, strengths, right = torch.linalg.svd((changed @ vectors) * root, full_matrices=False)
    scale = strengths[:rank].sqrt()
    return scale[:, None] * ((right[:rank] / root) @ vectors.T), left[:, :rank] * scale
