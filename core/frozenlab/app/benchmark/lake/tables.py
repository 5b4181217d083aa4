"""The tables of the Benchmark page: leaderboards, cells, what else was counted, and the difference of two results. A figure can lead to the
boards behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

import pandas as pd
import streamlit as st

from frozenlab.app.benchmark.lake.address import ALL, GAINED, LOST, Boards
from frozenlab.app.benchmark.lake.lines import METRICS, Line, Metric, ranked
from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.figures import size_label
from frozenlab.base.numbers import ComparisonError, Interval, board_by_board, number, paired_change, percent, points
from frozenlab.models.training.methods import title_of

_scoreboard = component(__file__, "scoreboard", '<div class="scoreboard" role="group"></div>', code=NODES)


@dataclass(frozen=True)
class Head:
    """A column's name, and its help on hover."""

    text: str
    hint: str = ""


@dataclass(frozen=True)
class Cell:
    """One figure."""

    text: str
    small: str = ""
    """An interval, shown next to the figure in a quieter tone."""
    hint: str = ""
    leads: str = ""
    """The argument of ``on_pick`` when the figure is clicked; empty: it cannot be clicked."""
    shade: float | None = None
    """0..1, drawn as a tint behind the figure."""
    span: tuple[float, float, float] | None = None
    """Value, lower and upper bound in 0..1, drawn as a dot on a line below the figure."""


@dataclass(frozen=True)
class Row:
    name: str
    cells: tuple[Cell, ...]
    sign: str = ""
    color: str = ""
    tag: str = ""
    """A note after the name of the row."""
    hint: str = ""
    quiet: bool = False
    """A row for comparison: thinner, with hollow dots."""


@dataclass(frozen=True)
class Table:
    title: str
    heads: tuple[Head, ...]
    """The first is the heading of the names."""
    rows: tuple[Row, ...]
    note: str = ""
    wide: bool = False
    """Whether the table takes the whole width; others are side by side if there is room."""


def scoreboard(tables: Sequence[Table], *, key: str, label: str, on_pick: Callable[[str], None] | None = None) -> None:
    """Draw the tables. ``on_pick`` is called with the ``leads`` of a clicked figure, before the page runs again."""

    def picked() -> None:
        if on_pick is not None:
            on_pick(str(st.session_state[key].picked))

    _scoreboard(key=key, data={"label": label, "groups": [asdict(table) for table in tables]}, on_picked_change=picked, height="content")


METRIC_HINTS = {
    "valid": "Plans that break no rule and bring every agent to its goal: the mean over the map sizes (the paper's Sum).",
    "optimal": "Valid plans of the fewest steps possible: the mean over the map sizes (the paper's Sum).",
}
MORE_HEADS = (
    Head(""),
    Head("all on goal", "CSR: boards on which every agent ends on its goal, whatever rule its way breaks"),
    Head("agents on goal", "ISR: mean share of a board's agents that end on their goals, whatever rule their ways break"),
    Head("sum of costs", "How far the sum of costs of valid plans lies above the optimum, on average"),
    Head("makespan", "How far the number of steps of valid plans lies above the optimum, on average"),
    Head("tokens", "Mean length of an answer, in the model's own tokens; of all its answers to a board where the best one counts"),
)


def team_title(agents: int) -> str:
    return f"{agents} agents" if agents > 1 else "1 agent"


def row_of(line: Line, cells: Iterable[Cell]) -> Row:
    """A row of figures of a line."""
    return Row(line.name, tuple(cells), line.sign, line.color, title_of(line.method), line.hint, not line.ours)


def leaderboard(lines: Sequence[Line], agents: int, metric: Metric) -> Table:
    """The lines that have this team size, the best first, with both means and their intervals."""
    shown = ranked(lines, agents, metric)
    counts = {line.means[agents, metric].n for line in shown}
    sizes = {tuple(line.sizes(agents)) for line in shown}
    alike = len(counts) == 1 and len(sizes) == 1
    note = f"mean over {len(shown[0].sizes(agents))} map sizes, n = {counts.pop():,} boards each" if alike else "mean over the map sizes"
    heads = [Head(""), *(Head(name, METRIC_HINTS[name]) for name in METRICS), *([] if alike else [Head("n", "Boards")])]
    rows = []
    for line in shown:
        cells = [mean_cell(line, agents, name, name == metric) for name in METRICS]
        if not alike:
            cells.append(Cell(f"{line.means[agents, metric].n:,}", leads=lead_to(line, agents)))
        rows.append(row_of(line, cells))
    return Table(team_title(agents), tuple(heads), tuple(rows), note)


def mean_cell(line: Line, agents: int, metric: Metric, drawn: bool) -> Cell:
    rate = line.means[agents, metric]
    hint = f"95 % interval {rate.percents}, n = {rate.n:,}"
    if not line.ours:
        hint = f"{number(100 * rate.value)} % on average over the paper's cells. {hint}"
    return Cell(
        rate.percent, bounds(rate), hint, lead_to(line, agents, outcome=metric),
        span=(rate.value, rate.low, rate.high) if drawn else None,
    )  # fmt: skip


def lead_to(line: Line, agents: int, size: int | None = None, outcome: str = ALL) -> str:
    """The way to the boards of a figure; the paper's rows have none."""
    return Boards(line.id, agents, size, outcome).code if line.ours else ""


def bounds(rate: Interval) -> str:
    return rate.percents.removesuffix(" %").replace(" to ", "–")


def cells_table(lines: Sequence[Line], agents: int, metric: Metric) -> Table:
    """One column a map size, with interval and a tint that deepens with the rate."""
    shown = ranked(lines, agents, metric)
    sizes = sorted({size for line in shown for size in line.sizes(agents)})
    rows = [row_of(line, (cell_of(line, agents, size, metric) for size in sizes)) for line in shown]
    heads = (Head(""), *(Head(size_label(size)) for size in sizes))
    return Table("", heads, tuple(rows), wide=True)


def cell_of(line: Line, agents: int, size: int, metric: Metric) -> Cell:
    rate = line.cells.get((agents, size, metric))
    if rate is None:
        return Cell("–")
    return Cell(rate.percent, bounds(rate), f"95 % interval {rate.percents}, n = {rate.n:,}", lead_to(line, agents, size), rate.value)


def more_table(lines: Sequence[Line], agents: int, metric: Metric) -> Table:
    """Further counts; the paper reports none of them."""
    rows = []
    for line in ranked(lines, agents, metric):
        team = line.team(agents)
        if team is None:
            continue
        every, solved = lead_to(line, agents), lead_to(line, agents, outcome="valid")
        cells = (
            Cell(percent(team.csr, team.n), leads=every),
            Cell(percent(team.isr, team.n), leads=every),
            Cell(above(team.soc_gap), leads=solved, hint=f"over {team.valid} valid plans"),
            Cell(above(team.makespan_gap), leads=solved, hint=f"over {team.valid} valid plans"),
            Cell(number(team.tokens, 0), leads=every),
        )
        rows.append(row_of(line, cells))
    return Table("", MORE_HEADS, tuple(rows), wide=True)


def above(gap: float | None) -> str:
    return "–" if gap is None else f"{number(100 * gap, 1, sign=True)} %"


def changes_table(found: Sequence[Change], before: Line, after: Line) -> Table:
    """One row a team size: both rates, the paired change, and how many boards went either way."""
    rows = []
    for change in found:

        def both(outcome: str, agents: int = change.agents) -> str:
            return Boards(after.id, agents, outcome=outcome, versus=before.id).code

        cells = (
            Cell(percent(change.before, change.n), leads=lead_to(before, change.agents)),
            Cell(percent(change.after, change.n), leads=lead_to(after, change.agents)),
            Cell(points(change.value, change.n), change.bounds, f"Paired by board, 95 % interval, n = {change.n:,}", both(ALL)),
            Cell(f"{change.gained:,}", leads=both(GAINED)),
            Cell(f"{change.lost:,}", leads=both(LOST)),
        )  # fmt: skip
        rows.append(Row(team_title(change.agents), cells))
    heads = (
        Head(""), Head(f"{before.sign} first"), Head(f"{after.sign} second"), Head("change", "On the same boards, with its 95 % interval"),
        Head("won", "Boards that only the second solves"), Head("lost", "Boards that only the first solves"),
    )  # fmt: skip
    return Table("", heads, tuple(rows), wide=True)


@dataclass(frozen=True)
class Change(Interval):
    """How two results differ on the boards of one team size."""

    agents: int = field(kw_only=True)
    before: float = field(kw_only=True)
    after: float = field(kw_only=True)
    gained: int = field(kw_only=True)
    """Boards that only the second solves."""
    lost: int = field(kw_only=True)


def changes(before: pd.DataFrame, after: pd.DataFrame, metric: Metric) -> list[Change]:
    """The paired change for each team size that both tables have. Raises ComparisonError if they share no board."""
    found = []
    for agents in sorted({*before["agents"]} & {*after["agents"]}):
        old, new = (table[table["agents"] == agents] for table in (before, after))
        pairs = board_by_board(old, new, metric)
        counts = {name: getattr(pairs, name) for name in ("before", "after", "gained", "lost")}
        found.append(Change(**vars(paired_change(old, new, metric)), agents=int(agents), **counts))
    if not found:
        raise ComparisonError("the two results share no board")
    return found


def in_words(change: Change, before: str, after: str, metric: Metric) -> str:
    """``After stage 3 solves 41 more of 1,200 boards than the base: +3.4 points (+1.9 to +4.9).``"""
    verb = "solves" if metric == "valid" else "optimally solves"
    net = change.gained - change.lost
    how = f"{abs(net):,} {'more' if net > 0 else 'fewer'} of {change.n:,} boards than" if net else f"as many of {change.n:,} boards as"
    sentence = f"{after[:1].upper()}{after[1:]} {verb} {how} {before}: {change.points}."
    return sentence if change.clear else f"{sentence} Chance could explain that."
