"""JSON values in what a language model wrote, whatever stands around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_OPENINGS = 2000
"""Brackets that are tried, the last ones of a text: each may cost a walk through the rest of it, and a model that repeats itself writes
thousands."""
MOST_NESTED = 10
"""After so many brackets in which others are nested without end nothing more is tried."""


def json_values(text: str, openings: str = "{[") -> Iterator[tuple[Any, int]]:
    """The objects or lists that begin with one of ``openings`` and lie in no other one, in order, each with the place where it ends."""
    decoder, end, nested = json.JSONDecoder(), 0, 0
    starts = [found.start() for found in re.finditer(f"[{re.escape(openings)}]", text)]
    for start in starts[-MOST_OPENINGS:]:
        if start < end or nested == MOST_NESTED:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            continue
        except RecursionError:
            nested += 1
            continue
        yield value, end
