"""Boards that a model has planned: a list to choose from, and the chosen one played next to its optimal plan."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from frozenlab.lake.board import Board
from frozenlab.lake.rules import judge_paths
from frozenlab.tasks.lake.view import share
from frozenlab.tasks.lake.view.optimum import optimal_paths
from frozenlab.tasks.lake.view.player import board_player
from frozenlab.tasks.lake.view.recorded import answer_of
from frozenlab.tasks.lake.view.tracks import Track
from frozenlab.tasks.lake.words import OUTCOMES
from frozenlab.ui import markup, nav
from frozenlab.ui.figures import size_label

MOST_BOARDS = 60
"""Rows of a list; a filter narrows it down further than scrolling would."""


def pick_board(rows: pd.DataFrame, counts: str, *, key: str, height: int = 430) -> pd.Series:
    """The list of ``rows`` (at least one; rows of a validation or completions table) and the row that is chosen.

    Args:
        counts: how many boards of which kind, for the line below the list.
    """
    shown = rows.head(MOST_BOARDS)
    table = pd.DataFrame(
        {
            "map": [size_label(n) for n in shown["size"]],
            "agents": shown["agents"].to_numpy(),
            "outcome": [OUTCOMES[name].label for name in shown["outcome"]],
            "steps": shown["makespan"].to_numpy(),
            "optimum": shown["optimal_makespan"].to_numpy(),
        }
    )
    chosen = st.dataframe(
        table,
        key=key,
        hide_index=True,
        height=height,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [0]}},
        placeholder="–",
        alt="Boards with their outcome",
    )
    st.caption(counts + (f", the first {MOST_BOARDS} listed" if len(rows) > MOST_BOARDS else "") + ".")
    picked = chosen["selection"]["rows"]
    return shown.iloc[picked[0] if picked else 0]


def show_board(
    row: pd.Series, label: str, before: pd.DataFrame | None, before_label: str, *, key: str, height: int = 430, autoplay: bool = False
) -> None:
    """The plan of one row, its fault marked, with the optimal plan; on demand also the plan that the table ``before`` has for the board."""
    board = Board.from_dict(json.loads(row["board"]))
    code = share.encode(board)
    best = optimal_paths(code)
    tracks = [answer_of(row, label)]
    earlier = before[before["board_id"] == row["board_id"]] if before is not None else None
    title, option, link = st.columns([2.2, 1.3, 1], vertical_alignment="center")
    what = f"{size_label(row['size'])}, {row['agents']} agents, {100 * row['hole_ratio']:.0f} % holes"
    title.markdown(f"**{markup.plain(str(row['board_id']))}** · {what}")
    if earlier is not None:
        compare = option.toggle(
            "Also before", key=f"{key}-before", disabled=earlier.empty, help="Shows the plan from before this stage next to it."
        )
        if compare and len(earlier):
            tracks.insert(0, answer_of(earlier.iloc[0], before_label))
    link.page_link(nav.path("play"), label="Play this board", query_params={"board": code})
    if best is not None:
        tracks.append(Track("optimal plan", best, judge_paths(board, best, int(row["optimal_makespan"]))))
    board_player(board, tracks, key=key, ghost=best, height=height, autoplay=autoplay)
    with st.expander("The model's answer, word by word"):
        st.code(row["completion"] or " ", language=None, wrap_lines=True)
