"""Two sides at work, side by side; then the score, and the scoreboard of all entries."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.figures import AFTER_COLOR, REWARD_COLOR, Chart, common_layout, percent_axis
from frozenlab.app.ui.glossary import note
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import percent, share, signed
from frozenlab.experiments.contests.scores import Score, between, by_cell, label_of, scores, table_of
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import Entry
from frozenlab.session.state import PHASE_WORDS
from frozenlab.tasks.families import cell_label

SMOOTH = 5
"""Steps of the running mean of a curve."""
COLORS = {"person": AFTER_COLOR, "engineer": REWARD_COLOR}
AA_NOISE = (
    "The intervals are over boards; another seed of training alone moves a gain by about 2 points more (measured for docs/instrument.md)."
)


def race(contest: Contest, own: Sequence[int]) -> None:
    """The newest own entry (of a screen that only watches: the newest of all) against the engineer's; the scores
    first, once both have theirs."""
    entries = contest.entries
    people = [one for one in reversed(entries) if one.kind == "person"]
    person = next((one for one in people if one.number in own), next(iter(people), None))
    engineer = next((one for one in entries if one.kind == "engineer"), None)
    if person is None or engineer is None:
        st.info("No entries yet.")
        return
    pair = (person, engineer)
    standing = {one.number: contest.standing(one.number) for one in entries}
    if all(standing[one.number] == "done" for one in pair):
        verdict(contest, person, engineer)
        scoreboard(contest, hide_oracle=any(standing[one.number] in ("waits", "trains") for one in entries if one.kind == "oracle"))
    st.subheader("Side by side", anchor=False)
    theme.chart(curves(contest, pair), "contest-curves")
    st.caption("Each side trains on tasks of its own choice, so these curves are no score: hard tasks begin low.")
    for one, place in zip(pair, st.columns(2, gap="large"), strict=True):
        with place:
            side_view(contest, one)
    queue(contest)


def verdict(contest: Contest, person: Entry, engineer: Entry) -> None:
    """Who won, with the interval of the difference."""
    found = between(contest, person.number, engineer.number)
    if found is None:
        return
    name = markup.plain(label_of(person, contest.entries))
    note = "That is more than chance explains on these boards." if found.clear else "Chance could explain the difference."
    if not found.clear:
        words = f"<b>Level.</b> {escape(name)} and the engineer differ by {found.points}."
    elif found.value > 0:
        words = f"<b>{escape(name)} beat the engineer</b> by {found.points}."
    else:
        words = f"<b>The engineer won</b>: {escape(name)} is behind by {(-found).points}."
    st.html(
        f'<p class="fl-answer">{words}</p><p class="fl-note">{note} Points are per cent of valid plans on the same {found.n} boards, '
        f"which no side trained on; 95 % intervals. {AA_NOISE}</p>"
    )


def side_view(contest: Contest, one: Entry) -> None:
    """One side: where it is, what it trains on, and a task that it tried last."""
    side, name = contest.side(one.number), label_of(one, contest.entries)
    st.markdown(f"**{markup.plain(name)}**" + (f": {markup.plain(one.why)}" if one.why else ""))
    if side is None:
        st.progress(0.0, text="waits for its turn")
        return
    state = side.state()
    if state.status == "failed":
        st.error(markup.plain(f"It could not be trained: {state.error or 'no reason given'}."))
        return
    if state.status != "done":
        words = PHASE_WORDS[state.phase] + (f", step {state.step} of {state.steps}" if state.phase == "training" else "")
        st.progress(min(max(state.progress, 0.0), 1.0), text=words)
    record = side.proposal(None)
    if record is not None:
        used = record.config_after.cells
        st.caption("Trains on " + ", ".join(f"{cell_label(cell)} {share(used[cell].share)}" for cell in in_order(used)) + ".")
    before, after = side.test(None), side.test(0)
    if after is not None and before is not None:
        view = view_of(side.spec.tasks)
        chosen = view.showcase(before, after)
        if chosen is not None:
            row = after[after["board_id"] == chosen].iloc[0]
            view.play([Shown(row, "failed before, solved now")], key=f"contest-board-{one.kind}", height=240)
    elif (sampled := side.completions(0)) is not None and len(sampled):
        row = sampled.iloc[-1]
        shown = Shown(row, f"step {int(row['training_step'])}")
        view_of(side.spec.tasks).play([shown], key=f"contest-board-{one.kind}", height=240, autoplay=True)
    if one.kind == "engineer" and record is not None and record.proposal is not None:
        with st.expander("Why the engineer chose this"):
            for claim in record.proposal.claims:
                st.html(f'<p class="fl-said">{escape(claim.text)}</p>')


def curves(contest: Contest, pair: Sequence[Entry]) -> Chart:
    """The valid rate of the sampled plans of each side while it trains. What a side trains on differs, so the curves are no score."""
    figure, words = go.Figure(), []
    steps = contest.spec.session.training.steps
    for one in pair:
        side, name = contest.side(one.number), label_of(one, contest.entries)
        metrics = None if side is None else side.metrics(0)
        if metrics is None or metrics.empty:
            continue
        rate = metrics["valid"].rolling(SMOOTH, min_periods=1).mean()
        figure.add_trace(
            go.Scatter(
                x=metrics["step"], y=rate, mode="lines", name=name, line=dict(color=COLORS[one.kind], width=2.6),
                hovertemplate=f"{escape(name)}, step %{{x}}<br>%{{y:.0%}} of sampled plans valid<extra></extra>",
            )
        )  # fmt: skip
        words.append(f"{name} {percent(float(rate.iloc[-1]))} after {len(rate)} steps")
    figure.update_xaxes(range=[0, steps + 0.5], title_text="training step", showgrid=False)
    percent_axis(figure)
    figure.update_yaxes(title_text="valid while training")
    common_layout(figure, height=260, top=40)
    figure.update_layout(showlegend=True)
    return Chart(figure, "Valid plans while training, each side on its own tasks: " + ("; ".join(words) or "nothing yet") + ".")


def scoreboard(contest: Contest, hide_oracle: bool) -> None:
    """All entries by points, and the gain of each on each kind of task."""
    st.subheader("Scoreboard", anchor=False)
    found = [score for score in scores(contest) if not (score.entry.kind == "oracle" and hide_oracle)]
    before = by_cell(contest, None)
    cells = in_order(before)
    head = [
        ("", ""), ("gain", "Points of valid plans on the same boards, after training less before"), ("against the best", ""),
        *((cell_label(name), "Points gained on these boards alone") for name in cells), ("why", ""),
    ]  # fmt: skip
    rows = [score_row(score, by_cell(contest, score.entry.number), before) for score in found]
    st.html(markup.table("Scoreboard", head, rows, kind="fl-oneline", numbers=("gain", *map(cell_label, cells))))
    oracle = next((score for score in found if score.entry.kind == "oracle"), None)
    if oracle is not None:
        note(
            "What was possible: the oracle knew the planted weakness, gave it nearly all of the practice, and gained "
            f"{oracle.gain.points}. It is no upper bound: what helps the weak kind of task may cost the others."
        )
    elif contest.spec.weak:
        note("What was possible: the oracle, who knows the planted weakness, still trains.")
    note(f"95 % intervals over {found[0].gain.n if found else 0} pairs of answers to the same boards.")
    st.download_button(
        "Scoreboard as CSV", lambda: as_csv(table_of(contest)).encode("utf-8-sig"), f"{contest.id}.csv", "text/csv", key="contest-csv",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def score_row(score: Score, after: dict[str, float], before: dict[str, float]) -> list[str]:
    gain = f"<b>{score.gain.signed}</b> <small>({score.gain.bounds})</small>"
    by_cell = (signed(after[name] - before[name]) for name in in_order(before))
    return [escape(score.label), gain, escape(score.place), *by_cell, escape(score.entry.why)]


def queue(contest: Contest) -> None:
    """Who waits, in the order of their turns, for a class."""
    waiting = [label_of(one, contest.entries) for one in contest.waiting() if one.kind != "oracle"]
    if waiting:
        st.caption(f"In the queue: {', '.join(map(markup.plain, waiting))}.")
