"""Learn: how do many agents find their way at once?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.learn import address, records
from frozenlab.app.learn.address import OWN, TEACHERS, Lesson
from frozenlab.app.learn.chapters import BY_NAME, CHAPTERS, PARTS, Chapter
from frozenlab.app.learn.exercises import TEAM_TASK, Exercise, Mark, OnBoard, Searching, Steering, show_mark
from frozenlab.app.ui import nav
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.glossary import explained
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake import preparing
from frozenlab.base.errors import LabError
from frozenlab.lake.board import BoardError
from frozenlab.session.store import SessionStore


def page() -> None:
    """The chapter of the address: its idea, its picture and its exercise."""
    st.html(f"<style>{text_of(__file__, 'learn.css')}</style>")
    address.keep()
    try:
        lesson = address.lesson()
    except BoardError as error:
        st.warning(plain(f"The boards of this link cannot be read: {error}. Here is the course without them."))
        lesson = Lesson()
    preparing.wait_for("solver", "costs")
    learner = who(lesson)
    name = choose_chapter(lesson)
    if name == OWN:
        own_boards(lesson, learner)
    else:
        show(BY_NAME[name], lesson, learner)
    if there := st.session_state.pop("learn-scroll", ""):
        st.html(f"<script>{there}</script>", unsafe_allow_javascript=True)
    if not lesson.class_name:
        st.page_link(nav.path("classroom"), label="For teachers: plan a lesson", icon=":material/school:")


def who(lesson: Lesson) -> str:
    """The learner's name, which only a class asks for."""
    if not lesson.class_name:
        return ""
    place = st.container(horizontal=True, vertical_alignment="center")
    why = "" if st.session_state.get("learn-name") else ". Your teacher sees under this name which exercises you have solved:"
    place.markdown(f"Class **{plain(lesson.class_name)}**{why}", width="content" if not why else "stretch")
    return place.text_input(
        "Your name", max_chars=records.LONGEST_NAME, key="learn-name", persist_state="session", width=200, placeholder="Your name",
        label_visibility="collapsed",
    )  # fmt: skip


def choose_chapter(lesson: Lesson) -> str:
    """The name of the chapter; it is part of the address."""
    titles = {chapter.name: f"{number}. {chapter.title}" for number, chapter in enumerate(lesson.chapters, start=1)}
    parts = {part: [chapter.name for chapter in chapters] for part, chapters in PARTS.items()}
    if lesson.chapters != CHAPTERS:
        parts = {"Your lesson": list(titles)}
    if lesson.boards:
        parts[TEACHERS] = [OWN]
        titles[OWN] = TEACHERS
    done = address.done()
    asked = st.query_params.get(address.CHAPTER)
    name = asked if asked in titles else next(iter(titles))
    st.session_state["learn-chapters"] = name
    st.session_state["learn-part"] = next(part for part, names in parts.items() if name in names)

    def follow() -> None:
        st.query_params[address.CHAPTER] = st.session_state["learn-chapters"]

    def turn() -> None:
        st.query_params[address.CHAPTER] = parts[st.session_state["learn-part"]][0]

    head = st.container(key="learn-head", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small")
    minutes = f" :small[:gray[{BY_NAME[name].minutes} minutes]]" if name in BY_NAME else ""
    head.title(f"{titles[name]}{minutes}", anchor=False, width="content")
    counts = {part: f"{part} {sum(one in done for one in names)}/{len(names)}" for part, names in parts.items() if names != [OWN]}
    if len(parts) > 1:
        head.segmented_control(
            "Part", list(parts), key="learn-part", format_func=lambda part: counts.get(str(part), str(part)), label_visibility="collapsed",
            required=True, on_change=turn,
        )  # fmt: skip
    chosen = st.pills(
        "Chapter", parts[st.session_state["learn-part"]], key="learn-chapters", label_visibility="collapsed", required=True,
        format_func=lambda name: f"{titles[name]}{' ✓' if name in done else ''}", on_change=follow,
    )  # fmt: skip
    assert chosen is not None
    return chosen


def show(chapter: Chapter, lesson: Lesson, learner: str) -> None:
    """The board of the exercise at the left, the idea and the task at the right. The picture, which answers much of it, opens below after
    the first try; beside a question it stands from the beginning, without what would answer it."""
    if chapter in PARTS["Planners"]:
        preparing.wait_for("planners")
    exercise = chapter.exercise()
    beside, words = st.columns([2.3 if isinstance(exercise, Searching) else 1.1, 1], gap="large")
    with words:
        more = ' <label class="fl-more"><input type="checkbox">… read on</label>'  # on a phone, which shows the first paragraph
        idea = with_emphasis(explained(chapter.idea)).replace("\n\n", f"{more}<span>\n\n", 1)
        st.html(f'<p class="fl-idea">{idea}</span></p>')
        take(exercise, chapter.name, lesson, learner, beside)
        if chapter.name in address.done():
            st.markdown(f"**To remember:** {chapter.recap}")
    tried = () if chapter.tells else st.session_state.get("learn-marks", {})
    opened = chapter.name in {*address.done(), *tried, *st.session_state.get("learn-opened", ())}
    stands = not isinstance(exercise, OnBoard)
    if stands:
        with beside:
            chapter.picture() if opened or chapter.before is None else chapter.before()
    elif opened:
        with st.container(key="learn-picture"):
            st.header("Look", anchor=False)
            chapter.picture()
    onwards(chapter, lesson, opened or stands)


def look(name: str) -> None:
    """Opens the picture of a chapter for the rest of the visit, and brings it into sight."""
    st.session_state["learn-opened"] = {*st.session_state.get("learn-opened", ()), name}
    st.session_state["learn-scroll"] = nav.TO_THE_PICTURE


def with_emphasis(html: str) -> str:
    """``*words*`` as emphasis, the only Markdown of an idea."""
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", html)


def onwards(chapter: Chapter, lesson: Lesson, opened: bool) -> None:
    """To the chapter before and the next one, and to the picture of this one if it is not open."""
    at = lesson.chapters.index(chapter)
    with st.container(key="learn-onwards", horizontal=True, horizontal_alignment="distribute"):
        if at:
            before = lesson.chapters[at - 1]
            st.button(f"← {before.title}", key=f"learn-to-{at - 1}", on_click=go_to, args=(before.name,))
        if not opened:
            st.button(
                "Show me how it can go", key=f"learn-look-{chapter.name}", icon=":material/visibility:", type="tertiary", on_click=look,
                args=(chapter.name,),
            )  # fmt: skip
        to_the_next(chapter.name, lesson, f"learn-to-{at + 1}")


def to_the_next(name: str, lesson: Lesson, key: str, type: Literal["primary", "secondary"] = "secondary") -> None:
    """The way to the chapter after this one; after the last one, to the contest. Nothing after a teacher's board, which is no chapter."""
    names = [chapter.name for chapter in lesson.chapters]
    if name == names[-1]:
        st.page_link(nav.path("contest"), label="Now beat the engineer →")
    elif name in names:
        after = lesson.chapters[names.index(name) + 1]
        st.button(f"{after.title} →", key=key, type=type, on_click=go_to, args=(after.name,))


def go_to(name: str) -> None:
    st.query_params[address.CHAPTER] = name
    st.session_state["learn-scroll"] = nav.TO_THE_TOP


def take(exercise: Exercise, name: str, lesson: Lesson, learner: str, beside: DeltaGenerator) -> None:
    """The exercise, and the mark of its answer until the answer is changed."""
    marks: dict[str, tuple[Any, Mark]] = st.session_state.setdefault("learn-marks", {})
    st.container(key="learn-task").markdown(exercise.task)
    above = beside.container(key="learn-after")
    answer, handed_in = exercise.ask(f"learn-{name}", beside)
    if handed_in:
        mark = exercise.mark(answer)
        marks[name] = answer, mark
        noted = not lesson.class_name or note(lesson, learner, name, mark)
        st.session_state["learn-scroll"] = nav.TO_THE_MARK
        if not mark.right:
            st.session_state[f"learn-tries-{name}"] = st.session_state.get(f"learn-tries-{name}", 0) + 1
        elif name not in address.done():
            address.solve(name)
            if noted:
                st.rerun()  # what is solved stands above, too
    if name in marks and marks[name][0] == answer:
        with st.container(key="learn-mark"):
            show_mark(marks[name][1])
            if marks[name][1].right:
                to_the_next(name, lesson, "learn-next", "primary")
        if marks[name][1].right:
            with above:
                exercise.afterwards(answer, f"learn-{name}")
            return
    if st.session_state.get(f"learn-tries-{name}"):
        show_hints(exercise.hints(), name)


def show_hints(hints: Sequence[str], name: str) -> None:
    """The hints that were asked for, and the button that asks for the next one."""
    key = f"learn-hints-{name}"
    shown = st.session_state.get(key, 0)
    for number, hint in enumerate(hints[:shown], start=1):
        st.info(f"**Hint {number}.** {plain(hint)}", icon=":material/lightbulb:")
    if shown < len(hints):
        st.button(f"Hint {shown + 1} of {len(hints)}", key=f"{key}-next", on_click=lambda: st.session_state.update({key: shown + 1}))


def note(lesson: Lesson, learner: str, name: str, mark: Mark) -> bool:
    """Write the mark down for the teacher. False: it could not, and says why."""
    if not learner:
        st.warning("Write your name at the top, so that your teacher sees what you have solved.")
        return False
    try:
        records.hand_in(lesson.class_name, learner, name, mark.right, SessionStore(), mark.fault)
    except LabError as error:
        st.warning(plain(f"This was not noted: {error}."))
        return False
    return True


def own_boards(lesson: Lesson, learner: str) -> None:
    """The teacher's boards, to be steered to their optimum."""
    number = st.segmented_control(
        "Board", range(1, len(lesson.boards) + 1), default=1, required=True, key="learn-own", format_func="Board {}".format,
        label_visibility="collapsed",
    )  # fmt: skip
    board = lesson.boards[number - 1]
    beside, words = st.columns([1.1, 1], gap="large")
    with words:
        take(Steering(TEAM_TASK, board), f"{OWN}-{number}", lesson, learner, beside)
