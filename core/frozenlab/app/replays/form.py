"""The form of a new replay: one stage, and the engineers or sections that differ."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape

import streamlit as st
from pydantic import ValidationError

from frozenlab.app import experiment
from frozenlab.app.session import evidence
from frozenlab.app.ui import api_form, markup, refusals, sessions, theme
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.app.ui.components.timeline import marks, timeline
from frozenlab.base.errors import one_line
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer, engineer_of, titled
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.engineer.sections import NAMES, USUAL, SectionName, help_of
from frozenlab.experiments.replays.cost import estimate
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import (
    KINDS,
    MOST_SAMPLES,
    TWO_BY_TWO,
    ReplayError,
    ReplayTask,
    arms_of_engineers,
    arms_of_sections,
    arms_two_by_two,
    askable,
    obstacle,
    servers,
    spec_of,
    task_for,
    validated_stages,
    varied_sections,
)
from frozenlab.experiments.studies.grid import Arm
from frozenlab.session.session import Session, SessionError

KIND_WORDS = {
    "sections": "sections, in every combination",
    "leave-one-out": "sections, all but one",
    "one-at-a-time": "sections, one at a time",
    "engineers": "engineers",
    TWO_BY_TWO: "two by two: checkpoint and base, with failures and behaviour and without",
}
ERROR = experiment.error_of("replay")


def go_to(name: str) -> None:
    """Shows a replay; for callbacks."""
    for part in ("session", "stage", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)
    st.query_params["replay"] = name


def start(task: ReplayTask) -> None:
    """Starts a replay and goes to it, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        go_to(Replay.start(task, sessions.store()).id)


def show_form(session: Session) -> None:
    """What is to be asked about which stage of ``session``."""
    chosen = timeline(marks(session, session.state()), key="replay-thread").id
    st.query_params["stage"] = str(chosen)
    stage = chosen - 1
    if stage not in validated_stages(session):
        st.info("Nothing has been validated here, so there is no evidence to propose from. Choose a stage with results.")
        return
    controls, hero = theme.bench(1, 1.25)
    with controls:
        kind = st.selectbox("What differs between the arms", KINDS, format_func=KIND_WORDS.__getitem__, key="replay-kind", **KEPT)
        try:
            if kind == TWO_BY_TWO:
                arms, options = arms_two_by_two(session.spec), list[str]()
            else:
                arms, options = engineers_fields(session, stage) if kind == "engineers" else sections_fields(session, stage, kind)
            samples = int(st.number_input("Answers of each arm", 1, MOST_SAMPLES, 16, key="replay-samples", **KEPT))
            task = task_for(session, stage, arms, kind, samples=samples)
        except (ReplayError, SessionError, ValidationError) as error:
            reason = one_line(error)
            st.warning(f"This cannot be asked: {markup.plain(reason)}.")
            return
    with hero:
        may = api_form.may_ask(servers(task, session), "replay")
        words, button = st.columns([4, 1], vertical_alignment="center")
        words.markdown(effort(task, session))
        button.button(
            "Ask", type="primary", key="replay-start", icon=":material/play_arrow:", width="stretch", on_click=start, args=(task,),
            **refusals.changes(disabled=not may),
        )  # fmt: skip
        arms_table(task.arms, session.spec.sections)
        if not servers(task, session):
            st.caption("The same from the command line:")
            line = ["frozenlab", "replay", f"{task.session}:{stage + 1}", "--vary", kind, *options, "--samples", str(samples)]
            st.code(shlex.join(line), language="bash")


def sections_fields(session: Session, stage: int, kind: str) -> tuple[tuple[Arm, ...], list[str]]:
    """One engineer and the sections that are on or off, and the options of the command line for these. Raises ValidationError for an API's
    address that is none."""
    can = offered(session, stage)
    own = session.spec.engineer.kind
    first = can.index(own) if own in can else 0
    engineer = st.selectbox("Who is asked", can, first, format_func=titled, key=f"replay-who-{session.id}-{stage}", **KEPT)
    chosen = st.multiselect(
        "Sections that are on or off", NAMES, list(varied_sections(kind, None)), key=f"replay-sections-{kind}", **KEPT,
        help="The others are always on. All combinations of k sections are 2ᵏ arms.",
    )  # fmt: skip
    if not chosen:
        raise ReplayError("no section is chosen")
    varied = varied_sections(kind, [section for section in NAMES if section in chosen])
    options = ["--engineers", engineer, "--sections", ",".join(varied)]
    return arms_of_sections(kind, varied, with_settings(engineer, session)), options


def engineers_fields(session: Session, stage: int) -> tuple[tuple[Arm, ...], list[str]]:
    """The engineers that are asked, as :func:`sections_fields` gives the sections."""
    chosen = st.multiselect(
        "Who is asked", offered(session, stage), askable(session, stage), format_func=titled,
        key=f"replay-engineers-{session.id}-{stage}", **KEPT,
    )  # fmt: skip
    if not chosen:
        raise ReplayError("no engineer is chosen")
    arms = arms_of_engineers([with_settings(name, session) for name in chosen], session.spec.engineer.kind)
    return arms, ["--engineers", ",".join(chosen)]


def offered(session: Session, stage: int) -> list[str]:
    """The engineers that can be asked here, one behind an API always; says why others cannot."""
    reasons = {engineer: obstacle(session, stage, engineer) for engineer in UNATTENDED}
    for reason in dict.fromkeys(reason for reason in reasons.values() if reason):
        st.caption(f"{markup.plain(reason[0].upper() + reason[1:])}.")
    return [engineer for engineer, reason in reasons.items() if reason is None]


def with_settings(name: str, session: Session) -> EngineerSpec:
    """The engineer of this name: with the session's settings if it is the session's own, as the form has them if it asks a server, else
    with the usual ones. Raises ReplayError and ValidationError for a form that is not filled in."""
    if "network" not in BY_NAME[name].needs or session.spec.engineer.kind == name:
        return engineer_of(name, session.spec.engineer)
    fields = api_form.fields("replay-api")
    if not fields["model"]:
        raise ReplayError("name the model behind the API")
    return ApiEngineer.model_validate(fields)


def arms_table(arms: Sequence[Arm], usual: Sequence[SectionName]) -> None:
    """Who is asked and what each is shown; an arm without sections of its own is shown the usual ones."""
    seen = {name for arm in arms for name in (usual if arm.sections is None else arm.sections)}
    columns = [name for name in NAMES if name in USUAL or name in seen]
    rows = []
    for place, arm in enumerate(arms):
        shown = usual if arm.sections is None else arm.sections
        note = " <small>reference</small>" if not place and len(arms) > 1 else ""
        rows.append((escape(arm.name) + note, *("●" if name in shown else "·" for name in columns)))
    head = [("arm", ""), *((name, help_of(name)) for name in columns)]
    st.html(markup.table("Arms and the sections that they are shown", head, rows, kind="fl-middle"))


def effort(task: ReplayTask, session: Session) -> str:
    """How many answers, how long they will take if that is known, and what they cost."""
    asked = [spec_of(arm, session).engineer for arm in task.arms]
    models = sum("model" in engineer.needs for engineer in asked) * task.samples
    records = [record for stage in range(session.spec.stages) if (record := session.proposal(stage)) is not None]
    seconds = [attempt.seconds for record in records if asks_model(record) for attempt in record.attempts]
    words = f"**{task.total} answers**, the same draws for every arm."
    if models and seconds:
        words += f" Those of the model take about {sessions.duration(models * sum(seconds) / len(seconds))}, if as long as in the session."
    known = estimate(task, session)
    return f"{words} {markup.plain(known.sentence)}" if known else words


def asks_model(record: ProposalRecord) -> bool:
    """Whether the session's own model, or the one before training, wrote this proposal."""
    return record.engineer in BY_NAME and "model" in BY_NAME[record.engineer].needs
