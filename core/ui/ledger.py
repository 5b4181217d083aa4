"""The prediction ledger on a page: what an engineer said would come, what came, and how it fares beside predicting no change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from core.sessions.ledger import Score, calibration, ledger_of, predictions, score, scores
from core.sessions.store import Session, SessionStore
from core.ui import theme
from core.ui.figures import percent, size_label
from core.ui.story import WHO
from core.ui.study_figures import calibration_figure
from core.ui.timeline import stage_name

SIGNS = {"hit": "✓ hit", "no effect": "○ no effect", "miss": "✕ miss"}
HELP = (
    "A hit lies in the 95 % interval of what was measured. No effect: a change was expected, and the rate before lies in that interval. "
    "The naive prediction is that nothing changes."
)


LEDGER_ANCHOR = "ledger"
"""The name of the section in the address, behind ``#``."""


def show_ledger(session: Session, store: SessionStore) -> bool:
    """The session's tested predictions, and on request how every engineer's have fared in all sessions of ``store``. False if no
    prediction has been tested: nothing is shown then."""
    own = predictions(session)
    if own.empty:
        return False
    st.subheader("The prediction ledger", anchor=LEDGER_ANCHOR, help=HELP)
    st.markdown(sentence(score(session.spec.engineer, own)))
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        st.dataframe(ledger_table(own), hide_index=True, width="stretch", key="ledger", alt="Every tested prediction")
    with right:
        everybody = st.toggle("With all other sessions of this machine", key="ledger-all", help="Reads the predictions of all of them.")
        shown = everybodys_ledger(tuple((str(known.dir), progress(known)) for known in store.sessions())) if everybody else own
        named = shown.assign(engineer=shown["engineer"].map(WHO))
        theme.chart(calibration_figure(calibration(named)), "ledger-calibration")
    if everybody:
        with st.expander(f"All engineers, in {shown['session'].nunique()} sessions of this machine", expanded=True):
            st.dataframe(scores_table(scores(named), "engineer"), hide_index=True, width="stretch", key="ledger-engineers")
    return True


def sentence(told: Score) -> str:
    """``In this session 12 of 18 predictions hold (...)``: hits, error, and those of the naive prediction."""
    return (
        f"**{told.hits} of {told.n} predictions are hits** (95 % interval {percent(told.hit_low)} to {percent(told.hit_high)}), off by "
        f"{100 * told.error:.1f} points on average. Predicting that nothing changes: {told.naive_hits} hits, off by "
        f"{100 * told.naive_error:.1f} points."
    )


def ledger_table(own: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "after": [stage_name(int(stage)) for stage in own["stage"]],
            "map": [size_label(size) for size in own["size"]],
            "was": [percent(rate) for rate in own["before"]],
            "expected": [percent(rate) for rate in own["expected"]],
            "measured": [f"{percent(row.measured)} ({100 * row.low:.0f} to {100 * row.high:.0f}, n = {row.n})" for row in own.itertuples()],
            "verdict": [SIGNS[verdict] for verdict in own["verdict"]],
        }
    )


def scores_table(told: Sequence[Score], who: str) -> pd.DataFrame:
    """A row for each that made predictions; ``who`` names the first column."""
    return pd.DataFrame(
        [
            {
                who: one.engineer,
                "tested": one.n,
                "hits": f"{one.hits} ({100 * one.hit_low:.0f} to {100 * one.hit_high:.0f} %)",
                "no effect": one.no_effect,
                "error, points": round(100 * one.error, 1),
                "of no change": round(100 * one.naive_error, 1),
            }
            for one in told
        ]
    )


def progress(session: Session) -> float:
    """Grows whenever a stage of the session is validated."""
    return float(len(session.state().rates))


@st.cache_data(max_entries=8, show_spinner="Reading the ledger")
def everybodys_ledger(sessions: tuple[tuple[str, float], ...]) -> pd.DataFrame:
    """Read once for each number of stages that are validated in all sessions, which are given by folder."""
    return ledger_of(Session(Path(folder)) for folder, _ in sessions)
