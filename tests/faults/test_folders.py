"""A few damaged folders of each kind; ``make test-faults`` reads 10,000 of each main kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.folders import Found, Mutants, read
from tests.faults.mutations import BY_SUFFIX, OF_BYTES, OF_TREES
from tests.faults.readers import READERS

QUICK = ("session", "study", "replay", "result", "student", "contest", "headroom")
"""The kinds of which a folder is built without a model."""
EACH = 12


def faults(found: Found) -> str:
    return "\n".join(f"{times} x {fault}: {found.examples[fault]}"[:5000] for fault, times in found.faults.items())


@pytest.mark.parametrize("kind", QUICK)
def test_damaged_folders_raise_nothing_that_a_person_could_not_act_on(tmp_path: Path, kind: str) -> None:
    mutants = Mutants(kind, tmp_path)
    found = read(mutants, Found(kind), range(EACH))
    assert sum(found.faults.values()) == 0, faults(found)
    assert found.calls == EACH * len(READERS[kind])
    assert not read(mutants, Found(kind), [None]).refused, "the undamaged folder is read by all"


def test_the_same_number_damages_in_the_same_way(tmp_path: Path) -> None:
    mutants = Mutants("replay", tmp_path)
    first = [mutants.damaged(number) for number in range(40)]
    assert first == [mutants.damaged(number) for number in range(40)]
    hows = {done.split()[0] for number in range(400) for done in mutants.damaged(number)}
    assert hows >= {how.__name__ for how in (*OF_BYTES, *OF_TREES, *BY_SUFFIX[".json"], *BY_SUFFIX[".parquet"])}


@pytest.mark.parametrize("kind", ["session", "replay"])
def test_pages_show_damaged_folders(tmp_path: Path, kind: str) -> None:
    mutants = Mutants(kind, tmp_path)
    found = read(mutants, Found(kind), range(3, 5), pages_every=3)
    assert found.pages and sum(found.faults.values()) == 0, faults(found)
