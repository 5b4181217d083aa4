"""Two sides at work, side by side; then the score, and the scoreboard of all entries."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import median

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.contests.form import task_name
from frozenlab.app.ui import markup, sessions, theme
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
from frozenlab.experiments.contests.worker import TRAINED_AT_ONCE
from frozenlab.session.state import PHASE_WORDS

SMOOTH = 5
"""Steps of the running mean of a curve."""
COLORS = {"person": AFTER_COLOR, "engineer": REWARD_COLOR}
AA_NOISE = (
    "The intervals are over boards; another seed of training alone moves a gain by about 2 points more (measured for docs/instrument.md)."
)


def race(contest: Contest, own: Sequence[int]) -> None:
    """The newest own entry against the engineer's; the scores first, once both have theirs. A screen that only watches shows the class."""
    entries = contest.entries
    people = [one for one in reversed(entries) if one.kind == "person"]
    person = next((one for one in people if one.number in own), next(iter(people), None))
    engineer = next((one for one in entries if one.kind == "engineer"), None)
    if person is None or engineer is None:
        st.info("No entries yet.")
        return
    pair = (person, engineer)
    standing = {one.number: contest.standing(one.number) for one in entries}
    done = [one for one in ([person] if own else people) if standing[one.number] == "done"]
    if done and standing[engineer.number] == "done":
        gain(contest, done, engineer)
        if own:
            verdict(contest, person, engineer)
        scoreboard(contest, hide_oracle=any(standing[one.number] in ("waits", "trains") for one in entries if one.kind == "oracle"))
    st.subheader("Side by side", anchor=False)
    theme.chart(curves(contest, pair), "contest-curves")
    st.caption("Each side trains on tasks of its own choice, so these curves are no score: hard tasks begin low.")
    for one, place in zip(pair, st.columns(2, gap="large"), strict=True):
        with place:
            side_view(contest, one)
    queue(contest)


def gain(contest: Contest, people: Sequence[Entry], engineer: Entry) -> None:
    """What became of the weak kind of task: by one's own choice, or by those of a class."""
    before = by_cell(contest, None)
    cell = contest.spec.weak[0] if contest.spec.weak else min(before, key=before.__getitem__)
    after = {label_of(one, contest.entries): by_cell(contest, one.number)[cell] for one in people}
    best = max(after, key=after.__getitem__)
    gained = between(contest, people[0].number, None, cell)
    assert gained is not None, "all of them have their scores"
    if len(people) == 1:
        whose, note = f"after {best}'s choice", f"{gained.points}, n = {gained.n} tasks."
    else:
        whose, note = f"on average after {len(people)} choices", f"Most after {best}'s: {percent(after[best])}. n = {gained.n} tasks each."
    rate = percent(by_cell(contest, engineer.number)[cell])
    st.html(
        f'<p class="fl-answer"><b>{escape(task_name(cell))}: {percent(before[cell])} → {percent(sum(after.values()) / len(after))}</b> '
        f'{escape(whose)}</p><p class="fl-note">Solved tasks of its weak kind, before and after training. {escape(note)} After the '
        f"engineer's choice: {rate}.</p>"
    )


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
        words += f" · about {sessions.duration(state.seconds_left)} left" if state.seconds_left is not None else ""
        st.progress(min(max(state.progress, 0.0), 1.0), text=words)
    record = side.proposal(None)
    if record is not None:
        used = record.config_after.cells
        st.caption("Trains on " + "; ".join(f"{task_name(cell)} {share(used[cell].share)}" for cell in in_order(used)) + ".")
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
        *((task_name(name), "Points gained on these boards alone") for name in cells), ("why", ""),
    ]  # fmt: skip
    rows = [score_row(score, by_cell(contest, score.entry.number), before) for score in found]
    st.html(markup.table("Scoreboard", head, rows, kind="fl-oneline", numbers=("gain", *map(task_name, cells))))
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
    """Who trains and who waits, in the order of their turns, for a class; and about when, once an entry has been trained."""
    entries = [one for one in contest.entries if one.kind != "oracle"]
    training = [label_of(one, entries) for one in entries if contest.standing(one.number) == "trains"]
    waiting = [label_of(one, entries) for one in contest.waiting() if one.kind != "oracle"]
    if training:
        st.caption(f"In training: {', '.join(map(markup.plain, training))}.")
    if waiting:
        lasts = typical_duration(contest)
        last = -(-len(waiting) // TRAINED_AT_ONCE)
        when = f" The last begins in about {sessions.duration(last * lasts)}." if lasts else ""
        st.caption(f"In the queue: {', '.join(map(markup.plain, waiting))}.{when}")


def typical_duration(contest: Contest) -> float | None:
    """The median seconds that the entries so far have trained and been measured; None before the first."""
    states = [side.state() for one in contest.entries if (side := contest.side(one.number))]
    return median(took) if (took := [one.finished - one.started for one in states if one.finished and one.started]) else None
