"""What the engineers of a study wrote, side by side, and the way from there to the story of each session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.session.proposals import KnobRow, knob_rows
from frozenlab.app.studies.views import stories
from frozenlab.app.studies.wrote import matrix, mix_cell
from frozenlab.app.ui.live import address, look_at
from frozenlab.base.numbers import share, typeset
from frozenlab.engineer.schema import Repair
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.store import Study
from frozenlab.session.forks import fork
from frozenlab.session.session import SessionError
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import LAKE
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, source, words

pytestmark = pytest.mark.usefixtures("sessions_folder")


def built(*engineers: str, only: Sequence[int] = (0, 1)) -> Study:
    """A study called ``mine`` with two seeds, those of ``only`` run."""
    session = small_spec(stages=2, sizes=(3, 4), boards_per_size=6)
    spec = engineers_study(2, session=session, engineers=engineers)
    study = Study.create(spec, SessionStore(), "mine")
    for cell in study.cells:
        if cell.seed in only:
            build_session(study.sessions.root, spec.spec_of(cell.arm, cell.seed), cell.id)
    return study


def links(app: AppTest) -> list[str]:
    return re.findall(r'<a href="story\?([^"]*)"', unescape(source(app)))


def test_arms_stand_beside_each_other_and_lead_to_their_stories() -> None:
    study = built("rules", "uniform")
    build_session(SessionStore().root)
    app = open_page("wrote", study="mine")
    assert "In each of 2 training runs the arms wrote different configs." in words(app)
    assert [head.value for head in app.header] == ["Before training", "After stage 1", "After stage 2"]
    session = study.session(study.cells[0])
    said = [record.proposal.summary for stage in (None, 0, 1) if (record := session.proposal(stage)) and record.proposal]
    assert all(sentence in words(app) for sentence in said)
    assert links(app)[:2] == ["session=mine%2Frules-s0&part=wrote", "session=mine%2Funiform-s0&part=wrote"]
    story = open_page("story", session="mine/rules-s0", part="wrote")
    assert said[1] in words(story) and str(story.query_params["session"]) == "mine/rules-s0"


def test_a_row_of_the_matrix_shows_each_share_before_and_after_and_opens_on_every_claim() -> None:
    session = build_session(SessionStore().root)
    wrote = {"rules": session.proposals()[-1]}
    html = matrix(wrote, {"rules": ""})
    shown = unescape(re.sub(r"<[^>]*>", "", html))
    assert wrote["rules"].claims and all(typeset(claim.text) in shown for claim in wrote["rules"].claims)
    for row in knob_rows(wrote["rules"]):
        if row.knob == "share" and row.words != "same" and row.before is not None and row.after is not None:
            assert f"{share(row.before).removesuffix(' %')} → {share(row.after)}" in shown
    assert {"is-up", "is-down"} <= set(re.findall(r"is-\w+", html))


def test_a_value_of_the_guard_stands_beside_the_one_that_was_asked_for() -> None:
    asked = Repair(cell="4", knob="wait_ratio", proposed=0.5, used=0.4, reason="at most 0.2 a stage")
    for before in (0.2, 0.4):
        said = unescape(re.sub(r"<[^>]*>", "", mix_cell("4", [KnobRow("4", "wait_ratio", before, 0.4, asked)], LAKE, 1.0)))
        assert "40 %" in said and said.endswith("asked for 50\N{NO-BREAK SPACE}%")


def test_arms_that_wrote_the_same_have_varied_nothing() -> None:
    built("policy", "rules")
    assert "In 2 of 2 training runs all arms wrote the same configs: **nothing was varied**" in words(open_page("wrote"))
    assert "The same config as that of the model itself." in words(open_page("wrote"))


def test_a_study_without_sessions_says_so() -> None:
    assert "A study of your own appears here" in words(open_page("wrote"))
    built("rules", "uniform", only=())
    assert "No engineer has been asked yet." in words(open_page("wrote"))


def test_each_rate_of_the_table_leads_to_its_session() -> None:
    study = built("rules", "uniform")
    found = stories(report_of(study))
    assert found["rules", "seed 1"] == "mine/rules-s1" and len(found) == 4
    assert "Click a rate" in words(open_page("studies", study="mine", view="arms"))
    assert "Click a rate" not in words(open_page("studies", study="recorded-sections", view="arms"))


def test_a_session_within_a_study_has_an_address_and_can_be_forked() -> None:
    built("rules", "uniform", only=(0,))
    store = SessionStore()
    session = store.open("mine/rules-s0")
    assert session.address == "mine/rules-s0" and build_session(store.root).address == "built"
    assert session.root == store.root and address(session) == "live/session/mine/rules-s0"
    assert look_at("session", session.address, store.root)(), "its feed"
    forked = fork(session, 0, store)
    assert forked.spec.parent is not None and store.open(forked.spec.parent.session).dir == session.dir
    assert "Branches" in [head.value for head in open_page("story", session="mine/rules-s0", part="session").header]


@pytest.mark.parametrize("name", ["mine/", "/rules-s0", "mine/rules-s0/x", "../rules-s0", "mine/..", "other/rules-s0", "mine/rules-s1"])
def test_no_other_address_opens(name: str) -> None:
    built("rules", "uniform", only=(0,))
    with pytest.raises(SessionError):
        SessionStore().open(name)
