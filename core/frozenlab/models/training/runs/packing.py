"""Texts that begin alike, packed so that a network reads what they share once.

A group's completions follow one another behind their prompt, and each sees the prompt and itself alone, at the positions it would have by
itself: what the network computes for it is the same as if it were read alone (as in tree attention, Cai et al. 2024, Medusa).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

IGNORED = -100


class Example(NamedTuple):
    """A prompt of at least one token and the completion that is scored or learnt, as token ids."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.completion)


@dataclass(frozen=True)
class Pack:
    """Sequences of about the same length; all tensors but ``places`` are (sequences, tokens)."""

    ids: Tensor
    positions: Tensor
    branches: Tensor
    """0 for what is shared, 1, 2, ... for the completions, -1 for padding."""
    labels: Tensor
    """The token to be predicted at this place; IGNORED where there is none."""
    places: Tensor
    """(labels, 2): which text a label belongs to, and which token of its completion it is; in the order of the labels."""

    @cached_property
    def attention_mask(self) -> Tensor:
        """(sequences, 1, tokens, tokens): whether the token of a row sees that of a column. Padding sees padding."""
        of_row, of_column = self.branches[:, :, None], self.branches[:, None]
        return ((of_column == of_row) | (of_column == 0)).tril()[:, None]


def pack(texts: Sequence[Example], longest: int, batch: int, device: torch.device) -> Iterator[Pack]:
    """Packs ``texts`` in batches of at most ``batch`` tokens, padding included.

    A group is split where it would be longer than ``longest`` tokens, and then its prompt is read again. Only a text that is longer by
    itself exceeds ``longest`` or ``batch``.
    """
    sequences = sorted(_sequences(texts, longest), key=lambda members: _length(texts, members))
    first = 0
    for end in range(1, len(sequences) + 1):
        # Ascending: the next sequence would be the longest of the batch.
        if end == len(sequences) or (end + 1 - first) * _length(texts, sequences[end]) > batch:
            yield _pack(texts, sequences[first:end], device)
            first = end


def _sequences(texts: Sequence[Example], longest: int) -> list[list[int]]:
    """The numbers of the texts that are read together."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, text in enumerate(texts):
        groups.setdefault(text.prompt, []).append(i)
    sequences: list[list[int]] = []
    for group in groups.values():
        sequences.append([])
        for i in group:
            if sequences[-1] and _length(texts, [*sequences[-1], i]) > longest:
                sequences.append([])
            sequences[-1].append(i)
    return sequences


def _length(texts: Sequence[Example], members: Sequence[int]) -> int:
    return len(texts[members[0]].prompt) - 1 + sum(len(texts[i].completion) for i in members)


def _pack(texts: Sequence[Example], sequences: Sequence[Sequence[int]], device: torch.device) -> Pack:
    width = _length(texts, sequences[-1])
    rows: list[list[list[int]]] = []
    places = []
    for members in sequences:
        # The last token of the prompt predicts the first of each completion, so each begins with a copy of it.
        *shared, last = texts[members[0]].prompt
        ids, positions, branches, labels = [*shared], [*range(len(shared))], [0] * len(shared), [IGNORED] * len(shared)
        for branch, i in enumerate(members, 1):
            completion = texts[i].completion
            ids += [last, *completion[:-1]]
            positions += range(len(shared), len(shared) + len(completion))
            branches += [branch] * len(completion)
            labels += completion
            places += [(i, place) for place in range(len(completion))]
        missing = width - len(ids)
        rows.append([ids + [0] * missing, positions + [0] * missing, branches + [-1] * missing, labels + [IGNORED] * missing])
    tokens = torch.tensor(rows, device=device)
    return Pack(tokens[:, 0], tokens[:, 1], tokens[:, 2], tokens[:, 3], torch.tensor(places, device=device))
