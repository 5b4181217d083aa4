"""A person decides: about a session that waits for them, or otherwise than an engineer did, in a fork."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from frozenlab.app.story.decide import Desk, decide
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import api_form, markup, nav, refusals, sessions
from frozenlab.base.errors import LabError
from frozenlab.engineer.engineers import BY_NAME, who_is
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.session import launch
from frozenlab.session.forks import trains_again

"""Engineers of a fork that need no address."""


def your_turn(moment: Moment, stage: int, context: Context) -> None:
    """The session waits for a person to write the next config."""
    session = moment.session
    st.subheader("What should it train on next?", anchor=False, help="Your proposal passes the guard and is scored like any engineer's.")
    drawn = session.environment(stage)
    if drawn is None:
        return
    desk = Desk(f"turn-{session.id}-{stage}", drawn.config, context, moment.validation, session.spec.guard)
    proposal, _ = decide(desk)
    may = api_form.may_ask([session.spec.engineer.server], "turn")
    allowed = refusals.changes(disabled=not may)
    if st.button("Train on this", type="primary", key="turn-go", icon=":material/play_arrow:", **allowed):
        go_to_train(lambda: launch.propose(session, proposal, sessions.store()), session.id)


def what_if(moment: Moment, stage: int, context: Context, record: ProposalRecord) -> None:
    """Another decision after this stage, in a fork."""
    session = moment.session
    with st.expander("What if? Decide otherwise, cell by cell, and fork the session here", icon=":material/fork_right:"):
        desk = Desk(f"fork-{session.id}-{stage}", record.config_before, context, moment.validation, session.spec.guard, record)
        proposal, differs = decide(desk)
        who, title, action = st.columns([1, 1.4, 0.8], vertical_alignment="bottom")
        own = session.spec.engineer
        ready = [name for name, engineer in BY_NAME.items() if not engineer.required() or name == own.kind]
        engineer = who.selectbox(
            "Who proposes after the stages that follow", ready, key="fork-engineer",
            index=None, placeholder=f"as before: {who_is(own.kind)}", format_func=who_is,
        )  # fmt: skip
        name = title.text_input(
            "Title of the fork", f"{session.title}, what if after stage {stage + 1}"[:120], max_chars=120, key="fork-title"
        )
        may = api_form.may_ask([own.server if engineer in (None, own.kind) else None], "fork")
        asked = action.button(
            "Fork and train", type="primary", key="fork-go", icon=":material/fork_right:", width="stretch",
            **refusals.changes(disabled=not may),
        )  # fmt: skip
        if not differs and engineer is None:
            st.caption("This is what the session already did. Change something to fork.")
        if trains_again(session, stage):
            times = "Stage 1 is" if stage == 0 else f"Stages 1 to {stage + 1} are"
            st.caption(f"{times} trained again on the same boards: this session came without what training needs to go on from there.")
        if asked and (differs or engineer is not None):
            changes: dict[str, Any] = {"title": name} | ({"engineer": engineer} if engineer else {})
            go_to_train(lambda: launch.start_fork(session, stage, sessions.store(), given=proposal if differs else None, **changes).id)


def go_to_train(begin: Callable[[], str | None], session_id: str | None = None) -> None:
    """Begins something in the background and shows it on Train, or says why not."""
    try:
        begun = begin() or session_id
    except LabError as error:
        st.error(f"Not started: {markup.plain(str(error))}.")
        return
    sessions.choose(str(begun))
    st.switch_page(nav.path("train"), query_params={"session": str(begun)})
