"""What an engineer answered to the letter, and what the guard mended of it."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.session.config_tables import repairs_table
from frozenlab.engineer.schema import GuardReport, ProposalRecord
from frozenlab.tasks.family import Family


def raw_answers(record: ProposalRecord) -> None:
    """Each attempt that is not empty, folded away, with what it took and why it could not be used."""
    for number, attempt in enumerate(record.attempts, start=1):
        if attempt.raw or attempt.error:
            read = f"{attempt.prompt_tokens:,} tokens read, " if attempt.prompt_tokens else ""
            paid = f", cost {attempt.cost:.4f}" if attempt.cost is not None else ""
            figures = f"{read}{attempt.tokens or 0:,} tokens written, {attempt.seconds:.1f} s{paid}"
            with st.expander(f"Raw answer{'' if len(record.attempts) == 1 else f', attempt {number}'} ({figures})"):
                if attempt.error:
                    st.error("It could not be used:")
                    st.text(attempt.error)
                st.code(attempt.raw or " ", language=None, wrap_lines=True)


def repairs(guard: GuardReport, family: Family) -> None:
    """What the guard repaired, folded away; nothing if it did not."""
    if guard.repairs:
        with st.expander(f"The guard repaired {len(guard.repairs)} value{'s' if len(guard.repairs) > 1 else ''}"):
            st.html(repairs_table(guard.repairs, family))
