"""For teachers: a link for a class with boards of their choice, the results of the class, and a sheet to print."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.learn import address, records, sheet
from frozenlab.app.learn.address import MOST_BOARDS, OWN, Lesson
from frozenlab.app.learn.chapters import CHAPTERS
from frozenlab.app.ui.markup import plain
from frozenlab.app.ui.qr import qr_code
from frozenlab.app.views.lake.share import encode
from frozenlab.base.errors import LabError
from frozenlab.engineer.hosts import on_this_machine
from frozenlab.session.store import SessionStore

PLACEHOLDER = "Links to boards of the page Play, one per line"


def for_teachers(lesson: Lesson) -> None:
    with st.expander("For teachers: a link for your class, its results, and a sheet to print", icon=":material/school:"):
        made, results = st.columns(2, gap="large")
        with made:
            name = class_link(lesson)
        with results:
            class_results(name)
        st.download_button(
            "Sheet to print (HTML)", lambda: sheet.page(lesson), "frozenlab-course.html", "text/html", on_click="ignore",
            icon=":material/print:",
            help="The chapters and your boards as pictures, and room to draw and write. Print it from the browser.",
        )  # fmt: skip


def class_link(lesson: Lesson) -> str:
    """A link that opens the course for a class, whose name is returned; empty while that is none."""
    st.markdown("**A link for a class**")
    name = st.text_input("Name of the class", lesson.class_name, max_chars=40, key="learn-class", placeholder="mapf-2026")
    text = st.text_area(
        "Boards of your choice", "\n".join(map(encode, lesson.boards)), key="learn-boards", placeholder=PLACEHOLDER,
    )  # fmt: skip
    try:
        if name:
            records.file_of(name, SessionStore())
        codes = address.codes_in(text)
    except LabError as error:
        st.error(plain(f"{error}."))
        return ""
    if name or codes:
        link = address.link(name, codes)
        st.code(link, language=None, wrap_lines=True)
        qr_code(link)
        here = (
            "**This link opens on this machine only**: open the lab to your class first (docs/files.md). " if on_this_machine(link) else ""
        )
        st.caption(f"{here}Your class must reach this server. Results are kept in one file on it; there are no accounts.")
    return name


def class_results(class_name: str) -> None:
    """Who has solved what."""
    st.markdown("**Results of the class**")
    if not class_name:
        st.caption("Name your class. Its submissions appear here.")
        return
    st.button("Look again", key="learn-look", icon=":material/refresh:")
    try:
        table = records.results(class_name, SessionStore())
    except LabError as error:
        st.error(plain(f"{error}."))
        return
    if table.empty:
        st.caption("No submissions yet.")
        return
    titles = {chapter.name: f"{place}. {chapter.title}" for place, chapter in enumerate(CHAPTERS, start=1)}
    titles |= {f"{OWN}-{number}": f"Board {number}" for number in range(1, MOST_BOARDS + 1)}
    table = table[[name for name in titles if name in table]].rename(columns=titles)
    st.dataframe(table, width="stretch", key="learn-results", alt="Learners and the exercises that they have solved", placeholder="–")
    st.download_button("CSV", lambda: table.to_csv(), f"{class_name}.csv", "text/csv", on_click="ignore")
