"""Class: a lesson is planned, its address is shown, and what each pupil has solved comes in by itself."""

from __future__ import annotations

from collections import Counter
from html import escape
from itertools import accumulate, chain

import pandas as pd
import streamlit as st

from frozenlab.app.learn import address, records, sheet
from frozenlab.app.learn.address import MOST_BOARDS, OWN, Lesson
from frozenlab.app.learn.chapters import BY_NAME, CHAPTERS, TRACKS, shared_out
from frozenlab.app.learn.records import Standing
from frozenlab.app.ui import markup, nav, theme
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake import preparing
from frozenlab.base.errors import LabError
from frozenlab.base.files import as_csv, no_formula
from frozenlab.base.numbers import counted
from frozenlab.engineer.hosts import on_this_machine
from frozenlab.lake.board import Board
from frozenlab.session.store import SessionStore

NAME = "lesson"
"""The part of this page's address with the name of the class, which is not the one that pupils come by."""
PLAN, CHOSEN, MINUTES = "class-plan", "class-chapters", "class-minutes"
"""Session-state entries: the plan that the teacher began with, its chapters now, and how long it takes."""
FIRST, LOOK = "School", 3.0
"""The plan that the page begins with, and seconds between two looks at the file of the class."""
JOINING, RECAP = 3, 4
"""Minutes of a lesson before its first chapter and after its last."""
MANY = 8
"""Columns of the table of which each has room for words; of more the headings stand upright and squares show the tries only."""
QR = 24.0
"""Side of the QR code in rem: half of a projector's height."""


def page() -> None:
    """The choices beside the address, then who has solved what, then the plan. A projector shows neither the choices nor the plan."""
    theme.question("A lesson for your class", "Choose the chapters, show the address, and see who has solved what, and what went wrong.")
    st.html(f"<style>{text_of(__file__, 'learn.css')}</style>")
    preparing.wait_for("solver", "costs")
    choices, shown = st.columns([1.35, 1], gap="large")
    with choices:
        lesson = planned()
    with shown:
        way_in(lesson)
    if lesson.class_name:
        st.fragment(results, run_every=LOOK)(lesson)
    with st.container(key="class-table"):
        plan(lesson)


def planned() -> Lesson:
    """The lesson as the teacher has it: a name, chapters in their order, and boards."""
    state = st.session_state
    state.setdefault(PLAN, FIRST)
    if CHOSEN not in state:
        begin(FIRST)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    typed = row.text_input(
        "Name of the class", st.query_params.get(NAME, ""), max_chars=40, key="class-name", placeholder="mapf-2026", width=180,
        help="Answers are kept under this name. A new name begins an empty table.",
    )  # fmt: skip
    given = records.class_named(typed)
    row.segmented_control("Lesson plan", list(TRACKS), key=PLAN, required=True, on_change=lambda: begin(state[PLAN]))
    row.number_input("Minutes", 10, 300, step=5, key=MINUTES, persist_state="session", width=130)
    titles = {chapter.name: chapter.title for chapter in CHAPTERS}
    chosen = st.multiselect(
        "Chapters, in your order", list(titles), key=CHOSEN, format_func=titles.__getitem__, persist_state="session",
        help="Take chapters out and add others; they are taught in the order in which they stand here.",
    )  # fmt: skip
    with st.expander("Boards of your own"):
        text = st.text_area("Links from Play, one per line", key="class-boards", persist_state="session")
    boards: tuple[Board, ...] = ()
    try:
        if given:
            records.file_of(given, SessionStore())
    except LabError as error:
        st.error(plain(f"{error}."))
        given = ""
    try:
        boards = address.boards_in(text)
    except LabError as error:
        st.error(plain(f"{error}."))
    nav.put(NAME, given or None)
    return Lesson(given, boards, tuple(BY_NAME[one] for one in chosen) or CHAPTERS)


def begin(track: str) -> None:
    """Take over the chapters and the minutes of a plan that is ready."""
    st.session_state[CHOSEN], st.session_state[MINUTES] = list(TRACKS[track].chapters), TRACKS[track].minutes


def plan(lesson: Lesson) -> None:
    """Chapter by chapter, with the way in before and the recap after: in which minutes, and what to ask."""
    shares = shared_out(st.session_state[MINUTES] - JOINING - RECAP, lesson.chapters)
    parts = [
        (
            "Join",
            JOINING,
            "Has everyone scanned the code and entered a name?",
            "A first answer brings the name into the table.",
        ),
        *(
            (f"{number}. {chapter.title}", minutes, chapter.ask, chapter.hear)
            for number, (chapter, minutes) in enumerate(zip(lesson.chapters, shares, strict=True), start=1)
        ),
        ("Recap", RECAP, "Where did most of you need several tries, and why?", "The table shows it; in presenter mode without names."),
    ]
    begins = accumulate((minutes for _, minutes, *_ in parts), initial=0)
    rows = [
        (escape(title), f"{begin} to {begin + minutes}", f"{escape(ask)}<br><small>{escape(hear)}</small>")
        for begin, (title, minutes, ask, hear) in zip(begins, parts, strict=False)
    ]
    asked = "A question, and below it what a good answer contains"
    head = [("chapter", ""), ("minutes", "Of the lesson"), ("ask the class", asked)]
    row = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    row.header("What to ask, and when", anchor=False, width="content")
    with row:
        on_paper(lesson)
    st.html(markup.table("Plan of the lesson", head, rows, kind="fl-cards", numbers=("minutes",)))


def way_in(lesson: Lesson) -> None:
    """The address of the lesson, large enough for the last row."""
    if not lesson.class_name:
        st.info("Name your class. Its address and QR code will appear here.")
        return
    link = address.link(lesson)
    if on_this_machine(link):
        st.code(link, language=None, wrap_lines=True)
        st.warning(
            "This address opens on this machine only. For your class start a second, look-only server, "
            "`frozenlab app --look-only --host 0.0.0.0 --port 8502`, and open this page from its address."
        )
    else:
        nav.show_address(link, QR)
    st.link_button("See it as your pupils do", link, icon=":material/open_in_new:")


def results(lesson: Lesson) -> None:
    """Pupils and chapters: what is solved after how many tries, and what went wrong with the newest answer."""
    head = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    head.header("Who has solved what", anchor=False, width="content")
    projected = bool(st.session_state.get("presenter"))
    nameless = head.toggle(
        "Hide names", projected, key=f"class-nameless{'-projected' * projected}", persist_state="session",
        help="For the projector: how many have solved each chapter. In presenter mode names are hidden until you show them.",
    )  # fmt: skip
    found = records.standings(lesson.class_name, SessionStore())
    if not found:
        st.caption("No answers yet. They appear here by themselves.")
        return
    columns = titles_of(lesson, found)
    solved = sum(one.solved for chapters in found.values() for one in chapters.values())
    said = f"{counted(len(found), 'pupil')}, {counted(solved, 'exercise')} solved.{stuck(found, columns)}"
    if nameless:
        st.caption(said)
        st.html(crowd(found, columns))
        return
    st.caption(f"{said} Each cell: ✓ and the tries until it was right; or the tries so far, and what was wrong with the newest answer.")
    st.html(heat_map(found, columns))
    rows = [[str(done[name]) if name in done else None for name in columns] for done in found.values()]
    table = pd.DataFrame(rows, [no_formula(learner) for learner in found], list(columns.values())).rename_axis("pupil")
    # Excel takes a file without the mark for one in the letters of its country, and shows the ticks and many names as others.
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(
            "CSV", lambda: as_csv(table, index=True).encode("utf-8-sig"), f"{lesson.class_name}.csv", "text/csv", on_click="ignore",
            key="class-csv", icon=":material/download:",
        )  # fmt: skip


def stuck(found: dict[str, dict[str, Standing]], columns: dict[str, str]) -> str:
    """What most of those who have not solved a chapter get wrong there, as a sentence; empty where no two have the same trouble."""
    standings = [(title, done[name]) for done in found.values() for name, title in columns.items() if name in done]
    faults = Counter((title, one.fault) for title, one in standings if one.fault and not one.solved)
    for (title, fault), many in faults.most_common(1):
        if many > 1:
            return f" {many} pupils are stuck at **{title}**: {plain(fault)}."
    return ""


def titles_of(lesson: Lesson, found: dict[str, dict[str, Standing]]) -> dict[str, str]:
    """The columns of the table: the chapters and boards of the lesson, then all others that somebody has tried, as extras."""
    titles = {chapter.name: f"{number}. {chapter.title}" for number, chapter in enumerate(lesson.chapters, start=1)}
    titles |= {f"{OWN}-{number}": f"Board {number}" for number in range(1, MOST_BOARDS + 1)}
    tried = dict.fromkeys(chain.from_iterable(found.values()))
    asked = [*(chapter.name for chapter in lesson.chapters), *(f"{OWN}-{number}" for number in range(1, len(lesson.boards) + 1))]
    titles = {name: f"Extra: {chapter.title}" for name, chapter in BY_NAME.items()} | titles
    return {name: titles[name] for name in dict.fromkeys([*asked, *tried]) if name in titles}


def heat_map(found: dict[str, dict[str, Standing]], columns: dict[str, str]) -> str:
    """A table as finished HTML, with a look for each standing; the last row counts who has solved a chapter."""
    rows = [[escape(learner), *(square(done.get(name)) for name in columns)] for learner, done in found.items()]
    counts = [f"<b>{sum(name in done and done[name].solved for done in found.values())}</b> of {len(found)}" for name in columns]
    head = [("pupil", ""), *((title, "") for title in columns.values())]
    kind = "fl-heat is-many" if len(columns) > MANY else "fl-heat"
    return markup.table("Pupils and what they have solved", head, [*rows, ["solved by", *counts]], kind)


def crowd(found: dict[str, dict[str, Standing]], columns: dict[str, str]) -> str:
    """The same without names, as finished HTML: how many have solved each chapter, and what the newest answers of the others got wrong."""
    rows = []
    for name, title in columns.items():
        tried = [done[name] for done in found.values() if name in done]
        solved = sum(one.solved for one in tried)
        faults = Counter(one.fault or "not yet" for one in tried if not one.solved).most_common()
        bar = f'<span style="--part:{solved / len(found):.0%}"><b>{solved}</b> of {len(found)}</span>'
        rows.append((escape(title), bar, "<br>".join(f"{count} × {escape(fault)}" for fault, count in faults)))
    head = [("chapter", ""), ("solved by", "Pupils"), ("what goes wrong", "With the newest answer of those who have tried it")]
    return markup.table("How many have solved what", head, rows, "fl-cards fl-crowd", looks={"solved by": "bar"})


def square(standing: Standing | None) -> str:
    if standing is None:
        return ""
    if standing.solved:
        return f'<span class="{"is-first" if standing.tries == 1 else "is-solved"}" title="{standing}">✓ {standing.tries}</span>'
    return f'<span class="is-open" title="{escape(str(standing))}">{standing.tries}<i> · {escape(standing.fault or "not yet")}</i></span>'


def on_paper(lesson: Lesson) -> None:
    """What is printed: the exercises, and for the teacher their answers."""
    with st.container(horizontal=True, width="content"):
        st.download_button(
            "Sheet to print (HTML)", lambda: sheet.page(lesson), "frozenlab-course.html", "text/html", on_click="ignore",
            icon=":material/print:",
            help="The chapters and your boards as pictures, and room to draw and write. Print it from the browser.",
        )  # fmt: skip
        st.download_button(
            "Answers (HTML)", lambda: sheet.answers(lesson), "frozenlab-answers.html", "text/html", on_click="ignore",
            icon=":material/key:",
            help="An answer to each exercise, and what to ask the class.",
        )  # fmt: skip
