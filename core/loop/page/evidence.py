"""Evidence that can be followed: every id of a line leads to the boards behind it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from frozenlab.engineer.dialects.lab import LINE_WORDS, render_context
from frozenlab.engineer.evidence import thirds
from frozenlab.engineer.schema import Context, Evidence, ProposalRecord, Section
from frozenlab.loop.store import Session
from frozenlab.tasks.lake.view.board_list import pick_board, show_board
from frozenlab.ui import markup

ASKED = "evidence"
"""The part of the address that names the line with open boards."""

# --- the boards behind a line ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Behind:
    """The boards of one line of evidence."""

    what: str
    """Which they are."""
    rows: pd.DataFrame
    """Of a validation, or of the plans sampled in training."""
    label: str
    """Of the plans that these rows hold."""
    before: pd.DataFrame | None = None
    """A validation that holds the same boards with earlier plans."""


def line_of(context: Context, name: str) -> Evidence | None:
    """The line with this id, if it was in the context."""
    return next((line for line in context.lines if line.id == name), None)


def boards_behind(session: Session, stage: int | None, line: Evidence) -> Behind:
    """What a line about the stage (0-based; None: the base) was measured on, the telling boards first. Its rows are empty if they are not
    kept."""
    after = session.validation(stage)
    before = None if stage is None else session.validation(stage - 1 if stage else None)
    nothing = pd.DataFrame(columns=["size", "board_id", "valid"])
    if line.section in ("behaviour", "statistics"):
        sampled = None if stage is None else session.completions(stage)
        rows = nothing if sampled is None else sampled
        if line.size is not None:
            rows = rows[rows["size"] == line.size]
        if stage is not None and line.section == "behaviour" and len(rows):
            last = thirds(session.metrics(stage))[1]["step"].min()
            rows = rows[rows["training_step"] >= last].sort_values("valid", kind="stable")
            return Behind("Plans of the last third of training, those that failed first", rows, "sampled in training")
        rows = rows.drop_duplicates("board_id")
        return Behind("Boards drawn from the config, of those that a plan is kept for", rows, "sampled in training")
    rows = nothing if after is None else after
    if line.size is not None:
        rows = rows[rows["size"] == line.size]
    if line.section == "failures":
        return Behind("Held-out boards on which it failed", rows[rows["board_id"].isin(line.boards)], "after the stage", before)
    if before is not None:
        held = rows["board_id"].isin(before.loc[before["valid"], "board_id"])
        rows = rows.assign(turned=held == rows["valid"]).sort_values("turned", kind="stable")
    return Behind("Held-out boards, those that the stage won or lost first", rows, "after the stage", before)


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
    st.dialog(f"The boards behind {markup.plain(line.id)}", width="large", on_dismiss=close)(behind_dialog)(session, stage, line)


def behind_dialog(session: Session, stage: int | None, line: Evidence) -> None:
    found = boards_behind(session, stage, line)
    st.html(f'<p class="fl-evidence">{markup.chips([line.id])}<span>{escape(line.text)}</span></p>')
    if found.rows.empty:
        st.info("There is no board behind this line: nothing of this kind happened, or the session does not keep it.")
        return
    chosen, player = st.columns([1, 1.7], gap="large")
    with chosen:
        row = pick_board(found.rows, f"{found.what}: {len(found.rows)}", key=f"behind-{session.id}-{stage}-{line.id}", height=330)
    with player:
        show_board(row, found.label, found.before, "before the stage", key="behind-board", height=330, autoplay=True)


def follow(name: str) -> None:
    """Opens the boards behind a line; for callbacks."""
    st.query_params[ASKED] = name


def close() -> None:
    st.query_params.pop(ASKED, None)


# --- how much of the prompt a section takes --------------------------------------------------------------------------


def section_tokens(context: Context, record: ProposalRecord | None) -> dict[Section, str]:
    """Tokens of each section in the prompt, for the engineers that read one: counted in the lab dialect, where a word is a token; for other
    models their part of the tokens that the server or the tokenizer counted, by letters."""
    if context.prompt is None:
        return {}
    if context.prompt == render_context(context):
        counts = {section: 1 + sum(len(LINE_WORDS[section](line)) for line in lines) for section, lines in context.sections.items()}
        return {section: f"{count} token{'s' if count != 1 else ''}" for section, count in counts.items()}
    read = record.attempts[0].prompt_tokens if record is not None and record.attempts else None
    if not read:
        return {}
    letters = {section: sum(len(line.text) for line in lines) for section, lines in context.sections.items()}
    return {section: f"about {round(read * count / len(context.prompt))} tokens" for section, count in letters.items()}
