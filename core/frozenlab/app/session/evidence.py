"""Evidence that can be followed: every id of a line leads to the boards behind it."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from frozenlab.app.ui import markup, nav
from frozenlab.app.ui.figures import Series
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.numbers import counted, typeset
from frozenlab.engineer.dialects.lab import words_of_sections
from frozenlab.engineer.measurements import Behind, StageTables
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord
from frozenlab.engineer.sections import BY_NAME
from frozenlab.session.session import Session

ASKED = "evidence"
"""The part of the address that names the line with open boards."""


# --- the boards behind a line ----------------------------------------------------------------------------------------


def line_of(context: Context, name: str) -> Evidence | None:
    """The line with this id, if it was in the context."""
    return next((line for line in context.lines if line.id == name), None)


def boards_behind(session: Session, stage: int | None, line: Evidence) -> Behind:
    """The boards that a line about the stage (0-based; None: the base) was measured on, as its section says; none for a section that
    this version of the lab does not have."""
    if line.section not in BY_NAME:
        return Behind("None that this version of the lab knows", pd.DataFrame(), "")
    kept = StageTables(
        metrics=pd.DataFrame() if stage is None else session.metrics(stage),
        validation=session.validation(stage),
        validation_before=None if stage is None else session.validation(stage - 1 if stage else None),
        sampled=None if stage is None else session.completions(stage),
    )
    return BY_NAME[line.section].boards(line, kept)


def open_boards(session: Session, stage: int | None, context: Context) -> None:
    """The dialog with the boards behind the line that the address names, if it names one."""
    name = st.query_params.get(ASKED)
    if name is None:
        return
    line = line_of(context, name)
    if line is None:
        st.toast(f"The engineer saw no line {markup.plain(name[:12])} after this stage.", icon=":material/link_off:")
        close()
        return
    nav.dialog(f"The boards behind {markup.plain(line.id)}", width="large", on_dismiss=close)(behind_dialog)(session, stage, line)


def behind_dialog(session: Session, stage: int | None, line: Evidence) -> None:
    found = boards_behind(session, stage, line)
    st.html(f'<p class="fl-evidence">{markup.chips([line.id])}<span>{escape(typeset(line.text))}</span></p>')
    if found.rows.empty:
        st.info("There is no board behind this line: nothing of this kind happened, or the session does not keep it.")
        return
    view = view_of(session.spec.tasks)
    chosen, player = st.columns([1, 1.7], gap="large")
    with chosen:
        row = view.pick(found.rows, f"{found.what}: {len(found.rows)}", key=f"behind-{session.id}-{stage}-{line.id}", height=330)
    with player:
        before = None if found.before is None else Series("before the stage", found.before)
        view.show(Shown(row, found.label), before, key="behind-board", height=330, autoplay=True)


def follow(name: str) -> None:
    """Opens the boards behind a line; for callbacks."""
    st.query_params[ASKED] = name


def close() -> None:
    st.query_params.pop(ASKED, None)


# --- how much of the prompt a section takes --------------------------------------------------------------------------


def section_tokens(context: Context, record: ProposalRecord | None) -> dict[str, str]:
    """Tokens of each section in the prompt, for the engineers that read one: counted in the lab dialect, where a word is a token; for other
    models their part of the tokens that the server or the tokenizer counted, by letters."""
    if context.prompt is None:
        return {}
    if counts := words_of_sections(context.prompt):
        words = {name: counted(count, "token") for name, count in counts.items()}
        return dict.fromkeys(context.sections, "the lab model has no words for it") | words
    read = record.attempts[0].prompt_tokens if record is not None and record.attempts else None
    if not read:
        return {}
    letters = {section: sum(len(line.text) for line in lines) for section, lines in context.sections.items()}
    return {section: f"about {round(read * count / len(context.prompt))} tokens" for section, count in letters.items()}
