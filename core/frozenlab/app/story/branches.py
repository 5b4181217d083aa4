"""A session and the forks around it: where they part, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from frozenlab.app.session.config_rows import config_rows
from frozenlab.app.ui.chart import Chart
from frozenlab.app.ui.components.timeline import rates_by_stage
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, GRID_COLOR, REWARD_COLOR, common_layout
from frozenlab.base.numbers import share
from frozenlab.session.session import Session, SessionError
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import family_of
from frozenlab.tasks.labels import cell_label

COLORS = (BEFORE_COLOR, CHECK_COLOR, REWARD_COLOR, "#8E5BC0", "#B08900")


@dataclass(frozen=True)
class Branch:
    """A session of the family."""

    session: Session
    state: State
    stage: int | None
    """The last stage that it has in common with its parent, 0-based; None for the first session."""

    @property
    def parent(self) -> str | None:
        """The id of the session that it was forked from."""
        return self.session.spec.parent.session if self.session.spec.parent else None

    @property
    def name(self) -> str:
        return self.session.title


def family(session: Session, store: SessionStore) -> list[Branch]:
    """The first session and all that was forked from it or from its forks, in that order; the session alone if it has no relatives."""
    trunk = session
    while trunk.spec.parent is not None and (parent := readable(trunk.spec.parent.session, store)) is not None:
        trunk = parent
    found = [session if name == session.id else readable(name, store) for name in offspring(trunk.id, store.forked())]
    return [Branch(trunk, trunk.state(), None)] + [
        Branch(fork, fork.state(), fork.spec.parent.stage) for fork in found if fork is not None and fork.spec.parent is not None
    ]


def offspring(trunk: str, parents: Mapping[str, str]) -> Iterator[str]:
    """The ids of what was forked from ``trunk``, then of what was forked from these, and so on; ``parents`` are fork -> parent."""
    generation = {trunk}
    while generation:
        forks = [name for name, parent in parents.items() if parent in generation and name != trunk]
        yield from forks
        generation = set(forks)


def readable(session_id: str, store: SessionStore) -> Session | None:
    try:
        return store.open(session_id)
    except SessionError:
        return None


def parted(branch: Branch, parent: Session) -> list[str]:
    """Where the config that the fork went on with differs from its parent's: ``5×5 hole ratio 20 % instead of 30 %``. Shares that moved by
    less than a point, because those of other cells did, are left out. Empty as long as one of them has not gone on."""
    assert branch.stage is not None
    there, here = (session.environment(branch.stage + 1) for session in (parent, branch.session))
    if there is None or here is None:
        return []
    moved = [row for row in config_rows(there.config, here.config) if abs(row.change) > (0.01 if row.knob == "share" else 0.0005)]
    return [
        f"{cell_label(row.cell)} {family_of(here.config.family).setting_label(row.knob)} {shown(row.after)} instead of {shown(row.before)}"
        for row in moved
    ]


def shown(value: float | None) -> str:
    return "none" if value is None else share(value)


def branches_figure(branches: Sequence[Branch], here: str) -> Chart:
    """The held-out valid rate of every branch over its stages, from where it parts; the session ``here`` is drawn thick."""
    figure, spoken = go.Figure(), []
    for place, branch in enumerate(branches):
        thick = branch.session.id == here
        color = AFTER_COLOR if thick else COLORS[place % len(COLORS)]
        measured = {-1 if stage is None else stage: rate for stage, rate in rates_by_stage(branch.state).items()}
        stages = [stage for stage in sorted(measured) if branch.stage is None or thick or stage >= branch.stage]
        rates = [measured[stage] for stage in stages]
        figure.add_trace(
            go.Scatter(
                x=[stage + 1 for stage in stages],
                y=[rate.value for rate in rates],
                error_y=dict(
                    type="data", symmetric=False, array=[rate.high - rate.value for rate in rates],
                    arrayminus=[rate.value - rate.low for rate in rates], thickness=1.4, width=4, color=color,
                ),
                mode="lines+markers",
                name=branch.name,
                line=dict(color=color, width=4 if thick else 2, dash="solid" if branch.stage is None or thick else "dash"),
                marker=dict(size=11 if thick else 8, symbol="circle" if thick else "diamond-open"),
                customdata=[(rate.percents, rate.n, rate.percent) for rate in rates],
                hovertemplate=f"{branch.name}<br><b>%{{customdata[2]}}</b> valid, %{{customdata[0]}}, "
                "n = %{customdata[1]}<extra></extra>",
            )
        )  # fmt: skip
        spoken.append(f"{branch.name}: " + ", ".join(rate.percent for rate in rates))
    last = max(branch.session.spec.stages for branch in branches)
    figure.update_xaxes(tickvals=list(range(last + 1)), ticktext=["before", *(f"stage {n}" for n in range(1, last + 1))], showgrid=False)
    common_layout(figure, height=320)
    figure.update_yaxes(tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, nticks=6)
    return Chart(figure, "Valid rate over the stages of each branch. " + "; ".join(spoken) + ".")
