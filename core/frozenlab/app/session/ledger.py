"""The prediction ledger on a page: predicted and measured changes, compared with the prediction that nothing changes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from frozenlab.app.studies.figures import changes_figure
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import MANY, interval, number, points, signed
from frozenlab.engineer.engineers import who_is
from frozenlab.session.ledger import Score, changes, ledger_of, predictions, score, scores, scores_table, source
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label, cells_noun

NEWEST = 200
"""Sessions whose predictions are read on request, besides the recorded ones."""
HELP = (
    "Predicted change: the valid rate that the engineer expects of a cell after the next stage, less the one on the validation boards "
    'that it read. Skill: 1 for predictions that come true, 0 for those that are as good as "nothing changes", below 0 for worse ones. '
    "That few boards scatter counts against both, so skill is below 1 even for a perfect prediction."
)


def own_predictions(session: Session) -> pd.DataFrame:
    """The session's tested predictions, as :func:`frozenlab.session.ledger.predictions` gives them."""
    return once(lambda: predictions(session), "ledger", session.revision())


def show_ledger(session: Session, store: SessionStore) -> None:
    """The session's tested predictions, and on request how every engineer's have turned out in all sessions of ``store``. Nothing where
    no prediction has been tested."""
    own = own_predictions(session)
    if own.empty:
        return
    st.header("The prediction ledger", anchor=False, help=HELP)
    st.markdown(sentence(score(session.spec.engineer.kind, own)))
    st.caption(f"{source(session.spec)} Measured on {session.results_from}.{'' if session.suite == 'test' else FLATTERED}")
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        markup.data_table("Every tested prediction", ledger_table(own))
    with right:
        everybody = st.toggle(
            "With all other sessions of this machine", key="ledger-all", help=f"Reads their predictions, of the newest {NEWEST} at most."
        )
        known = {one.dir: progress(one) for one in (session, *store.sessions(NEWEST))} if everybody else {}
        shown = everybodys_ledger(tuple((str(folder), stages) for folder, stages in known.items())) if everybody else own
        named = shown.assign(engineer=shown["engineer"].map(who_is))
        theme.chart(changes_figure(changes(named)), "ledger-changes")
    if everybody:
        with st.expander(f"All engineers, in {shown['session'].nunique()} sessions of this machine", expanded=True):
            markup.data_table("All engineers", scores_table(scores(named), "engineer", "sessions"))
            st.caption(
                "Forks count with the session that they were forked from. Changes and errors in points; skill has an interval from three "
                "sessions on."
            )


FLATTERED = " Predicted and measured change then share the chance in the rate before, which flatters predictions."


def sentence(result: Score) -> str:
    """``It predicted +5.5 points on average; the next stages brought +0.7 (n = 18 predictions). ...``"""
    if result.skill is None:
        return f"It predicted {points(result.predicted, MANY)} on average, and nothing changed at all (n = {result.n:,} predictions)."
    better = "better" if result.skill > 0 else "no better"
    between = "" if result.low is None or result.high is None else f" (95 % interval {number(result.low)} to {number(result.high)})"
    return (
        f"**It predicted {points(result.predicted, MANY)} on average; the next stages brought {signed(result.measured, MANY)}** "
        f"(n = {result.n:,} predictions). "
        f"Its error is {number(100 * result.error, 1)} points (root mean square), that of predicting no change "
        f"{number(100 * result.naive_error, 1)}: {better}, skill {number(result.skill)}{between}."
    )


def ledger_table(own: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "proposed": [f"after {stage_name(int(stage)).lower()}" if stage >= 0 else "before stage 1" for stage in own["stage"]],
            cells_noun(own["cell"]): list(map(cell_label, own["cell"])),
            "predicted, points": [signed(row.predicted, row.n) for row in own.itertuples()],
            "measured, points": [
                f"{signed(row.measured, row.n)} ({interval(row.low, row.high, row.n)}, n = {row.n:,})" for row in own.itertuples()
            ],
        }
    )


def progress(session: Session) -> float:
    """Grows whenever a stage of the session is measured."""
    return float(len(session.state().rates))


@st.cache_data(max_entries=8, show_spinner="Reading the ledger")
def everybodys_ledger(sessions: tuple[tuple[str, float], ...]) -> pd.DataFrame:
    """Read once for each number of stages that are measured in all sessions, which are given by folder."""
    return ledger_of(Session(Path(folder)) for folder, _ in sessions)
