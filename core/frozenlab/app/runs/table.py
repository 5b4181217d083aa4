"""The table of all runs: filters, columns to choose, and what can be done with the ones that are ticked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from html import escape
from statistics import fmean
from typing import Any, Literal, NamedTuple, TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pydantic import ValidationError

from frozenlab.app.bundles import export_button, import_button, imported_note, what_came
from frozenlab.app.runs.side_by_side import SEEDS_MEAN
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.figures import AFTER_COLOR, BAND_BLUE, BAND_GREY, BEFORE_COLOR, GRID_COLOR, Chart, common_layout, whiskers
from frozenlab.app.ui.sessions import origin_lines
from frozenlab.base.errors import LabError, cut, one_line
from frozenlab.base.files import no_formula
from frozenlab.base.numbers import Interval, decimals_of, number, percent, points
from frozenlab.engineer.engineers import name_of
from frozenlab.experiments.bundles.found import Found
from frozenlab.experiments.shelf import shelf
from frozenlab.models.training.methods import title_of
from frozenlab.session.catalog import Labels, Rated
from frozenlab.session.runs import ORDERS, Run, Wanted, over_seeds, pinned_first, runs, without_seed
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import OFFERED, SessionStore

Target = TypeVar("Target")
Deed = Literal["archived", "listed", "pinned", "unpinned", "deleted", "restored"]
WORDS: dict[Deed, str] = {
    "archived": "in the archive. Show, Archived runs too, lists them",
    "listed": "back in the lists",
    "pinned": "pinned: first in the table, and the baseline of comparisons",
    "unpinned": "not pinned any more",
    "deleted": "in the trash",
    "restored": "back",
}
LABELS: dict[Deed, tuple[str, bool, Deed]] = {
    "archived": ("archived", True, "listed"),
    "listed": ("archived", False, "archived"),
    "pinned": ("pinned", True, "unpinned"),
    "unpinned": ("pinned", False, "pinned"),
}
"""What a deed sets in the labels of a run, and the deed that takes it back."""
PIN = "📌 "
DONE = "runs_done"
"""Session-state entry: a :class:`Done`."""
FEWEST, MOST = 2, 12
"""Runs side by side."""
DRAWN = 12
"""Runs in the figure below the table."""
LONGEST = 30
"""Letters of a name in that figure."""
ROWS = 200
"""Rows that the browser gets at a time."""
USUAL = ("before", "curve", "after", "95 % interval", "n", "boards", "status", "engineer", "method", "began", "tags")
ERROR = "trash_error"
"""Session-state entry: why something could not be restored."""


class Done(NamedTuple):
    """What the last button did: with which sessions (id -> title), and why it was refused with others."""

    what: Deed
    titles: dict[str, str]
    refused: tuple[str, ...]


def interval(rate: Rated) -> Interval:
    return Interval.of(round(rate.valid * rate.n), rate.n)


def bounds(rate: Rated | None) -> str:
    return interval(rate).percents if rate else ""


def in_percent(rate: Rated | None) -> float | None:
    """A number, to be sorted by, with the decimals that it is shown with."""
    return float(number(100 * rate.valid, decimals_of(rate.n))) if rate else None


COLUMNS: dict[str, tuple[str, Callable[[Run], Any]]] = {
    "before": ("Valid rate before training", lambda run: in_percent(run.base)),
    "curve": ("Valid rates from before training on, up to 100 %; one axis for all rows", lambda run: [100 * rate for rate in run.curve]),
    "after": ("Valid rate after the last measured stage", lambda run: in_percent(run.last)),
    "95 % interval": ("Of the valid rate after the last measured stage", lambda run: bounds(run.last)),
    "n": ("Boards behind the valid rate", lambda run: run.last.n if run.last else None),
    "boards": ("Test boards, or the validation boards that the engineer sees: compare like with like", lambda run: run.boards),
    "status": ("What it is doing, and what goes wrong in it; Train says more", lambda run: run.standing),
    "engineer": ("Who redesigns the environment between the stages", lambda run: name_of(run.engineer)),
    "method": ("How it is trained", lambda run: title_of(run.method)),
    "family": ("The kind of task", lambda run: run.family),
    "stages": ("Stages of training", lambda run: run.stages),
    "seed": ("The same spec with the same seed draws the same boards", lambda run: run.seed),
    "began": ("When it began", lambda run: pd.Timestamp(run.began, unit="s").tz_localize("UTC")),
    "tags": ("Given by people", lambda run: [no_formula(tag) for tag in run.labels.tags]),
    "notes": ("Given by people", lambda run: run.labels.notes.replace("\n", " ")),
    "forked from": ("The run that it equals up to some stage", lambda run: run.parent),
    "archived": ("Whether lists leave it out", lambda run: run.labels.archived),
    "id": ("The name of its folder", lambda run: run.id),
}
"""Name -> help, and the value of a run; all but the run's name, which is always shown."""


def all_runs(store: SessionStore) -> None:
    every = runs(store.listed())
    if not every:
        what_was_done(every, store)
        sessions.nothing_yet("No run is here yet. The quick session takes under three minutes on two cores.")
        import_and_trash(store)
        return
    what_came()
    wanted, columns, together = filters(every)
    shown = pinned_first([run for run in every if wanted.keeps(run)])
    what_was_done(every, store)
    if not shown:
        st.info("No run fits these filters.")
    else:
        part = shown if len(shown) <= ROWS else one_page(shown, wanted)
        ticked = groups_table(part) if together else table(part, columns)
        count = f"{len(shown):,}" if len(shown) == len(every) else f"{len(shown):,} of {len(every):,}"
        hint = f", {len(ticked)} ticked." if ticked else ". Tick one to read its story, two or more to compare them."
        st.caption(f"{count} runs{hint}")
        if not ticked and sum(run.base is not None and run.last is not None for run in part) > 1:
            st.header("What training changed", anchor=False, help="Valid rates. They compare on the same boards only: tick runs for that.")
            theme.chart(before_and_after(part), "runs-change")
        actions([store.open(run.id) for run in ticked], [run.id for run in every if run.labels.pinned], store)
    import_and_trash(store)


def import_and_trash(store: SessionStore) -> None:
    with st.container(horizontal=True):
        import_button(store)
        trash(store)


def filters(every: Sequence[Run]) -> tuple[Wanted, list[str], bool]:
    """The controls above the table: which runs, which columns, and whether seeds stand together. All of them are part of the address."""
    text, status, engineer, tags, more = st.container(key="runs-filters").columns([1.6, 1, 1, 1, 0.7], vertical_alignment="bottom")
    words = text.text_input("Find", key="find", bind="query-params", placeholder="title, id, tag or note", icon=":material/search:")
    statuses = status.multiselect("Status", sorted({run.status for run in every}), key="status", bind="query-params", placeholder="any")
    engineers = engineer.multiselect(
        "Engineer", sorted({run.engineer for run in every}), key="engineer", bind="query-params", placeholder="any"
    )
    known = sorted({tag for run in every for tag in run.labels.tags})
    chosen = tags.multiselect("Tags", known, key="tags", bind="query-params", placeholder="all of these" if known else "none given yet")
    with more.popover("Show", icon=":material/tune:", width="stretch"):
        families = st.multiselect(
            "Kind of task", sorted({run.family for run in every}), key="family", bind="query-params", placeholder="any"
        )
        archived = st.toggle("Archived runs too", key="archived", bind="query-params")
        together = st.toggle(
            "Seeds together", key="together", bind="query-params",
            help="Runs that differ in nothing but title and seed are one row, with their mean.",
        )  # fmt: skip
        columns = st.multiselect("Columns", list(COLUMNS), default=list(USUAL), key="columns", bind="query-params")
    shown = [name for name in columns if known or name != "tags"]
    return Wanted(words, tuple(statuses), tuple(families), tuple(engineers), tuple(chosen), archived), shown, together


def one_page(shown: Sequence[Run], wanted: Wanted) -> list[Run]:
    """The ROWS of the page that the reader is on. Their order is that of all runs; a click on a head sorts those of the page."""
    order, pages, where = st.columns([1, 2.2, 1], vertical_alignment="bottom")
    by = order.selectbox("Order", list(ORDERS), key="order", bind="query-params")
    with pages.container(horizontal_alignment="center"):
        many = -(-len(shown) // ROWS)
        number = st.pagination(many, key=f"page-{hash((wanted, by, many))}")  # after another search, the first page
    first = ROWS * (number - 1)
    part = pinned_first(ORDERS[by](shown))[first : first + ROWS]
    where.caption(f"{first + 1:,} to {first + len(part):,} of {len(shown):,}", text_alignment="right")
    return part


def table(shown: Sequence[Run], columns: Sequence[str]) -> list[Run]:
    """The table, sorted by a click on a head; returns the runs that are ticked."""
    titles = [PIN * run.labels.pinned + no_formula(run.title) for run in shown]  # the table saves itself as CSV
    frame = pd.DataFrame({"run": titles} | {name: [COLUMNS[name][1](run) for run in shown] for name in columns})
    # Streamlit fades a pinned column: only where more columns are shown than usual, and so some out of sight.
    config: dict[str, Any] = {"run": st.column_config.TextColumn("run", width=230, pinned=len(columns) > len(USUAL))}
    config |= {name: st.column_config.Column(name, help=COLUMNS[name][0]) for name in columns}
    for name in ("before", "after"):
        config[name] = st.column_config.NumberColumn(name, help=COLUMNS[name][0], format=format_of(shown), width="small")
    lowest = min((rate for run in shown for rate in run.curve), default=0)
    config["curve"] = st.column_config.AreaChartColumn(
        "curve", help=COLUMNS["curve"][0], color=AFTER_COLOR, y_min=100 * min(lowest, 0.9), y_max=100
    )
    config["began"] = st.column_config.DatetimeColumn("began", help=COLUMNS["began"][0], format="distance")
    config["tags"] = st.column_config.ListColumn("tags", help=COLUMNS["tags"][0])
    return [shown[row] for row in ticked_rows(frame, config, ["run", *columns], tuple(run.id for run in shown))]


def before_and_after(shown: Sequence[Run]) -> Chart:
    """The valid rates of the DRAWN runs that gained most, a row a run: before training grey, after the last stage blue, each on its 95 %
    interval."""
    known = [(run, interval(run.base), interval(run.last)) for run in shown if run.base and run.last]
    gained = {run: (before, after) for run, before, after in sorted(known, key=lambda one: one[1].value - one[2].value)[:DRAWN]}
    rows, said = list(range(len(gained))), []
    ways = [(rate, place) for place, both in enumerate(gained.values()) for rate in (both[0].value, both[1].value, None)]
    figure = go.Figure(
        go.Scatter(
            x=[rate for rate, _ in ways], y=[place for _, place in ways], mode="lines", line=dict(color=AFTER_COLOR, width=2.5),
            hoverinfo="skip", showlegend=False,
        )
    )  # fmt: skip
    looks = (("before training", BEFORE_COLOR, BAND_GREY), ("after the last stage", AFTER_COLOR, BAND_BLUE))
    for moment, (words, color, around) in enumerate(looks):
        rates = [both[moment] for both in gained.values()]
        figure.add_scatter(
            x=[rate.value for rate in rates], y=rows, mode="markers", name=words, error_x=whiskers(rates, around, thickness=11, width=0),
            marker=dict(size=11, color=color),
            customdata=[[rate.percent, rate.percents, rate.n, run.boards] for run, rate in zip(gained, rates, strict=True)],
            hovertemplate="<b>%{customdata[0]}</b> valid (%{customdata[1]})<br>n = %{customdata[2]} %{customdata[3]} boards<extra></extra>",
        )  # fmt: skip
    for place, (run, (before, after)) in enumerate(gained.items()):
        gain = points(after.value - before.value, before.n)
        said.append(f"{run.title}: {gain}, n = {after.n:,}")
        words = f"{escape(cut(run.title, LONGEST))}  <b>{gain}</b>, n = {after.n:,}"
        figure.add_annotation(
            text=words, x=0, xref="paper", xanchor="left", y=place, yanchor="bottom", yshift=7, showarrow=False, font_size=13
        )
    common_layout(figure, height=48 * len(gained) + 50)
    figure.update_xaxes(title="valid plans on held-out boards", tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(range=[len(gained) - 0.5, -0.7], tickvals=rows, showticklabels=False, gridcolor=GRID_COLOR, zeroline=False)
    return Chart(figure, f"Change of the valid rate by training. {'; '.join(said)}.")


def format_of(shown: Sequence[Run]) -> str:
    """Of a column of rates, which has one for all."""
    return f"%.{min((decimals_of(run.last.n) for run in shown if run.last), default=0)}f %%"


def groups_table(shown: Sequence[Run]) -> list[Run]:
    """The same with a row for each group of seeds; returns the runs of the groups that are ticked."""
    groups = over_seeds(shown)
    frame = pd.DataFrame([group_row(group) for group in groups])
    config: dict[str, Any] = {"runs": st.column_config.TextColumn("runs", width="medium", pinned=True)}
    for name, when in (("before", "before training"), ("after", "after the last measured stage")):
        config[name] = st.column_config.NumberColumn(name, help=f"Mean over the seeds of the valid rates {when}", format=format_of(shown))
    config["lowest to highest"] = st.column_config.TextColumn(help="Of the valid rates after the last measured stage")
    ids = tuple(tuple(run.id for run in group) for group in groups)
    return [run for row in ticked_rows(frame, config, list(frame.columns), ids) for run in groups[row]]


def group_row(group: Sequence[Run]) -> dict[str, Any]:
    """What the table says of runs that differ in nothing but title and seed."""
    first, done = group[0], [run.last for run in group if run.last is not None]
    ends = sorted(done, key=lambda rate: rate.valid)
    row = {"runs": PIN * first.labels.pinned + no_formula(without_seed(first.title)), "seeds": len(group)}
    for name, rates in (("before", [run.base for run in group if run.base is not None]), ("after", done)):
        row[name] = float(number(100 * fmean(rate.valid for rate in rates), decimals_of(rates[0].n))) if rates else None
    row["lowest to highest"] = " to ".join(percent(rate.valid, rate.n) for rate in (ends[0], ends[-1])) if len(ends) > 1 else ""
    return row | {"measured": len(done), "engineer": name_of(first.engineer), "method": title_of(first.method), "stages": first.stages}


def ticked_rows(frame: pd.DataFrame, config: dict[str, Any], order: list[str], of: tuple[Any, ...]) -> list[int]:
    """Draws a table of what ``of`` names, and returns the rows that are ticked."""
    height, key = markup.table_height(len(frame), 420), f"runs-{hash(of)}"  # other rows, other ticks
    chosen = markup.grid(
        frame, key=key, column_config=config, column_order=order, height=height, on_select="rerun",
        selection_mode="multi-row", placeholder="–", alt=f"Table of {len(frame)} runs",
    )  # fmt: skip
    return [row for row in chosen["selection"]["rows"] if row < len(frame)]


def actions(ticked: Sequence[Session], pinned: Sequence[str], store: SessionStore) -> None:
    """What can be done with the ticked runs; ``pinned`` are the ids of those that comparisons begin with."""
    if not ticked:
        return
    every_archived, every_pinned = (all(getattr(session.labels, name) for session in ticked) for name in ("archived", "pinned"))
    with st.container(horizontal=True):
        if len(ticked) == 1:
            nav.button("Story", "story", query={"session": ticked[0].id}, key="open-story", type="primary", icon=":material/menu_book:")
            nav.button("Curves", "train", query={"session": ticked[0].id}, key="open-curves", icon=":material/show_chart:")
        compared = list(dict.fromkeys([*pinned, *(session.id for session in ticked)]))
        fits = FEWEST <= len(compared) <= MOST
        if st.button(
            "Compare", key="compare", type="primary" if fits else "secondary", icon=":material/compare_arrows:", disabled=not fits,
            help=("With what is pinned, as the baseline." if pinned else None) if fits else f"{FEWEST} to {MOST} runs side by side.",
        ):  # fmt: skip
            st.query_params["compare"] = ",".join(compared)
            st.session_state[SEEDS_MEAN] = bool(st.session_state.get("together"))
            st.rerun()
        pins = refusals.changes("The table shows it first, and every comparison begins with it.")
        if st.button("Unpin" if every_pinned else "Pin", key="pin", icon=":material/push_pin:", **pins):
            set_label("unpinned" if every_pinned else "pinned", ticked)
        archives = refusals.changes()
        if st.button("Take out of the archive" if every_archived else "Archive", key="archive", icon=":material/inventory_2:", **archives):
            set_label("listed" if every_archived else "archived", ticked)
        deletes = refusals.changes("Moves them to the trash; Undo brings them back.")
        if st.button("Delete", key="delete", icon=":material/delete:", **deletes):
            delete(ticked, store)
        export_button([Found("session", session.dir) for session in ticked], key="export")
    if len(ticked) == 1:
        one_run(ticked[0])


def set_label(what: Deed, ticked: Sequence[Session]) -> None:
    name, value, _ = LABELS[what]

    def label(session: Session) -> Session:
        shelf.label(session, session.labels.model_copy(update={name: value}))
        return session

    carry_out(what, label, ticked)


def delete(ticked: Sequence[Session], store: SessionStore) -> None:
    def discard(session: Session) -> Session:
        shelf.delete(session, store)
        return session

    # Forks first, so that a run and its forks can go together.
    carry_out("deleted", discard, sorted(ticked, key=lambda session: session.created, reverse=True))


def restore(ids: Sequence[str], store: SessionStore) -> None:
    carry_out("restored", lambda session_id: Session(shelf.restore(session_id, store)), reversed(ids))


def carry_out(what: Deed, act: Callable[[Target], Session], targets: Iterable[Target]) -> None:
    """Do it to each that does not refuse, and draw the page again with a line that says what was done."""
    done, refused = {}, []
    for target in targets:
        try:
            session = act(target)
            done[session.id] = session.title
        except LabError as error:
            refused.append(str(error))
    st.session_state[DONE] = Done(what, done, tuple(refused))
    st.rerun()


def what_was_done(every: Sequence[Run], store: SessionStore) -> None:
    """What the last button did, with a way back as long as nothing else has gone that way, as the trash can. Refusals, and what has no way
    back, are shown once."""
    done: Done | None = st.session_state.pop(DONE, None)
    if done is None:
        return
    for why in done.refused:
        st.warning(f"{markup.plain(why)}.")
    held = holding(done, every, store)
    if not held:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        named = f"{next(iter(held.values()))} is" if len(held) == 1 else f"{len(held)} runs are"
        st.success(markup.plain(f"{named} {WORDS[done.what]}."), icon=":material/check:")
        if done.what == "restored":
            return
        st.session_state[DONE] = done._replace(refused=())
        if st.button("Undo", key="undo", icon=":material/undo:", **refusals.changes()):
            if done.what == "deleted":
                restore(list(held), store)
            else:
                set_label(LABELS[done.what][2], [store.open(session_id) for session_id in held])


def holding(done: Done, every: Sequence[Run], store: SessionStore) -> dict[str, str]:
    """Those of the sessions with which it is still as it was done: id -> title."""
    if done.what == "deleted":
        there = {gone.id for gone in shelf.in_trash(store) if gone.kind == "session"}
    elif done.what == "restored":
        there = {run.id for run in every}
    else:
        name, value, _ = LABELS[done.what]
        there = {run.id for run in every if getattr(run.labels, name) == value}
    return {session_id: title for session_id, title in done.titles.items() if session_id in there}


def one_run(session: Session) -> None:
    about, form = st.columns([1, 1.4], gap="large")
    with about:
        st.markdown(f"**{markup.plain(session.title)}**")
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed} · `{session.id}`")
        sessions.again_button(session)
        imported_note("session", session.dir)
        origin_lines(session)
    with form:
        if session.why_read_only:
            st.caption(f"It {session.why_read_only}: it keeps its name, and has no tags or notes.")
        else:
            labels_form(session)


def labels_form(session: Session) -> None:
    labels, allowed = session.labels, refusals.changes()
    fixed = allowed["disabled"]
    with st.form(f"labels-{session.id}", border=False):
        left, right = st.columns(2)
        title = left.text_input("Name", labels.title, max_chars=120, placeholder=session.spec.title or session.id, disabled=fixed)
        tags = right.multiselect(
            "Tags", list(labels.tags), list(labels.tags), accept_new_options=True, placeholder="type a tag, Enter", disabled=fixed
        )
        notes = st.text_area("Notes", labels.notes, max_chars=4000, height=90, disabled=fixed)
        if not st.form_submit_button("Save", key="save-labels", **allowed):
            return
    try:
        shelf.label(session, Labels.model_validate(labels.model_dump() | {"title": title, "tags": tuple(tags), "notes": notes}))
    except ValidationError as error:
        st.error(f"Not saved: {markup.plain(one_line(error))}.")
    except LabError as error:
        st.error(f"Not saved: {markup.plain(str(error))}.")
    else:
        st.rerun()


def trash(store: SessionStore) -> None:
    """A button with the number of deleted runs, replays, studies and so on; nothing where there is none."""
    found = shelf.in_trash(store)
    count = len(found)
    gone = {one.name: one for one in found[:OFFERED]}
    refusals.show_reason(ERROR)
    if not gone:
        return
    with st.popover(f"Trash ({count:,})", icon=":material/delete:"):
        last = f"Deleted, the last {OFFERED}" if count > OFFERED else "Deleted"
        chosen = gone[st.selectbox(last, list(gone), key="trashed", format_func=lambda name: label(gone[name]))]
        with st.container(horizontal=True):
            if st.button("Restore", key="restore", icon=":material/undo:", **refusals.changes()):
                with refusals.keeping_reason(ERROR, "Not restored"):
                    shelf.restore(chosen.id, store, chosen.kind)
                st.rerun()
            empties = refusals.changes()
            if st.button("Empty the trash", key="empty-trash", icon=":material/delete_forever:", **empties):
                ask(count, store)


def label(gone: shelf.Trashed) -> str:
    """A run by its title and figures, others by their kind and id."""
    if gone.kind == "session":
        with suppress(SessionError):
            return sessions.describe(Session(gone.folder))
    return f"{gone.kind} {gone.id}"


@nav.dialog("Delete for good?")
def ask(count: int, store: SessionStore) -> None:
    st.write(f"{'What is' if count == 1 else f'All {count:,}'} in the trash will be gone, with checkpoints and tables.")
    with st.container(horizontal=True):
        if st.button("Delete for good", key="empty-now", type="primary"):
            shelf.empty_trash(store)
            st.rerun()
        if st.button("Keep", key="keep-trash"):
            st.rerun()
