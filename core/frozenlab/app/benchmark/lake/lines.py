"""The lines that the Benchmark page compares: results, and rows of the paper. How they are drawn is in figures.py and tables.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Literal, get_args

import pandas as pd

from frozenlab.base.numbers import Interval, mean_of_rates
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults
from frozenlab.experiments.benchmark.lake.report import LakeReport, TeamResult
from frozenlab.models.training.methods import METHODS

Metric = Literal["valid", "optimal"]
METRICS: tuple[Metric, ...] = get_args(Metric)
PAPER_SUITE = "paper"
"""The suite that has the shape of the paper's evaluation: only on it can the paper's rows be compared."""
MOST_RESULTS = 6
"""The most lines of ours that readers can tell apart in one figure."""

OUR_SIGNS = (("●", "circle"), ("■", "square"), ("▲", "triangle-up"), ("◆", "diamond"), ("▼", "triangle-down"), ("✚", "cross"))
OUR_COLORS = ("#2484C6", "#E0662B", "#1E9E77", "#B0609A", "#A8821A", "#6B7BD6")
"""One a session; its stages are a ramp from there, so that they read as one thing that goes on."""
RAMP = 0.6
"""How far the colour of a session's last stage lies from that of its first, towards the letters of the page."""
PAPER_SIGNS = (
    ("○", "circle-open"), ("□", "square-open"), ("△", "triangle-up-open"), ("◇", "diamond-open"), ("▽", "triangle-down-open"),
    ("☆", "star-open"), ("⬠", "pentagon-open"),
)  # fmt: skip
PAPER_DASHES = ("dot", "dash", "dashdot", "longdash", "longdashdot", "2px,6px", "8px,2px")
PAPER_COLOR = "#7C8DA3"
"""Middle tones, so that one figure reads on both themes; signs and dashes tell the lines apart without them."""

METHOD_WORDS = {method.name: method.learned[0].upper() + method.learned[1:] for method in METHODS} | {
    "base": "As it was before any session trained it",
    "paper": "As the paper reports it, on the authors' own boards",
}


@dataclass(frozen=True)
class Line:
    """One result of ours or one row of the paper, with how it is drawn."""

    id: str
    """Of the result; of a row of the paper the name of its model."""
    name: str
    method: str
    """A key of METHOD_WORDS."""
    sign: str
    symbol: str
    """The sign as Plotly calls it."""
    color: str
    dash: str
    hint: str
    report: LakeReport | None = None
    """None: a row of the paper."""
    means: Mapping[tuple[int, str], Interval] = field(default_factory=dict)
    """(agents, metric) -> the mean over the map sizes; its n counts boards."""
    cells: Mapping[tuple[int, int, str], Interval] = field(default_factory=dict)
    """(agents, size, metric) -> rate."""

    @property
    def ours(self) -> bool:
        return self.report is not None

    def sizes(self, agents: int) -> list[int]:
        return sorted({size for team, size, _ in self.cells if team == agents})

    def team(self, agents: int) -> TeamResult | None:
        """What was counted for one team size; None for a row of the paper, and where the suite has no such team."""
        return next((team for team in self.report.teams if team.agents == agents), None) if self.report else None


@dataclass(frozen=True)
class Look:
    """How a result is drawn: the sign in tables, the same as Plotly calls it, and the colour."""

    sign: str
    symbol: str
    color: str


def looks(reports: Sequence[LakeReport], ink: str) -> dict[str, Look]:
    """Result -> look. Each has a sign of its own; those of one session share a hue, which comes nearer to ``ink`` stage by stage."""
    groups: dict[str, list[LakeReport]] = {}
    for report in in_order(reports):
        groups.setdefault(report.session or report.id, []).append(report)
    found: dict[str, Look] = {}
    for hue, group in zip(cycle(OUR_COLORS), groups.values(), strict=False):
        for step, report in enumerate(group):
            sign, symbol = OUR_SIGNS[len(found) % len(OUR_SIGNS)]
            found[report.id] = Look(sign, symbol, _mixed(hue, ink, RAMP * step / max(len(group) - 1, 1)))
    return found


def _mixed(one: str, other: str, part: float) -> str:
    """``part`` of ``other`` in ``one``."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + part * (b - a)):02X}" for a, b in pairs)


def line_of(report: LakeReport, look: Look) -> Line:
    """A result as it is compared."""
    method = report.method or "base"
    method_words = METHOD_WORDS.get(method, f"Trained by {method}")  # one of a newer version
    return Line(
        report.id, report.title, method, look.sign, look.symbol, look.color, "solid",
        f"{report.model}, weights {report.checkpoint_sha256[:10]}, {report.how}. {method_words}.",
        report,
        {(team.agents, metric): team.mean(metric) for team in report.teams for metric in METRICS},
        {(cell.agents, cell.size, metric): cell.rate(metric) for cell in report.cells for metric in METRICS},
    )  # fmt: skip


def paper_models(paper: PaperResults) -> list[str]:
    """The rows of the paper, in its order."""
    return list(next(iter(paper.agents.values())).models)


def paper_line(name: str, paper: PaperResults) -> Line:
    """A row of the paper. It prints no intervals: they follow from its boards a cell."""
    place = paper_models(paper)[::-1].index(name)
    sign, symbol = PAPER_SIGNS[place % len(PAPER_SIGNS)]
    means: dict[tuple[int, str], Interval] = {}
    cells: dict[tuple[int, int, str], Interval] = {}
    for agents, team in paper.agents.items():
        row, n = team.models[name], team.boards_per_size
        for metric in METRICS:
            rates = {size: getattr(printed, metric) for size, printed in row.by_size.items()}
            cells |= {(agents, size, metric): Interval(rate, *team.bounds(rate), n) for size, rate in rates.items()}
            _, low, high = mean_of_rates([(round(rate * n), n) for rate in rates.values()])
            means[agents, metric] = Interval(row.mean(metric), low, high, n * len(rates))
    return Line(
        name, name, "paper", sign, symbol, PAPER_COLOR, PAPER_DASHES[place % len(PAPER_DASHES)],
        f"{METHOD_WORDS['paper']}. It prints no intervals: these follow from its {n} boards a cell.", None, means, cells,
    )  # fmt: skip


def teams(lines: Sequence[Line]) -> list[int]:
    """The team sizes that any line has."""
    return sorted({agents for line in lines for agents, _ in line.means})


def ranked(lines: Sequence[Line], agents: int, metric: Metric) -> list[Line]:
    """The lines that have this team size, the best mean first."""
    return sorted((line for line in lines if (agents, metric) in line.means), key=lambda line: -line.means[agents, metric].value)


def in_order(reports: Sequence[LakeReport]) -> list[LakeReport]:
    """Bases first, then session by session and stage by stage; single answers before the best of several guises."""

    def place(report: LakeReport) -> tuple[bool, str, int, int, float]:
        stage = -1 if report.stage is None else report.stage
        return report.session is not None, report.session or "", stage, report.guises, report.created

    return sorted(reports, key=place)


def first_choice(reports: Sequence[LakeReport]) -> list[LakeReport]:
    """What is compared at first: every base and the end of every session; of a session that is alone all stages."""
    ordered = in_order(reports)
    last = {(report.session, report.guises): report for report in ordered if report.session is not None}
    telling = [report for report in ordered if report.session is None or report is last[report.session, report.guises]]
    between = [report for report in ordered if report not in telling] if len({session for session, _ in last}) == 1 else []
    chosen = [*telling, *between][:MOST_RESULTS]
    return in_order(chosen)


def as_table(lines: Sequence[Line], suite: str) -> pd.DataFrame:
    """All cells of all lines, a row each: the columns of ``cells.csv`` where they are known."""
    parts = []
    for line in lines:
        named = {"name": line.name, "method": line.method, "source": "paper" if line.report is None else "here", "suite": suite}
        if line.report is not None:
            table = line.report.cells_table()
        else:
            table = pd.DataFrame([_paper_cell(line, agents, size) for agents, size in sorted({key[:2] for key in line.cells})])
        for place, (column, value) in enumerate(named.items()):
            table.insert(place, column, value)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _paper_cell(line: Line, agents: int, size: int) -> dict[str, float]:
    row: dict[str, float] = {"agents": agents, "size": size, "n": line.cells[agents, size, "valid"].n}
    for metric in METRICS:
        rate = line.cells[agents, size, metric]
        row |= {f"{metric}_rate": rate.value, f"{metric}_low": rate.low, f"{metric}_high": rate.high}
    return row
