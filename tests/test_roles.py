from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.base import files, limits, roles
from frozenlab.base.limits import Allowance, LimitError, Purse
from frozenlab.base.roles import NotAllowedError, Person, Role

VIEWER = Person(Role.VIEWER, "somebody")


@pytest.fixture
def as_viewer() -> Iterator[None]:
    roles.ask(lambda: VIEWER)
    yield
    roles.ask(roles.whoever_is_here)


def test_whoever_sits_here_may_do_everything() -> None:
    roles.only_operators("do this")
    assert not roles.viewing()


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_may_do_only_what_is_for_everybody() -> None:
    with pytest.raises(NotAllowedError, match="only an operator may do this"):
        roles.only_operators("do this")
    with roles.for_everybody():
        roles.only_operators("do this")
    with pytest.raises(NotAllowedError):
        roles.only_operators("do this")


@pytest.mark.usefixtures("as_viewer")
@pytest.mark.parametrize(
    "write",
    [
        lambda folder: files.write_text(folder / "a.json", "{}"),
        lambda folder: files.write_folder(folder / "new", {"a.json": "{}"}),
        lambda folder: files.append_line(folder / "a.jsonl", {}),
        lambda folder: files.write_parquet(folder / "a.parquet", pd.DataFrame({"a": [1]})),
    ],
)
def test_nothing_is_written_for_a_viewer(write: Callable[[Path], None], tmp_path: Path) -> None:
    with pytest.raises(NotAllowedError):
        write(tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_allowance_is_spent_and_refills() -> None:
    now = [0.0]
    purse, plans = Purse(remembered=2, clock=lambda: now[0]), Allowance("plans", 3, 60)
    assert [purse.spend(plans, "a") for _ in range(3)] == [0, 0, 0]
    assert purse.spend(plans, "a") == pytest.approx(1) and purse.spend(plans, "b") == 0
    now[0] += 1
    assert purse.spend(plans, "a") == 0 and purse.spend(plans, "a") > 0
    now[0] += 1000
    assert purse.spend(plans, "a", amount=99) == 0 and purse.spend(plans, "a", amount=99) == pytest.approx(3)
    for somebody in "cdefg":
        purse.spend(plans, somebody)
    assert len(purse._left) == 2


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_is_told_when_to_try_again() -> None:
    once = Allowance("tests of this test", 1, 6)
    limits.spend(once)
    with pytest.raises(LimitError, match=r"as many tests of this test as one viewer gets for now; try again in 1[01] s"):
        limits.spend(once)


def test_operators_have_no_limits() -> None:
    for _ in range(5):
        limits.spend(Allowance("tests of that test", 1, 1))
