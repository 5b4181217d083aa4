"""Talks: the numbers of the scenes are the session's, and one file holds all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from frozenlab.app.present.deck import html_file, talk
from frozenlab.app.present.page import preparation_of
from frozenlab.app.present.scenes import NAMES, PARTS, Preparation, TalkError, chosen, file_of, prepare, prepared, scenes_of
from frozenlab.app.ui.components import hash_of
from frozenlab.app.ui.figures import overall
from frozenlab.base.numbers import typeset
from frozenlab.cli.main import main
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session

RECORDED = ("example-quick", "example-long", "example-quick-kept", "example-long-imitation", "example-smollm2")


@pytest.fixture(scope="module", params=RECORDED)
def session(request: pytest.FixtureRequest) -> Session:
    return SessionStore().open(request.param)


def test_the_scenes_say_what_the_session_recorded(session: Session) -> None:
    scenes = {scene["name"]: scene for scene in scenes_of(session)}
    tables = [session.results(stage) for stage in (None, *range(session.spec.stages))]
    rates = [overall(table) for table in tables if table is not None]
    assert (scenes["opening"]["before"], scenes["opening"]["after"]) == (rates[0].percent, rates[-1].percent)
    assert f"n = {rates[-1].n}" in scenes["opening"]["note"] and rates[-1].percents in scenes["opening"]["note"]
    assert [check["rate"] for check in scenes["curve"]["checks"]] == [rate.value for rate in rates]
    before, after = scenes["solved"]["boards"][0]["tracks"]
    assert before["outcome"] == "fault" and after["outcome"] == "optimal"
    assert all(track["outcome"] == "fault" for board in scenes["failed"]["boards"] for track in board["tracks"])
    assert scenes["read"]["lines"] and all(row["n"] for row in scenes["came"]["rows"])


def test_the_cited_lines_are_those_of_the_proposal() -> None:
    session = SessionStore().open("example-quick")
    scenes = {scene["name"]: scene for scene in scenes_of(session)}
    record = session.proposal(0)
    assert record is not None and record.proposal is not None
    cited = {name for claim in record.proposal.claims for name in claim.evidence}
    assert {line["id"] for line in scenes["read"]["lines"] if line["cited"]} <= cited
    assert scenes["wrote"]["summary"] == record.proposal.summary
    assert {typeset(claim.text) for claim in record.proposal.claims} >= set(scenes["wrote"]["claims"])
    assert {(knob["before"], knob["after"]) for knob in scenes["wrote"]["knobs"]} <= {(one.before, one.after) for one in record.changes}


def test_one_file_holds_the_talk_and_asks_for_nothing(session: Session) -> None:
    text = html_file(session.spec.tasks, talk(session, scenes_of(session), {"opening": "</script><b>hello"}))
    assert len(text.encode()) < 4_000_000
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
    assert "http" not in re.sub("http://www.w3.org/2000/svg|http-equiv", "", text)
    [talk_data] = re.findall(r'<script type="application/json" id="talk">(.*?)</script>', text, re.DOTALL)
    assert json.loads(talk_data)["notes"]["opening"] == "</script><b>hello"
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    [code] = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert policy.startswith("default-src 'none'; ") and policy.endswith(f"; script-src {hash_of(code)}"), "no other script runs"


def test_a_session_without_a_tested_change_has_no_story(tmp_path: Path) -> None:
    session = build_session(tmp_path, status="stopped", finished_stages=1)
    with pytest.raises(TalkError, match="no story to tell"):
        scenes_of(session)


def test_scenes_are_chosen_and_ordered_by_name(session: Session) -> None:
    scenes = scenes_of(session)
    assert [scene["name"] for scene in chosen(scenes, ["came", "opening"])] == ["came", "opening"]
    assert list(chosen(scenes, [])) == scenes
    with pytest.raises(TalkError, match=r"no scene nonsense; choose from opening, failure"):
        list(chosen(scenes, ["nonsense"]))


def test_what_was_prepared_is_kept_beside_the_sessions(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = build_session(tmp_path)
    assert prepared(session, store) == Preparation(scenes=NAMES)
    wanted = Preparation(scenes=("came", "opening"), notes={"came": "Slowly."})
    prepare(session, store, wanted)
    assert prepared(session, store) == wanted
    file_of(session, store).write_text("{half")
    assert prepared(session, store) == Preparation()


def test_the_table_becomes_a_preparation_by_place() -> None:
    rows = [{"name": part.name, "show": part.name != "curve", "place": 9 - n, "notes": ""} for n, part in enumerate(PARTS)]
    rows[0]["notes"] = "Wait for silence."
    assert preparation_of(rows).scenes == tuple(name for name in reversed(NAMES) if name != "curve")
    assert preparation_of(rows).notes == {"opening": "Wait for silence."}


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "talk.html"
    assert main(["present", "example-quick", "--out", str(out), "--scenes", "opening, came", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenes"] == ["opening", "came"] and out.stat().st_size < 4_000_000
    assert main(["present", "example-quick", "--out", str(out), "--scenes", "opening,nonsense"]) == 2
    assert "there is no scene nonsense" in capsys.readouterr().err
