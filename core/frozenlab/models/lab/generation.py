"""Token generation for small models: batched sampling that wastes little on finished rows, and writing under a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from transformers import Qwen3ForCausalLM

from frozenlab.base import seeds
from frozenlab.models.lab.decoder import Decoder


class Grammar(Protocol):
    """What may be written next."""

    def allowed(self, words: Sequence[str]) -> Sequence[str]:
        """The words that may follow ``words``; an empty list ends the text."""
        ...


@torch.inference_mode()
def sample(
    model: Qwen3ForCausalLM,
    prompts: Sequence[Sequence[int]],
    limits: Sequence[int],
    noise: Sequence[np.random.Generator],
    *,
    temperature: float,
    completions: int,
    pad: int,
    end: int,
) -> list[list[int]]:
    """Completes each prompt ``completions`` times; returns len(prompts) x completions id lists, grouped by prompt.

    A list ends with the id ``end`` unless its prompt's limit (tokens, at least 1) came first. ``temperature`` 0 takes the likeliest token.
    Each completion draws from a generator of its own (``noise``, in the order of the result), so what it becomes does not depend on its
    batch. A group shares the pass over its prompt, and rows that have ended leave the batch.
    """
    width = max(len(prompt) for prompt in prompts)
    ids = torch.tensor([[pad] * (width - len(p)) + list(p) for p in prompts], device=model.device)
    mask = torch.tensor([[False] * (width - len(p)) + [True] * len(p) for p in prompts], device=model.device)
    decoder = Decoder(model, ids, mask, completions)
    limit = np.repeat(np.asarray(limits), completions)
    draws = np.stack([generator.random(limit.max()) for generator in noise]) if temperature > 0 else None
    written = np.full((len(limit), limit.max()), pad)
    lengths = np.zeros(len(limit), dtype=int)  # 0: still being written
    batch = np.arange(len(limit))  # which rows are still in the batch
    for step in range(limit.max()):
        chosen = _choose(decoder.logits, temperature, None if draws is None else draws[batch, step])
        tokens = chosen.cpu().numpy()
        written[batch, step] = tokens
        ended = batch[(lengths[batch] == 0) & ((tokens == end) | (step + 1 >= limit[batch]))]
        lengths[ended] = step + 1
        open_rows = lengths[batch] == 0
        if not open_rows.any():
            break
        if open_rows.mean() < 0.95:  # dropping rows costs about a token of theirs
            order = decoder.keep(torch.from_numpy(np.flatnonzero(open_rows)).to(model.device))
            chosen, batch = chosen[order], batch[order.cpu().numpy()]
        decoder.read(chosen)
    return [row[:length].tolist() for row, length in zip(written, lengths, strict=True)]


@torch.inference_mode()
def write_under_grammar(
    model: Qwen3ForCausalLM, prompt: Sequence[int], grammar: Grammar, words: Sequence[str], *, temperature: float, seed: int, room: int
) -> list[str]:
    """Writes words after ``prompt`` that ``grammar`` allows, until it allows none. ``words`` are the vocabulary by id; ``room`` is the most
    that prompt and text may hold together.

    Raises:
        ValueError: the text does not end within ``room``, or the grammar allows a word that the vocabulary lacks.
    """
    id_of = {word: i for i, word in enumerate(words)}
    noise = seeds.rng(seed, "policy/words")
    ids = torch.tensor([list(prompt)], device=model.device)
    decoder = Decoder(model, ids, torch.ones_like(ids), group=1)
    text: list[str] = []
    unread: list[int] = []  # ids the model has not seen yet: it reads only where there is a choice to make
    while allowed := grammar.allowed(text):
        if unknown := [word for word in allowed if word not in id_of]:
            raise ValueError(f"the grammar allows {unknown[0]!r}, which the vocabulary does not hold")
        if len(prompt) + len(text) >= room:
            raise ValueError(f"the text did not end within the {room} tokens the model can hold")
        word = allowed[0]
        if len(allowed) > 1:
            for i in unread:
                decoder.read(torch.tensor([i], device=model.device))
            among = decoder.logits[:, [id_of[word] for word in allowed]]
            word = allowed[int(_choose(among, temperature, noise.random(1) if temperature > 0 else None))]
            unread = []
        text.append(word)
        unread.append(id_of[word])
    return text


def _choose(logits: torch.Tensor, temperature: float, draws: np.ndarray | None) -> torch.Tensor:
    """One token a row: the likeliest, or with ``draws`` (uniform in 0..1) the one at which the cumulated probability passes it."""
    if draws is None:
        return logits.argmax(1)
    cumulated = (logits.double() / temperature).softmax(1).cumsum(1)
    threshold = torch.from_numpy(draws).to(logits.device)[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, threshold, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
