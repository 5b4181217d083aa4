"""Countdown's view: numbers and target, and the steps of each answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from frozenlab.app.ui.figures import Series
from frozenlab.app.views.countdown.card import answer_card, chain_of, written
from frozenlab.app.views.view import Shown, View
from frozenlab.tasks.countdown.steps import shortest_chains
from frozenlab.tasks.countdown.words import OUTCOMES

EXAMPLE = pd.Series({"numbers": "[3, 7, 12]", "target": 33, "optimal_steps": 2, "completion": ""})
"""A task for the rules; answers to it follow."""
RIGHT = {"steps": '[[7, "*", 3, 21], [21, "+", 12, 33]]', "outcome": "optimal"}
WRONG = {"steps": '[[7, "*", 3, 21], [21, "+", 7, 28]]', "outcome": "used_twice"}


class CountdownView(View):
    """Answers as chains of steps."""

    def rules(self) -> None:
        st.subheader("The rules of Countdown", anchor="rules-countdown")
        words, cards = st.columns([1, 1.3], gap="large", vertical_alignment="center")
        words.markdown(
            "- A task is a few numbers and a target.\n"
            "- A step adds, subtracts or multiplies two numbers: those of the list, or results of earlier steps.\n"
            "- Every number and every result is used at most once; not all have to be used.\n"
            "- An answer is **valid** if its last result is the target and nothing below goes wrong. It is **optimal** if no valid answer "
            "has fewer steps; trying out all steps proves that."
        )
        with cards:
            for place, label, answer in zip(st.columns(2), ("7 is used twice", "two steps are enough"), (WRONG, RIGHT), strict=True):
                place.html(answer_card(pd.concat([EXAMPLE, pd.Series(answer)]), label))
        st.markdown("**What can go wrong.** Only the first fault counts. Every chart uses these words and colours.")
        st.html(self.rules_table())

    def columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "numbers": [", ".join(map(str, json.loads(numbers))) for numbers in rows["numbers"]],
                "target": rows["target"].to_numpy(),
                "outcome": [OUTCOMES[name].label for name in rows["outcome"]],
                "steps": [len(chain_of(row)) or None for _, row in rows.iterrows()],
                "optimum": rows["optimal_steps"].to_numpy(),
            }
        )

    def play(self, shown: Sequence[Shown], *, key: str, height: int, autoplay: bool = False) -> None:
        for answer, place in zip(shown, st.columns(len(shown)), strict=True):
            place.html(answer_card(answer.row, answer.label))

    def show(
        self, shown: Shown, before: Series | None, *, key: str, every: Sequence[Series] = (), height: int = 430, autoplay: bool = False
    ) -> None:
        """An answer next to the earlier one, with the shortest ways on demand."""
        super().show(shown, before, key=key, every=every, height=height, autoplay=autoplay)
        ways = shortest_chains(tuple(json.loads(shown.row["numbers"])), int(shown.row["target"]))
        with st.expander(f"The shortest way{'s' if len(ways) > 1 else ''} ({len(ways)})"):
            st.text("\n".join(",  ".join(map(written, way)) for way in ways))
        with st.expander("The model's answer, word by word"):
            st.code(shown.row["completion"] or " ", language=None, wrap_lines=True)
