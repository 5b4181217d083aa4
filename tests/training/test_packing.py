"""Packing keeps every token of every completion, reads shared prompts once, and stays within its bounds."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.models.training.runs.packing import IGNORED, Example, Pack, pack

CPU = torch.device("cpu")
tokens = st.lists(st.integers(2, 9), min_size=1, max_size=6).map(tuple)
texts = st.lists(st.builds(Example, tokens, tokens), min_size=1, max_size=12)


def alone(packed: Pack, sequence: int, column: int) -> list[int]:
    """The tokens that a place sees, in the order of their positions."""
    seen = packed.attention_mask[sequence, 0, column].nonzero().flatten()
    positions = packed.positions[sequence, seen].tolist()
    assert sorted(positions) == list(range(len(seen)))
    return [token for _, token in sorted(zip(positions, packed.ids[sequence, seen].tolist(), strict=True))]


@given(texts, st.integers(1, 40), st.integers(1, 80))
def test_each_label_is_predicted_from_its_own_text(texts: list[Example], longest: int, batch: int) -> None:
    predicted = set()
    for packed in pack(texts, longest, batch, CPU):
        labelled = (packed.labels != IGNORED).nonzero().tolist()
        for (sequence, column), (number, place) in zip(labelled, packed.places.tolist(), strict=True):
            text = texts[number]
            assert int(packed.labels[sequence, column]) == text.completion[place]
            assert alone(packed, sequence, column) == [*text.prompt, *text.completion[:place]]
            predicted.add((number, place))
    assert predicted == {(number, place) for number, text in enumerate(texts) for place in range(len(text.completion))}


@given(texts, st.integers(1, 40), st.integers(1, 80))
def test_only_a_text_too_long_by_itself_exceeds_the_bounds(texts: list[Example], longest: int, batch: int) -> None:
    for packed in pack(texts, longest, batch, CPU):
        rows, width = packed.ids.shape
        single = rows == 1 and len(set(packed.places[:, 0].tolist())) == 1
        assert single or rows * width <= batch or (rows == 1 and width <= longest)
        assert width <= longest or all(int(branches.max()) == 1 for branches in packed.branches if (branches >= 0).all())


def test_a_group_reads_its_prompt_once() -> None:
    group = [Example((2, 3, 4), completion) for completion in ((5,), (6, 7), (8, 9, 5))]
    (packed,) = pack(group, 100, 100, CPU)
    assert packed.ids.tolist() == [[2, 3, 4, 4, 6, 4, 8, 9]]
    assert packed.positions.tolist() == [[0, 1, 2, 2, 3, 2, 3, 4]]
    assert packed.branches.tolist() == [[0, 0, 1, 2, 2, 3, 3, 3]]
    assert packed.labels.tolist() == [[IGNORED, IGNORED, 5, 6, 7, 8, 9, 5]]
