"""Token generation for small models: batched sampling that wastes little on finished rows, and writing under a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from transformers import Cache, PreTrainedModel
from transformers.cache_utils import DynamicLayer


class Grammar(Protocol):
    """What may be written next."""

    def allowed(self, words: Sequence[str]) -> Sequence[str]:
        """The words that may follow ``words``; an empty list ends the text."""
        ...


class RoomyLayer(DynamicLayer):
    """A cache layer with room to grow in place. The stock layer copies all it holds for every token, most of the time of a small model."""

    ROOM = 64
    keys: torch.Tensor
    values: torch.Tensor

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self._store = (self.keys, self.values)
        held = self.get_seq_length()
        total = held + key_states.shape[-2]
        if self._store[0].shape[0] != key_states.shape[0] or self._store[0].shape[-2] < total:
            shape = (*key_states.shape[:2], total + self.ROOM, key_states.shape[-1])
            self._store = (key_states.new_empty(shape), value_states.new_empty(shape))
            if held:
                self._store[0][:, :, :held] = self.keys
                self._store[1][:, :, :held] = self.values
        self._store[0][:, :, held:total] = key_states
        self._store[1][:, :, held:total] = value_states
        self.keys, self.values = self._store[0][:, :, :total], self._store[1][:, :, :total]
        return self.keys, self.values


@torch.inference_mode()
def sample(
    model: PreTrainedModel,
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
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
    cache = Cache(layer_class_to_replicate=RoomyLayer)
    logits = _last_logits(model, ids, mask, mask.cumsum(1).sub(1).clamp(min=0), cache)
    if completions > 1:
        cache.batch_repeat_interleave(completions)
        logits, mask = logits.repeat_interleave(completions, 0), mask.repeat_interleave(completions, 0)

    limit = np.repeat(np.asarray(limits), completions)
    draws = np.stack([generator.random(limit.max()) for generator in noise]) if temperature > 0 else None
    written = np.full((len(limit), limit.max()), pad)
    lengths = np.zeros(len(limit), dtype=int)  # 0: still being written
    batch = np.arange(len(limit))  # which rows are still in the batch
    for step in range(limit.max()):
        chosen = _choose(logits, temperature, None if draws is None else draws[batch, step])
        tokens = chosen.cpu().numpy()
        written[batch, step] = tokens
        ended = batch[(lengths[batch] == 0) & ((tokens == end) | (step + 1 >= limit[batch]))]
        lengths[ended] = step + 1
        open_rows = lengths[batch] == 0
        if not open_rows.any():
            break
        if open_rows.mean() < 0.8:  # dropping rows copies the cache: only when it saves a good part of the batch
            kept = torch.from_numpy(np.flatnonzero(open_rows)).to(model.device)
            cache.batch_select_indices(kept)
            mask, chosen, batch = mask[kept], chosen[kept], batch[open_rows]
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        logits = _last_logits(model, chosen[:, None], mask, mask.sum(1, keepdim=True).sub(1), cache)
    return [row[:length].tolist() for row, length in zip(written, lengths, strict=True)]


@torch.inference_mode()
def write_under_grammar(
    model: PreTrainedModel, prompt: Sequence[int], grammar: Grammar, words: Sequence[str], *, temperature: float, seed: int, room: int
) -> list[str]:
    """Writes words after ``prompt`` that ``grammar`` allows, until it allows none. ``words`` are the vocabulary by id; ``room`` is the most
    that prompt and text may hold together.

    Raises:
        ValueError: the text does not end within ``room``, or the grammar allows a word that the vocabulary lacks.
    """
    id_of = {word: i for i, word in enumerate(words)}
    noise = np.random.default_rng(seed)
    cache = Cache(layer_class_to_replicate=RoomyLayer)
    text: list[str] = []
    unread = list(prompt)  # ids the model has not seen yet: it reads only where there is a choice to make
    while allowed := grammar.allowed(text):
        if unknown := [word for word in allowed if word not in id_of]:
            raise ValueError(f"the grammar allows {unknown[0]!r}, which the vocabulary does not hold")
        if len(prompt) + len(text) >= room:
            raise ValueError(f"the text did not end within the {room} tokens the model can hold")
        word = allowed[0]
        if len(allowed) > 1:
            logits = _last_logits(model, torch.tensor([unread], device=model.device), None, None, cache)
            among = logits[:, [id_of[word] for word in allowed]]
            word = allowed[int(_choose(among, temperature, noise.random(1) if temperature > 0 else None))]
            unread = []
        text.append(word)
        unread.append(id_of[word])
    return text


def _last_logits(
    model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor | None, positions: torch.Tensor | None, cache: Cache
) -> torch.Tensor:
    """Logits after the last token, (rows, vocabulary)."""
    out = model(input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return out.logits[:, -1].float()


def _choose(logits: torch.Tensor, temperature: float, draws: np.ndarray | None) -> torch.Tensor:
    """One token a row: the likeliest, or with ``draws`` (uniform in 0..1) the one at which the cumulated probability passes it."""
    if draws is None:
        return logits.argmax(1)
    cumulated = (logits.double() / temperature).softmax(1).cumsum(1)
    threshold = torch.from_numpy(draws).to(logits.device)[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, threshold, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
