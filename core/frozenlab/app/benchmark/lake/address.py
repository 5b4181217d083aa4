"""The choice on the Benchmark page is in its address, all of it, so that a link shows the same to another person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from frozenlab.app.benchmark.lake.lines import METRICS, MOST_RESULTS, PAPER_SUITE, Metric, first_choice, in_order, paper_models
from frozenlab.base.numbers import counted
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.lake.suites import SUITES
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.lake.words import OUTCOMES

EMPTIED = "none"
"""In place of a choice of several that was emptied on purpose."""
FIRST_ROWS = ("Qwen3-4B (base)", "Qwen3-4B + GRPO (random)", "Qwen3-4B + GRPO + Ours")
"""Rows of the paper that are shown at first; the others can be added."""
MOST_BESIDE = 4
"""The most other plans next to the chosen one: with the optimal plan they are six boards in two rows."""
Asked = Mapping[str, Sequence[str]]
"""An address: name -> its values."""
ALL, FAILED, GAINED, LOST = "all", "failed", "gained", "lost"
FILTERS = (ALL, "valid", "optimal", FAILED, *(name for name in OUTCOMES if name not in ("valid", "optimal")), GAINED, LOST)
"""Ways to narrow boards down: by what became of them, or by who else solves them."""
FILTER_WORDS = {name: outcome.label for name, outcome in OUTCOMES.items()} | {
    ALL: "all boards",
    "valid": "solved",
    "optimal": "solved optimally",
    FAILED: "not solved",
}
Change = Callable[..., None]
"""Changes parts of the address, given by name; for callbacks."""
state = st.session_state


@dataclass(frozen=True)
class Boards:
    """Whose answers to which boards are looked at."""

    of: str
    """A result."""
    agents: int
    size: int | None = None
    """None: all map sizes."""
    outcome: str = ALL
    """One of FILTERS."""
    versus: str | None = None
    """The result that GAINED and LOST compare with."""
    beside: tuple[str, ...] | None = None
    """Results with plans for the same board to show as well; None: not chosen yet."""
    board: str | None = None
    """None: the first."""

    @property
    def code(self) -> str:
        """As it stands in the address."""
        beside = "" if self.beside is None else ".".join(self.beside) or EMPTIED
        return "~".join([self.of, str(self.agents), str(self.size or ALL), self.outcome, self.versus or "", beside, self.board or ""])

    @classmethod
    def of_code(cls, code: str, here: Mapping[str, LakeReport]) -> Boards | None:
        """Reads a code as far as it fits the results ``here``; None if it names none of them."""
        of, agents, size, outcome, versus, beside, board = (code.split("~", 6) + [""] * 7)[:7]
        if of not in here:
            return None
        teams = [team.agents for team in here[of].teams]
        team = next((team for team in teams if str(team) == agents), teams[0])
        sizes = (cell.size for cell in here[of].cells if cell.agents == team)
        known = versus if versus in here and versus != of else None
        fits = outcome in FILTERS and (known is not None or outcome not in (GAINED, LOST))
        others = tuple(name for name in beside.split(".") if name in here and name != of)[:MOST_BESIDE]
        return cls(
            of, team, next((number for number in sizes if str(number) == size), None), outcome if fits else ALL, known,
            others if beside else None, board or None,
        )  # fmt: skip


@dataclass(frozen=True)
class View:
    """What the page shows."""

    suite: str
    results: tuple[str, ...]
    paper: tuple[str, ...]
    metric: Metric
    agents: int
    pair: tuple[str, str] | None
    """The two results of the paired comparison; None if fewer than two are chosen."""
    boards: Boards | None
    """None: the figures; else the boards behind one of them."""
    unknown: tuple[str, ...]
    """Results that the address names and that are not here."""


def suites(reports: Sequence[LakeReport]) -> list[str]:
    """The suites that have results, the paper's first, then the named ones in their own order."""
    order = [PAPER_SUITE, *SUITES]
    return sorted({report.suite for report in reports}, key=lambda name: (order.index(name) if name in order else len(order), name))


def asked_now() -> Asked:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def read(reports: Sequence[LakeReport], paper: PaperResults, asked: Asked) -> View:
    """The view that an address asks for, as far as it is possible, and the rest as it is at first. ``reports`` are at least one."""

    def one(name: str) -> str | None:
        return next(iter(asked.get(name, ())), None)

    suite = next((name for name in suites(reports) if name == one("suite")), suites(reports)[0])
    here = {report.id: report for report in in_order(reports) if report.suite == suite}
    named = list(asked.get("result", ()))
    chosen = [name for name in here if name in named][:MOST_RESULTS]
    if not chosen and named != [EMPTIED]:
        chosen = [report.id for report in first_choice(list(here.values()))]
    rows = asked.get("paper") or FIRST_ROWS
    teams = sorted({team.agents for name in chosen or here for team in here[name].teams})
    pair = None
    if len(chosen) > 1:
        before = next((name for name in chosen if name == one("before")), chosen[0])
        others = [name for name in chosen if name != before]
        best = max(others, key=lambda name: sum(team.mean_valid for team in here[name].teams))
        pair = before, next((name for name in others if name == one("after")), best)
    everything = {report.id for report in reports}
    return View(
        suite=suite,
        results=tuple(chosen),
        paper=tuple(name for name in paper_models(paper) if name in rows) if suite == PAPER_SUITE else (),
        metric=next((metric for metric in METRICS if metric == one("metric")), METRICS[0]),
        agents=next((team for team in teams if str(team) == one("agents")), teams[0]),
        pair=pair,
        boards=Boards.of_code(one("boards") or "", here),
        unknown=tuple(name for name in named if name not in everything and name != EMPTIED),
    )


def write(view: View) -> None:
    """Puts the view into the address, in one write."""
    full: dict[str, str | Iterable[str]] = {
        "suite": [view.suite],
        "result": list(view.results) or [EMPTIED],
        "metric": [view.metric],
        "agents": [str(view.agents)],
    }
    if view.suite == PAPER_SUITE:
        full["paper"] = list(view.paper) or [EMPTIED]
    if view.pair is not None:
        full |= {"before": [view.pair[0]], "after": [view.pair[1]]}
    if view.boards is not None:
        full["boards"] = [view.boards.code]
    if changed := {name: value for name, value in full.items() if st.query_params.get_all(name) != value}:
        st.query_params.update(changed)


def go(reports: Sequence[LakeReport], paper: PaperResults, /, **changes: list[str]) -> None:
    """Changes a part of the view. For callbacks."""
    write(read(reports, paper, {**asked_now(), **changes}))


def add(result: str, suite: str) -> None:
    """Chooses a result that has just come, if its suite is the one that is shown."""
    if st.query_params.get("suite") == suite:
        st.query_params["result"] = [*(name for name in st.query_params.get_all("result") if name != EMPTIED), result]


def follow(code: str) -> None:
    """Goes to the boards of :attr:`Boards.code`."""
    st.query_params["boards"] = code


def leave() -> None:
    """Goes back from boards to figures."""
    st.query_params.pop("boards", None)


def behind(rows: pd.DataFrame, agents: int, size: int | None, outcome: str, metric: Metric, other: pd.DataFrame | None) -> pd.DataFrame:
    """The boards of a figure, small ones first.

    Args:
        rows: the judged answers of the result that the figure is about.
        size: None for all map sizes.
        outcome: one of FILTERS. ``gained`` are those that ``rows`` has right (by ``metric``) and ``other`` has not; ``lost`` the reverse.
        other: the answers of the result it is compared with.
    """
    found = rows[rows["agents"] == agents]
    if size is not None:
        found = found[found["size"] == size]
    if outcome in (GAINED, LOST):
        held = set() if other is None else set(other.loc[other[metric], "board_id"])
        there = found["board_id"].isin(held)
        found = found[found[metric] & ~there] if outcome == GAINED else found[~found[metric] & there]
    elif outcome == FAILED:
        found = found[~found["valid"]]
    elif outcome in ("valid", "optimal"):
        found = found[found[outcome]]
    elif outcome != ALL:
        found = found[found["outcome"] == outcome]
    return found.sort_values(["size", "hole_ratio"], kind="stable")


def choose_results(view: View, reports: Sequence[LakeReport], here: Mapping[str, LakeReport], paper: PaperResults, change: Change) -> None:
    """The suite, the results on it (``here``) and the rows of the paper to compare, and the rate."""
    rows = view.suite == PAPER_SUITE
    line = st.container(horizontal=True, vertical_alignment="center")
    shown = [counted(len(view.results), "result")] + ([f"{counted(len(view.paper), 'row')} of the paper"] if rows else [])
    line.markdown(", ".join(shown), width="content")
    boxes = line.popover("Change", icon=":material/tune:", width="content")
    state["bench-suite"] = view.suite
    boxes.selectbox(
        "Suite", suites(reports), key="bench-suite", format_func=LAKE.suite_label,
        on_change=lambda: change(suite=[state["bench-suite"]], result=[]),
        help="A fixed set of boards that no model trains on. Only results on the same suite are compared.",
    )  # fmt: skip
    titles = {name: report.title for name, report in here.items()}
    double = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    state["bench-results"] = list(view.results)
    boxes.multiselect(
        "Results", list(titles), key="bench-results", max_selections=MOST_RESULTS, placeholder="choose checkpoints",
        format_func=lambda name: f"{titles[name]} ({name})" if titles[name] in double else titles[name],
        on_change=lambda: change(result=state["bench-results"] or [EMPTIED]),
        help="Checkpoints that have been measured on this suite. Measure others with the button at the upper right.",
    )  # fmt: skip
    if rows:
        state["bench-paper"] = list(view.paper)
        boxes.multiselect(
            "Rows of the paper", paper_models(paper), key="bench-paper", placeholder="none",
            on_change=lambda: change(paper=state["bench-paper"] or [EMPTIED]),
        )  # fmt: skip
    state["bench-metric"] = view.metric
    line.segmented_control(
        "Rate", METRICS, key="bench-metric", required=True, label_visibility="collapsed",
        on_change=lambda: change(metric=[state["bench-metric"]]),
        help="Valid: every agent arrives and no rule is broken. Optimal: that, in the fewest steps possible.",
    )  # fmt: skip
