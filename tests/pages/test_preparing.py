"""While kernels are being compiled on a new machine, most pages work, and the others show progress and continue."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import frozenlab.experiments.benchmark.lake.paper_results  # noqa: F401  # reads a file of the project, which the fixture below moves away
from frozenlab.app.play.choices import FIRST_BOARD
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.kernels.cache import Group, Progress
from tests.builders import build_session
from tests.pages.apptest import bare_page, open_page, words

COMPILING = Progress(False, 12, 30, 0.0)


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "_seen", set())
    monkeypatch.setattr(preparing, "LOOK", 0.0)


@pytest.mark.parametrize("page", ["home", "train", "story", "studies", "replay", "benchmark"])
def test_pages_that_need_no_kernel_do_not_wait(page: str, sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_session(sessions_folder)
    monkeypatch.setattr(preparing, "progress", lambda group: COMPILING)
    compiled = tuple(f"frozenlab.lake.{module}" for module in ("kernels.makespan", "kernels.compiled", "draw.drawing"))
    for module in [name for name in sys.modules if name.startswith(compiled)]:
        monkeypatch.setitem(sys.modules, module, None)  # to import it is an error
    open_page(page)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What pages say of kernels, each group of which is compiled after some looks."""
    lines: list[str] = []

    def soon() -> Iterator[Progress]:
        yield from [COMPILING] * 4
        while True:
            yield Progress(True, 30, 30, 0.0)

    by_group = {group: soon() for group in preparing.WORDS}
    monkeypatch.setattr(preparing, "progress", lambda group: next(by_group[group]))
    worded = preparing.words
    monkeypatch.setattr(preparing, "words", lambda *given: lines.append(worded(*given)) or lines[-1])
    return lines


def test_a_page_that_needs_the_solver_says_how_far_it_is_and_goes_on(said: list[str]) -> None:
    app = open_page("play")
    assert any("The solver is being compiled, once on this machine: 12 of 30 functions" in line for line in said)
    assert "best makespan" in words(app) and not any("planners" in line for line in said), "which this board does not need"


@pytest.mark.parametrize(
    ("board", "who"), [(FIRST_BOARD, "Search"), (Board(("F" * 34,) * 34, (Agent((0, 0), (1, 1)),)), "Model")], ids=["search", "large"]
)
def test_what_needs_the_planners_says_so_while_they_are_compiled(said: list[str], board: Board, who: str) -> None:
    app = bare_page("play")
    app.query_params["board"] = encode(board)
    app.session_state["play_planner"], app.session_state["play_searchers"] = who, ["pibt"]
    app.session_state["play_search_asked"] = True
    app.run()
    assert any("The planners are being compiled, once on this machine: 12 of 30 functions" in line for line in said)


def test_the_sum_of_costs_comes_later_where_its_solver_does(monkeypatch: pytest.MonkeyPatch) -> None:
    compiling: set[Group] = {"costs"}
    monkeypatch.setattr(preparing, "progress", lambda group: Progress(group not in compiling, 12, 30, time.time()))
    app = open_page("play")
    assert "The best sum of costs is still to come. The solver of the sum of costs is being compiled" in words(app)
    compiling.clear()
    app.run()
    assert "still to come" not in words(app)
