"""The lake's view: boards in a list, and plans in the player next to the optimal plan."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import ceil
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app.ui import markup, nav, theme
from frozenlab.app.ui.figures import Series, size_label
from frozenlab.app.views.lake import drawing, player, share
from frozenlab.app.views.lake.pictures import board_svg
from frozenlab.app.views.lake.player import board_player, played
from frozenlab.app.views.lake.preparing import optimal_paths
from frozenlab.app.views.lake.tracks import Track, begun, plain_track, recorded, showcase
from frozenlab.app.views.view import Player, Shown, View, word_by_word
from frozenlab.base.numbers import percent
from frozenlab.lake.board import Board, read_board
from frozenlab.lake.rules import judge, judge_paths, walk
from frozenlab.tasks.lake.words import OUTCOMES

ALONE, BEFORE, EVERY = "this stage", "also before", "every stage"
CROSSING = read_board("F s F\nS F G\nF g F")
CROSSING_PLANS = [("both go at once", ("RR", "DD")), ("agent 1 waits", ("RR", "WDD"))]
BEST = 3
"""Steps of the optimal plan on CROSSING."""
ON_STAGE = {"optimal": "no plan is faster", "suboptimal": "valid, could be faster"}
"""Outcome -> what its badge says to a room."""
MUST_WAIT = {True: "yes", False: "no", None: "unknown"}
"""Whether a board must wait, if that is known -> in a word."""


def board_facts(board: Board, makespan: str, costs: str, waits: str) -> None:
    """Figures of a board: its size, team and holes, its best makespan and sum of costs, and whether it must wait."""
    theme.facts(
        [
            (f"{board.height}×{board.width}", "map", "Rows and columns"),
            (f"{board.num_agents:,}", "agent" if board.num_agents == 1 else "agents", "They all move at once: one cell or a WAIT a step"),
            (percent(board.hole_ratio), "holes", f"{len(board.holes):,} of {board.height * board.width:,} cells"),
            (makespan, "best makespan", "The fewest steps after which all agents can be on their goals for good"),
            (costs, "best sum of costs", "The smallest sum of the steps at which the agents arrive for good"),
            (waits, "must wait if optimal", "Whether every plan of the best makespan makes an agent wait on its way"),
        ]
    )


def cheaper_than_last(tracks: Sequence[Track]) -> bool:
    """Whether some valid plan has a smaller sum of costs than the last one, which is optimal in its steps."""
    *others, optimal = [track.verdict.sum_of_costs for track in tracks if track.verdict is not None and track.verdict.valid]
    assert optimal is not None
    return any(costs is not None and costs < optimal for costs in others)


class LakeView(View):
    """Boards drawn, plans played."""

    player = Player(player.CODE, player.HTML, drawing.STYLE)
    idea = "A language model plans for several agents on a frozen lake. Each must reach its goal, avoid the holes, and never meet another."

    def rules(self) -> None:
        st.header("The rules of a board", anchor="rules")
        crossing()
        st.markdown(
            "**What can go wrong.** Only the first fault counts: the one at the earliest step. Every chart uses these words and colours."
        )
        st.html(self.rules_table())

    def columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "map": [size_label(n) for n in rows["size"]],
                "agents": rows["agents"].to_numpy(),
                "outcome": [OUTCOMES[name].label for name in rows["outcome"]],
                "steps": rows["makespan"].to_numpy(),
                "optimum": rows["optimal_makespan"].to_numpy(),
            }
        )

    def in_order(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Small boards first."""
        return rows.sort_values(["size", "agents"], kind="stable")

    def showcase(self, before: pd.DataFrame, after: pd.DataFrame) -> str | None:
        return showcase(before, after)

    def play(self, shown: Sequence[Shown], *, key: str, height: int, autoplay: bool = False) -> None:
        board = Board.from_dict(json.loads(shown[0].row["board"]))
        board_player(board, [recorded(*answer) for answer in shown], key=key, height=height, autoplay=autoplay, loop=autoplay)

    def plain(self, shown: Sequence[Shown]) -> dict[str, Any]:
        board = Board.from_dict(json.loads(shown[0].row["board"]))
        plays = played(board, [begun(recorded(*answer)) for answer in shown])
        for track in plays["tracks"]:  # a room sees the cell ringed, and no axes to find it by
            track["badge"] = ON_STAGE.get(track["outcome"], track["badge"])
            caption = re.sub(r" (at|for) \(.*?\)|; agent \d+ enters \(.*?\)", "", track["caption"])
            track["caption"] = re.sub(r"\bon \(.*?\)", "on one cell", caption)
        return plays

    def still(self, row: pd.Series) -> dict[str, Any]:
        answer = recorded(row, "")
        track = plain_track(answer.board, answer)
        paths, fault = track["paths"], track["fault"]
        if fault:
            paths = tuple(path[: ceil(fault["time"]) + 1] for path in paths)
        return {"svg": board_svg(answer.board, paths, size=160, rings=fault["marks"] if fault else ())}

    def address_of(self, row: pd.Series) -> dict[str, str]:
        return {"board": share.encode(Board.from_dict(json.loads(row["board"])))}

    def show(
        self, shown: Shown, before: Series | None, *, key: str, every: Sequence[Series] = (), height: int = 430, autoplay: bool = False
    ) -> None:
        """A plan, its fault marked, with the optimal plan; on demand also the plan of an earlier moment, or those of all moments."""
        row = shown.row
        board = Board.from_dict(json.loads(row["board"]))
        code = share.encode(board)
        best = optimal_paths(code)
        tracks: list[Track] = [recorded(*shown)]
        choices = {ALONE: [], BEFORE: [shown.at(before)], EVERY: [shown.at(moment) for moment in every]}
        title, option, link = st.columns([1.7, 1.8, 0.8], vertical_alignment="center")
        what = f"{size_label(row['size'])}, {row['agents']} agents, {100 * row['hole_ratio']:.0f} % holes"
        title.markdown(f"**{markup.plain(str(row['board_id']))}** · {what}")
        offered = [name for name, others in choices.items() if name == ALONE or any(others)]
        if len(offered) > 1:
            wanted = option.segmented_control(
                "Plans", offered, default=ALONE, required=True, key=f"{key}-plans", label_visibility="collapsed",
                help="Plans of other moments for the same board, in lockstep.",
            )  # fmt: skip
            others: list[Track] = [recorded(*other) for other in choices[wanted] if other is not None]
            tracks = others if wanted == EVERY else [*others, *tracks]
        link.page_link(nav.path("play"), label="Play this board", query_params={"board": code})
        if best is not None:
            tracks.append(Track("optimal plan", best, judge_paths(board, best, int(row["optimal_makespan"]))))
        board_player(board, tracks, key=key, ghost=best, height=height, autoplay=autoplay)
        if best is not None and cheaper_than_last(tracks):
            st.caption("The optimal plan takes the fewest steps. Its sum of costs need not be the smallest: here another plan is cheaper.")
        word_by_word(row)


def crossing() -> None:
    """The rules next to a collision on CROSSING and the plan that avoids it."""
    words, boards = st.columns([1, 1.3], gap="large", vertical_alignment="center")
    words.markdown(
        "- Each agent (a disc) has a goal: the square with its number.\n"
        "- All agents move at the same time. In one step each goes to a neighbouring cell, or waits.\n"
        "- An agent on its goal still blocks the cell. It may leave it again, but must be there at the end.\n"
        "- On some boards cells have an *arrow*, the only way to leave them, or are a *door*, which opens only for the agent with its "
        "number.\n"
        "- A plan is **valid** if every agent ends on its goal and nothing below goes wrong. It is **optimal** if no valid plan has fewer "
        "steps; the exact solver proves that.\n\n"
        "On this board both agents want the cell in the middle. At the left they collide; at the right one of them waits for a step."
    )
    tracks = [Track(label, walk(CROSSING, plan), judge(CROSSING, plan, BEST)) for label, plan in CROSSING_PLANS]
    with boards:
        board_player(CROSSING, tracks, key="help-board", height=260, autoplay=True, loop=True)
