"""The score and two sides at work, side by side; and a whole class as a race of bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.contests.form import when
from frozenlab.app.contests.kinds import task_name, titled
from frozenlab.app.ui import markup, sessions, theme
from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.figures import AFTER_COLOR, REWARD_COLOR, Chart, common_layout, overall_by_cell, percent_axis
from frozenlab.app.ui.glossary import note
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import percent, share, signed
from frozenlab.experiments.contests.scores import Score, answers, between, by_cell, label_of, scores, table_of
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import Entry
from frozenlab.session.state import PHASE_WORDS

SMOOTH = 5
"""Steps of the running mean of a curve."""
COLORS = {"person": AFTER_COLOR, "engineer": REWARD_COLOR}
AA_NOISE = (
    "The intervals are over boards; another seed of training alone moves a gain by about 2 points more (measured for docs/instrument.md)."
)


Turns = Mapping[int, float]
"""What :meth:`Contest.begins` says; asked once for a page."""

_bars = component(__file__, "bars", '<ol class="bars"></ol>', code=NODES)


def race(contest: Contest, own: Sequence[int]) -> None:
    """The newest own entry against the engineer's: first what it gained, then the duel and what was possible, once there are scores."""
    entries = contest.entries
    person = next(one for one in reversed(entries) if one.number in own)
    engineer = next(one for one in entries if one.kind == "engineer")
    standing = {one.number: contest.standing(one.number) for one in entries}
    if standing[person.number] == "done":
        gain(contest, [person])
        guessed(contest, person)
        if standing[engineer.number] == "done":
            verdict(contest, person, engineer)
            possible(contest)
            scoreboard(contest)
    pair, turns = (person, engineer), contest.begins(contest.rounds)
    st.header("Side by side", anchor=False)
    for one, place in zip(pair, st.columns(2, gap="large"), strict=True):
        with place:
            side_view(contest, one, turns)
    theme.chart(curves(contest, pair), "contest-curves")
    st.caption("Each side trains on tasks of its own choice, so these curves are no score: hard tasks begin low.")
    queue(contest, turns)


def class_race(contest: Contest) -> None:
    """All of a class, for a projector: nothing tells the weak kind or what the engineer gained before all others have their scores."""
    entries = [one for one in contest.entries if one.kind != "oracle"]
    people = [one for one in entries if one.kind == "person"]
    if not people:
        st.info("No entries yet.")
        return
    standing = {one.number: contest.standing(one.number) for one in entries}
    over = all(standing[one.number] in ("done", "failed") for one in people)
    done = [one for one in people if standing[one.number] == "done"]
    if done:
        gain(contest, done, named=over)
    table = answers(contest, None)
    assert table is not None, "a contest that is open has been measured"
    before = overall_by_cell(table)[weak_kind(contest)]
    turns = contest.begins(contest.rounds)
    rows = sorted((bar(contest, one, turns, hidden=one.kind == "engineer" and not over) for one in entries), key=in_the_race)
    _bars(key="contest-bars", data={"before": before.value, "label": "The class, the best on top", "rows": rows}, height="content")
    st.caption(
        f"A bar is the share of right answers at the kind that it was taught wrong, {before.n} tasks each. The dashed line is "
        f"{before.percent}, before training. A thin bar still trains."
    )
    queue(contest, turns)
    if over and all(one == "done" for one in standing.values()):
        possible(contest)
        scoreboard(contest)


def bar(contest: Contest, one: Entry, turns: Turns, hidden: bool) -> dict[str, Any]:
    """An entry as ``bars.js`` draws it."""
    standing, side = contest.standing(one.number), contest.side(one.number)
    row: dict[str, Any] = {
        "id": one.number,
        "name": label_of(one, contest.entries),
        "kind": one.kind,
        "done": False,
        "value": "",
        "note": "",
    }
    if hidden:
        return row | {"at": None, "value": "?", "note": "shown at the end"}
    if standing == "done":
        table = answers(contest, one.number)
        assert table is not None, "an entry that is done has a score"
        rate = overall_by_cell(table)[weak_kind(contest)]
        return row | {"at": rate.value, "done": True, "value": rate.percent, "note": rate.percents}
    if standing == "failed":
        return row | {"at": 0.0, "note": "could not be trained"}
    at = side.state().progress if side is not None and standing == "trains" else 0.0
    wait = "" if standing == "trains" else begins(turns, one)
    return row | {"at": min(max(at, 0.0), 1.0), "note": f"trains, {percent(at)}" if standing == "trains" else f"waits{wait}"}


def in_the_race(row: dict[str, Any]) -> tuple[bool, bool, float, int]:
    """Those with a score first, the best on top, then the others as far as they are; who is hidden comes last."""
    return row["at"] is None, not row["done"], -(row["at"] or 0.0), row["id"]


def weak_kind(contest: Contest) -> str:
    """The planted weakness; in old contests, which had none, what it fails most."""
    before = by_cell(contest, None)
    return contest.spec.weak[0] if contest.spec.weak else min(before, key=before.__getitem__)


def gain(contest: Contest, people: Sequence[Entry], named: bool = True) -> None:
    """What became of the weak kind of task: by one's own choice, or by those of a class. The headline."""
    cell = weak_kind(contest)
    before = by_cell(contest, None)[cell]
    after = {label_of(one, contest.entries): by_cell(contest, one.number)[cell] for one in people}
    best = max(after, key=after.__getitem__)
    gained = between(contest, people[0].number, None, cell)
    assert gained is not None, "all of them have their scores"
    if len(people) == 1:
        note = f"before and after training on {best}'s choice: {gained.points}, n = {gained.n:,} tasks that no side trained on."
    else:
        note = f"before and after training, on average after {len(people)} choices. Most after {best}'s: {percent(after[best])}. "
        note += f"n = {gained.n:,} tasks each, which no side trained on."
    kind = task_name(cell) if named else "the kind of task that it was taught wrong"
    st.html(
        f'<p class="fl-big">{escape(titled(cell)[0]) + ": " if named else ""}<span style="white-space:nowrap">{percent(before)}'
        f'<span class="arrow">→</span><span class="to">{percent(sum(after.values()) / len(after))}</span></span></p>'
        f'<p class="fl-note">Right answers at {escape(kind)}, {escape(note)}</p>'
    )


def guessed(contest: Contest, person: Entry) -> None:
    """What the person had thought that the student was taught wrong."""
    if person.guess is None or not contest.spec.weak:
        return
    right = person.guess in contest.spec.weak
    truth = "which is right" if right else f"but it was {task_name(weak_kind(contest))}"
    st.html(f'<p class="fl-note">You guessed <b>{escape(task_name(person.guess))}</b>, {escape(truth)}.</p>')


def verdict(contest: Contest, person: Entry, engineer: Entry) -> None:
    """Who won, with the interval of the difference."""
    found = between(contest, person.number, engineer.number)
    if found is None:
        return
    cell = weak_kind(contest)
    kind, rate = escape(titled(cell)[0]), percent(by_cell(contest, engineer.number)[cell])
    name = escape(label_of(person, contest.entries))
    by = (found if found.value > 0 else -found).points.replace("+", "")
    note = "That is more than chance explains on these tasks." if found.clear else "Chance could explain the difference."
    if not found.clear:
        words = f"<b>Level.</b> {name} and the engineer differ by {found.points}."
    elif found.value > 0:
        words = f"<b>{name} beat the engineer</b> by {by}."
    else:
        words = f"<b>The engineer won</b>: {name} is behind by {by}."
    markup.answer(
        words,
        f"{note} Points are per cent of right answers to the same {found.n} tasks of all kinds, which no side trained on; 95 % intervals. "
        f"{kind} after the engineer's choice: {rate}. {AA_NOISE}",
    )


def possible(contest: Contest) -> None:
    """What one who knows the planted weakness gained."""
    oracle = next((score for score in scores(contest) if score.entry.kind == "oracle"), None)
    if oracle is None:
        if any(entry.kind == "oracle" and contest.standing(entry.number) != "failed" for entry in contest.entries):
            st.html('<p class="fl-note"><b>What was possible:</b> the oracle, who knows the planted weakness, still trains.</p>')
        return
    cell, n = weak_kind(contest), oracle.gain.n
    rate = percent(by_cell(contest, oracle.entry.number)[cell])
    st.html(
        '<p class="fl-note"><b>What was possible:</b> the oracle knew the planted weakness and gave it nearly all of the practice. '
        f"{escape(titled(cell)[0])}: {rate}; all kinds: {oracle.gain.points}, n = {n:,}. It is no upper bound: what helps the weak kind of "
        "task may cost the others.</p>"
    )


def side_view(contest: Contest, one: Entry, turns: Turns) -> None:
    """One side: where it is, what it trains on, and a task that it tried last."""
    side, name = contest.side(one.number), label_of(one, contest.entries)
    st.markdown(f"**{markup.plain(name)}**" + (f": {markup.plain(one.why)}" if one.why else ""))
    if side is None:
        st.progress(0.0, text="waits for its turn" + begins(turns, one, ", which comes"))
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
        st.caption("Its practice: " + ", ".join(f"{titled(cell)[0]} {share(used[cell].share)}" for cell in in_order(used)) + ".")
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
    percent_axis(figure, "valid while training")
    common_layout(figure, height=240)
    figure.update_layout(showlegend=True)
    return Chart(figure, "Valid plans while training, each side on its own tasks: " + ("; ".join(words) or "nothing yet") + ".")


def scoreboard(contest: Contest) -> None:
    """All entries by points, and the gain of each on each kind of task."""
    st.header("Scoreboard", anchor=False)
    found = scores(contest)
    before = by_cell(contest, None)
    cells = in_order(before)
    head = [
        ("", ""), ("gain", "Points of right answers to the same tasks, after training less before"), ("against the best", ""),
        *((titled(name)[0], f"Points gained at {task_name(name)} alone") for name in cells), ("why", ""),
    ]  # fmt: skip
    rows = [score_row(score, by_cell(contest, score.entry.number), before) for score in found]
    st.html(markup.table("Scoreboard", head, rows, kind="fl-oneline", numbers=("gain", *(titled(name)[0] for name in cells))))
    note(f"95 % intervals over {found[0].gain.n if found else 0} pairs of answers to the same tasks.")
    st.download_button(
        "Scoreboard as CSV", lambda: as_csv(table_of(contest)).encode("utf-8-sig"), f"{contest.id}.csv", "text/csv", key="contest-csv",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def score_row(score: Score, after: dict[str, float], before: dict[str, float]) -> list[str]:
    gain = f"<b>{score.gain.signed}</b> <small>({score.gain.bounds})</small>"
    by_cell = (signed(after[name] - before[name]) for name in in_order(before))
    return [escape(score.label), gain, escape(score.place), *by_cell, escape(score.entry.why)]


def queue(contest: Contest, turns: Turns) -> None:
    """Who trains and who waits, in the order of their turns, and about when the last begins."""
    entries = [one for one in contest.entries if one.kind != "oracle"]
    training = [label_of(one, entries) for one in entries if contest.standing(one.number) == "trains"]
    waiting = [one for one in contest.waiting() if one.kind != "oracle"]
    if training:
        st.caption(f"In training: {', '.join(map(markup.plain, training))}.")
    if waiting:
        names = ", ".join(markup.plain(label_of(one, entries)) for one in waiting)
        last = begins(turns, waiting[-1], " The last begins")
        st.caption(f"In the queue: {names}.{last and f'{last}.'}")


def begins(turns: Turns, one: Entry, words: str = ", begins") -> str:
    """About when the training of an entry that waits begins; empty while no round has shown how long it takes."""
    seconds = turns.get(one.number)
    return "" if seconds is None else f"{words} {when(seconds)}"
