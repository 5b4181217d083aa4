from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from frozenlab.base.files import MOST_NESTED, MOST_OPENINGS, json_value, json_values


def test_values_are_found_in_order_whatever_surrounds_them() -> None:
    text = 'First [1, 2] and {x}, then {"a": [3]} [broken {"b": "]"}'
    assert [value for value, _ in json_values(text)] == [[1, 2], {"a": [3]}, {"b": "]"}]
    assert [value for value, _ in json_values(text, "{")] == [{"a": [3]}, {"b": "]"}]
    assert all(text[:end].endswith(("]", "}")) for _, end in json_values(text))


@pytest.mark.parametrize("part", ["[", '{"a":', "[x", "[1,"])
def test_unclosed_brackets_are_tried_a_bounded_number_of_times(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    honest = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, start: int = 0) -> object:
        tries.append(start)
        return honest(self, text, start)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    assert list(json_values(part * 20_000)) == []
    assert len(tries) <= (MOST_OPENINGS if part == "[x" else 1000 + MOST_NESTED)


def test_a_plan_after_many_brackets_is_still_found() -> None:
    assert [value for value, _ in json_values("[see] " * 50_000 + '["RRD"]')] == [["RRD"]]


@pytest.mark.parametrize("read", [json_value, lambda text: next(json_values(f"so: {text}"))[0]], ids=["a file", "an answer"])
@pytest.mark.parametrize(
    "text", [r'{"a\ud83d": ["\ud83d\ude00", "no \ud800"]}', '{"a\ud83d": ["\ud83d\ude00", "no \ud800"]}'], ids=["escaped", "raw"]
)
def test_half_a_surrogate_pair_in_a_text_is_replaced(read: Callable[[str], Any], text: str) -> None:
    assert read(text) == {"a\ufffd": ["\U0001f600", "no \ufffd"]}
