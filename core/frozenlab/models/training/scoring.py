"""The probabilities of texts, at less cost on processors: logits of the tokens that are asked about, and prompts that are read once.

TRL's trainers take logits of every token where there is no GPU, and compute them once more for the gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from frozenlab.models.language.writers import positions, read_once

PIECE = 256
"""Tokens whose entropies are computed together: their probabilities stay in the processor's cache."""


def logits_of(model: Any, scored: Tensor, **inputs: Any) -> Any:
    """The output of a causal language model with ``logits`` only of tokens where ``scored``, (rows, tokens), is true: (tokens, vocabulary).

    In a small model with many words the head is much of the work: a fifth in SmolLM2-135M.
    """
    head = getattr(model, "module", model).get_output_embeddings()
    with head.register_forward_pre_hook(lambda _, given: (given[0][scored],)):
        return model(**inputs)


def score(temperature: float, model: Any, ids: Tensor, mask: Tensor, completion: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities and entropies of completions, (rows, ``completion``) each; 0 where there is no token, and no gradient of entropies.

    Each prompt is read once: its keys and values, which carry the gradient, stand before all of its completions.

    Args:
        ids: (rows, tokens); prompts are padded on the left, and the last ``completion`` columns hold completions padded on the right.
        mask: of the same shape, 1 where there is a token.
    """
    before = ids.shape[1] - completion - 1  # the last token of a prompt predicts the first of each completion, so it is read with them
    inputs = {"input_ids": ids[:, before:-1], "attention_mask": mask[:, :-1], "position_ids": positions(mask)[:, before:-1]}
    if before:
        inputs["past_key_values"] = read_once(model, ids[:, :before], mask[:, :before])
    scored = mask[:, -completion:] == 1
    logps = (logits_of(model, scored, **inputs).logits.float() / temperature).log_softmax(-1)
    entropies = torch.cat([-(some.exp() * some).sum(-1) for some in logps.detach().split(PIECE)])
    of_ids = logps.gather(1, ids[:, -completion:][scored][:, None])[:, 0]
    none = logps.new_zeros(scored.shape)
    return none.masked_scatter(scored, of_ids), none.masked_scatter(scored, entropies)
