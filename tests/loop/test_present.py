"""Talks: the numbers of the scenes are the session's, and one file holds all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frozenlab.app.present.deck import html_file, talk
from frozenlab.app.present.scenes import (
    USUAL,
    Preparation,
    Story,
    TalkError,
    Words,
    chosen,
    file_of,
    judged_stages,
    kept_scenes,
    live_scene,
    own_scene,
    prepare,
    prepared,
    scenes_for,
    scenes_of,
    summary_of,
    twin_of,
)
from frozenlab.app.session.proposals import knob_rows
from frozenlab.app.ui.components import hash_of
from frozenlab.app.ui.figures import overall
from frozenlab.app.views.lake.share import decode, encode
from frozenlab.app.views.view import turned_tasks
from frozenlab.base import places
from frozenlab.base.numbers import Interval, paired_change, percent, typeset
from frozenlab.cli.main import main
from frozenlab.engineer.engineers.tutor import fall, usual_rate
from frozenlab.experiments.students.menu import LADDER, read_config
from frozenlab.experiments.studies.ladder import by_grpo
from frozenlab.experiments.studies.store import Study
from frozenlab.lake.board import Board
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label
from tests.builders import build_session, small_spec

RECORDED = ("example-quick", "example-long", "example-quick-kept", "example-long-imitation", "example-smollm2")


@pytest.fixture(scope="module", params=RECORDED)
def session(request: pytest.FixtureRequest) -> Session:
    return SessionStore().open(request.param)


def test_the_scenes_say_what_the_session_recorded(session: Session) -> None:
    scenes = {scene["name"]: scene for scene in scenes_of(session)}
    tables = [session.results(stage) for stage in (None, *range(session.spec.stages))]
    rates = [overall(table) for table in tables if table is not None]
    assert (scenes["closing"]["before"], scenes["closing"]["after"]) == (rates[0].percent, rates[-1].percent)
    assert f"{rates[-1].n} {session.results_from}" in scenes["closing"]["note"] and rates[-1].percents in scenes["closing"]["more"][1]
    assert [check["rate"] for check in scenes["whole"]["checks"]] == [rate.value for rate in rates]
    first, steps = judged_stages(session)[0] + 1, session.spec.training.steps
    assert [check["rate"] for check in scenes["curve"]["checks"]] == [rate.value for rate in rates[: first + 1]], "it stops there"
    assert max(step for step, _ in scenes["curve"]["steps"]) <= first * steps < scenes["curve"]["total"]
    [failed], [before, after] = scenes["opening"]["boards"][0]["tracks"], scenes["solved"]["boards"][0]["tracks"]
    assert failed["outcome"] == before["outcome"] == "fault" and after["outcome"] == "optimal"
    wrong = session.validation(first - 1)["valid"].value_counts()[False]
    assert scenes["failed"]["heading"].startswith(f"{wrong} of ")
    reader = scenes["read"]["heading"].removesuffix(" reads how it did")
    assert scenes["failed"]["note"].endswith(f" {reader} reads them next."), "one name for one reader"
    shares = {row["part"] for row in scenes["failed"]["rows"] if row["marked"]}
    assert shares == {max(row["part"] for row in scenes["failed"]["rows"])}, "all that tie"
    [fails], offered = scenes["failed"]["boards"][0]["tracks"], decode(scenes["closing"]["plays"]["board"])
    assert fails["fault"] and [row["name"] for row in scenes["failed"]["rows"] if row["marked"]][-1] in fails["label"], "it fails in view"
    [seen], [shown] = scenes.get("models", scenes["solved"])["boards"], scenes["closing"]["boards"]
    assert shown["tracks"][0]["paths"] == seen["tracks"][1]["paths"], "the last solved board that was seen"
    assert list(offered.rows) == list(shown["board"]["rows"]) == list(seen["board"]["rows"]), "what is offered to play"
    assert all(scene["say"] and scene["seconds"] and len(scene["more"]) == 2 for scene in scenes.values())
    words = sum(len(f"{scene['say']} {scene['more'][0]}".split()) for name, scene in scenes.items() if name in USUAL)
    assert 95 <= words / 5 <= 130, "what is said in a talk of five minutes, a minute"


def test_the_line_is_one_that_the_proposal_cites_and_the_words_and_knobs_are_its_own() -> None:
    session = SessionStore().open("example-quick")
    scenes = {scene["name"]: scene for scene in scenes_of(session)}
    record, context = session.proposal(0), session.context(0)
    cited = {name for claim in record.proposal.claims for name in claim.evidence}
    assert scenes["read"]["text"] == (
        "Size 7: 82 % of 40 validation boards valid, 70 % optimal; first faults: cut off before its end 10 % …"
    )
    assert {line.id for line in context.lines if line.text.startswith("Size 7: 82%")} <= cited
    assert scenes["failed"]["boards"][0]["tracks"][0]["badge"] == "cut off before its end", "what the line speaks of first"
    assert [row["label"] for row in scenes["read"]["rows"]] == ["7 of 40", "4 of 40"] + 3 * ["1 of 40"], "all that fail"
    assert {row["label"] for row in scenes["failed"]["rows"] if row["marked"]} == {"7 of 40"}, "as in the scene before"
    assert record.proposal.summary == "More often: size 3, 7, 8; less often: size 4, 5, 6."
    assert scenes["wrote"]["summary"] == "More often: 3×3, 7×7, 8×8; less often: 4×4, 5×5, 6×6."
    assert all(row["phrase"] in scenes["read"]["text"] for row in scenes["read"]["rows"]), "each bar comes from a phrase of it"
    assert [bool(row["phrase"]) for row in scenes["read"]["rows"]] == [True, True, False, False, False], "the bars say the rest"
    assert [row["name"] for row in scenes["read"]["rows"] if row["marked"]] == ["7×7 that still fail"], "what the answer used"
    assert scenes["read"]["rows"][1]["phrase"] == "cut off before its end 10 %" and scenes["read"]["id"] == "F7"
    assert scenes["wrote"]["claims"] == [], "it has no words of its own"
    [knob] = [one for one in scenes["wrote"]["knobs"] if one["cell"] == "7×7"]
    assert scenes["read"]["claim"] == f"7×7 more often: {knob['before']:.0%} → {knob['after']:.0%}".replace("%", " %"), (
        "what rests on the line"
    )
    assert {(knob["before"], knob["after"]) for knob in scenes["wrote"]["knobs"]} <= {(one.before, one.after) for one in record.changes}
    sizes = [[len(board["board"]["rows"]) for board in scenes["wrote"][name]] for name in ("was", "boards")]
    assert [len(found) for found in sizes] == [9, 9] and [found.count(7) for found in sizes] == [1, 3], "more 7×7, as it wrote"
    assert all(row["low"] <= row["came"] <= row["high"] for row in scenes["came"]["rows"])
    came = paired_change(session.results(0), session.results(1))
    assert sum(row["predicted"] for row in scenes["came"]["rows"]) / 6 == pytest.approx(0.05 / 6)
    assert scenes["came"]["answer"] == f"It predicted +0.8 points of valid plans; the next stage brought {came.signed}."


def test_every_size_that_a_summary_names_has_a_knob_in_words_of_a_room_and_none_that_moved_is_called_preserved() -> None:
    long, language = (chosen(scenes_of(SessionStore().open(name)), ["wrote"])[0] for name in ("example-long", "example-smollm2"))
    assert long["summary"] == "More often: 4×4, 5×5, 10×10; less often: 6×6, 7×7, 8×8, 9×9."
    assert [knob["cell"] for knob in long["knobs"]] == [f"{n}×{n}" for n in range(4, 11)]
    assert "boards where somebody must wait" in {knob["knob"] for knob in language["knobs"]}
    assert "wait ratio" not in json.dumps(scenes_of(SessionStore().open("example-smollm2")))
    proposal = SessionStore().open("example-long").proposal(0).proposal
    assert summary_of(proposal, ["4", "5", "8"]).endswith(" Preserved on purpose: 6×6."), "what stays is said"


def test_a_person_speaks_in_own_words() -> None:
    session = SessionStore().open("example-quick-kept")
    [wrote] = chosen(scenes_of(session), ["wrote"])
    claims = session.proposal(judged_stages(session)[0]).proposal.claims
    assert {typeset(claim.text.replace(f" [{' '.join(claim.evidence)}]", "")) for claim in claims} >= set(wrote["claims"])


def test_many_models_are_shown_each_beside_itself_as_the_study_has_them() -> None:
    [scene] = chosen(scenes_of(SessionStore().open("example-quick")), ["models"])
    boards = pd.read_parquet(Study.place(places.ASSETS) / "ladder-grpo" / "boards.parquet")
    rates = boards.groupby(["student", "arm"])["valid"].mean().unstack()
    assert len(rates) == 15 and sorted(rates["taught"] - rates["equal"]) == pytest.approx(scene["rows"])
    assert [scene["mean"][part] for part in ("what", "value", "bounds")] == ["mean", "+3.4", "+1.5 to +5.3"]
    assert scene["mean"]["came"] == pytest.approx(np.mean(scene["rows"])), "on the axis of the models"
    assert scene["axis"] == "points more than with equal shares" and scene["more"][0] == (
        "The mean is +3.4 points (+1.5 to +5.3); +2.5 (+1 to +4) was predicted before the study ran. "
        "An oracle, which knows what is wrong and trains on little else, wins +5.1 points (+3.5 to +6.7)."
    )
    oracle = 100 * (rates["oracle"] - rates["equal"]).mean()
    assert f"wins {oracle:+.1f} points" in scene["more"][0] and "oracle" not in scene["note"], "for the speaker only"
    assert [part["shows"] for part in scene["parts"]] == ["lesson", "duo", "models"]
    assert sum(part["seconds"] for part in scene["parts"]) == scene["seconds"], "the time of a film"
    better = int((rates["taught"] > rates["equal"]).sum())
    assert scene["heading"] == f"Its own choice wins: {better} of 15 models" and scene["question"] == "And with many models?"
    assert [track["outcome"] for track in scene["boards"][0]["tracks"]] == ["fault", "optimal"]
    shown = by_grpo()[1].reset_index(names="arm")
    known = boards[boards["student"] == "ladder-12"].merge(shown, on=["arm", "board_id"], suffixes=("", "_shown"))
    assert len(known) == 2 and (known["valid"] == known["valid_shown"]).all(), "the answers are the study's"


def test_the_tutor_gives_boards_to_what_has_fallen_and_not_to_what_is_low() -> None:
    [scene] = chosen(scenes_of(SessionStore().open("example-quick")), ["models"])
    lost, low, high = scene["lesson"]["kinds"]
    assert [kind["name"] for kind in (lost, low, high)] == ["6×6 corridor, 3 agents", "9×9 one-way, 4 agents", "9×9, 2 agents"]
    cells = {cell.name: cell for cell in read_config(LADDER).described()}
    for kind, name in zip((lost, low, high), ("3@corridor6", "4@oneway9", "2@9"), strict=True):
        assert kind["usual"] == usual_rate(cells[name]) and kind["before"] == 1 / len(cells)
        assert (kind["after"] > kind["before"]) == (fall(kind["now"], kind["usual"]) > 0), "the tutor's own rule"
    rest = 1 - sum(kind["after"] for kind in (lost, low, high))
    assert scene["parts"][0]["note"] == f"The rest, {percent(rest)} of the boards, goes to the other kinds."
    assert low["now"] < high["now"] and low["after"] == high["after"] == 0 and "first picture" in scene["more"][1]


def test_eight_tries_are_of_one_board_and_what_holds_is_what_was_judged_so() -> None:
    [scene] = chosen(scenes_of(SessionStore().open("example-quick")), ["tries"])
    assert len(scene["boards"]) == len(scene["good"]) == 8 and 0 < sum(scene["good"]) < 8
    assert len({json.dumps(board["board"]) for board in scene["boards"]}) == 1
    assert [board["tracks"][0]["outcome"] != "fault" for board in scene["boards"]] == scene["good"]
    sampled = SessionStore().open("example-quick").completions(0)
    [group] = [rows for _, rows in sampled.groupby(["training_step", "board_id"]) if rows["reward"].tolist() == _parts(scene)]
    assert scene["average"] == pytest.approx(group["reward"].mean()) and f"of {scene['average']:.2f} (mark)" in scene["note"]
    first, holds = group[group["valid"]].iloc[0], 1 - SessionStore().open("example-quick").spec.training.optimality
    pays = f"{first['reward']:.2f} = {holds:.2f} for being valid + {first['reward'] - holds:.2f} for speed"
    assert scene["note"].startswith(f"{pays} ({first['makespan']} steps, {first['optimal_makespan']} would do)."), "what the figures are"
    assert [score["why"] for score in scene["scores"]] == [
        f"{row['makespan']} steps, {row['optimal_makespan']} would do" if row["valid"] else "" for _, row in group.iterrows()
    ]
    assert [score["likelier"] for score in scene["scores"]] == [score > scene["average"] for score in _parts(scene)] == scene["good"]
    assert not chosen(scenes_of(SessionStore().open("example-long-imitation")), ["tries"]), "imitation rewards nothing"


def _parts(scene: dict[str, Any]) -> list[float]:
    return [score["part"] for score in scene["scores"]]


def test_a_session_has_a_twin_once_both_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    kept, own = (small_spec(engineer={"kind": kind}) for kind in ("fixed", "policy"))
    twin, running, ended = (
        build_session(tmp_path, spec, name, finished_stages=stages)
        for spec, name, stages in ((kept, "kept", None), (own, "running", 2), (own, "ended", None))
    )
    found = twin_of(ended)
    assert found is not None and found.id == twin.id and twin_of(running) is None
    assert "curve" in {scene["kind"] for scene in scenes_for(running, Preparation())}, "its talk shows no difference yet"


def test_the_twin_that_kept_its_config_answers_the_question() -> None:
    session = SessionStore().open("example-quick")
    twin = twin_of(session)
    assert twin is not None and twin.id == "example-quick-fixed" and twin_of(twin) is None
    mine, kept = (one.results(2) for one in (session, twin))
    gain = paired_change(kept, mine)
    whole, closing = chosen(kept_scenes(session), ["whole", "closing"])
    assert [board["tracks"][0]["outcome"] for board in closing["boards"]] == ["optimal"]
    assert closing["about"] == "6×6 corridor, 3 agents: one of the 15 models, after its own choice"
    assert gain.bounds not in f"{closing['say']} {closing['more'][0]}", "the screen shows it, and the draft says each thing once"
    assert whole["heading"] == "Was it the redesign?" and gain.points in whole["answer"]
    assert [(one["value"], one["bounds"]) for one in closing["figures"]] == [("+3.4", "+1.5 to +5.3"), (gain.signed, gain.bounds)]
    assert [one["says"] for one in closing["figures"]] == ["it helped", "cannot tell"] and closing["axis"] == ["worse", "0", "better"]
    assert whole["gain"]["label"] == gain.signed and whole["gain"]["ends"] == gain.bounds.split(" to ")
    assert whole["other"]["checks"][0]["rate"] == whole["checks"][0]["rate"], "both began alike"
    ahead = [own["name"] for own, other in zip(whole["checks"], whole["other"]["checks"], strict=True) if own["rate"] < other["rate"]]
    assert ahead == ["stage 2"] and "After stage 2 the twin was ahead." in whole["say"]
    assert not gain.clear and closing["say"] == (
        "Yes, once a tutor has taught it to choose. 15 models that were taught something wrong: it helped. "
        "Here, in one pair of sessions: cannot tell."
    )
    assert closing["say"].startswith(f"{closing['heading']}. ") and closing["asks"] == "Can a model design what it learns from?"
    assert gain.points not in closing["note"] and "→" not in closing["note"], "what cannot be credited to the redesign"
    other = scenes_of(SessionStore().open("example-smollm2"))[-1]
    assert "Yes" not in other["heading"] and not other["figures"]
    alone, closing = chosen(scenes_of(session), ["whole", "closing"])
    assert "other" not in alone and closing["heading"] == "Yes, once a tutor has taught it to choose"


@pytest.mark.parametrize(
    ("gain", "answer", "figures"),
    [
        (Interval(0.03, 0.01, 0.05, 600), "It helped in this pair of sessions", ["it helped"]),
        (Interval(-0.03, -0.05, -0.01, 600), "It did harm in this pair of sessions", ["it did harm"]),
        (Interval(-0.01, -0.03, 0.01, 600), "One pair of sessions cannot tell", ["cannot tell"]),
        (None, "It learned, but one session cannot say why", []),
    ],
)
def test_without_a_study_the_twin_answers_if_there_is_one(
    gain: Interval | None, answer: str, figures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Story, "gain", gain)
    closing = scenes_of(SessionStore().open("example-smollm2"))[-1]
    assert (closing["heading"], [one["says"] for one in closing["figures"]]) == (answer, figures)


def test_another_change_and_another_board_are_told_if_there_are_such() -> None:
    session = SessionStore().open("example-quick")
    first, second = judged_stages(session)
    [curve] = chosen(scenes_of(session, second), ["curve"])
    assert len(curve["checks"]) == second + 2
    usual = scenes_of(session)[0]
    base, end = session.results(None), session.results(2)
    boards = turned_tasks(base, end)
    assert all(not base.set_index("board_id")["valid"][board] and end.set_index("board_id")["valid"][board] for board in boards)
    assert any(scenes_of(session, first, board)[0]["boards"] != usual["boards"] for board in boards[:3])
    assert scenes_of(session, 7, "no such board")[0] == usual


def test_a_session_that_trains_is_shown_as_it_is(tmp_path: Path) -> None:
    running = build_session(tmp_path, status="running", finished_stages=1)
    scene = live_scene(running)
    assert scene["kind"] == "live" and len(scene["boards"]) == 1 and len(scene["checks"]) == 2
    assert scene["heading"].endswith("?") and scene["note"].startswith("Line: plans sampled in training") and scene["say"].count(". ") == 2
    assert scene["boards"][0]["tracks"][0]["label"].startswith("from training step "), "the plan has steps of its own"
    written = {(knob["cell"], knob["before"], knob["after"]) for knob in scene["wrote"]["knobs"]}
    assert written and written <= {(cell_label(row.cell), row.before, row.after) for row in knob_rows(running.proposal(0))}
    for table in running.dir.glob("stages/*/completions.parquet"):
        table.unlink()
    [fault] = live_scene(Session(running.dir))["boards"][0]["tracks"]
    assert (fault["label"], fault["outcome"]) == ("before training", "fault"), "until there is a plan of its training"
    done = live_scene(build_session(tmp_path, session_id="done"))
    assert len(done["checks"]) == len(done["marks"]) + 2 and done["steps"], "the whole curve, below its two numbers"
    assert done["kind"] == "numbers" and "%" in done["before"] and "n = " in done["note"]


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
    assert [scene["name"] for scene in chosen(scenes, ["curve", "opening"])] == ["curve", "opening"]
    assert [scene["name"] for scene in chosen(scenes, [])] == [scene["name"] for scene in scenes if scene["name"] in USUAL]
    with pytest.raises(TalkError, match="no scene nonsense; choose from opening, tries"):
        chosen(scenes, ["nonsense"])


def test_what_was_prepared_is_kept_beside_the_sessions(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = build_session(tmp_path)
    assert prepared(session, store) == Preparation(scenes=USUAL)
    own = {"own-1": Words(heading="Who we are", text="Two of us.")}
    wanted = Preparation(scenes=("came", "own-1", "opening"), notes={"came": "Slowly."}, own=own, title="Ice", minutes=10)
    prepare(session, store, wanted)
    assert prepared(session, store) == wanted
    scenes = {scene["name"]: scene for scene in scenes_for(session, wanted)}
    assert scenes["opening"]["heading"] == scenes["closing"]["asks"] == "Ice" and scenes["own-1"]["text"] == "Two of us."
    blank = Preparation(own={"own-1": Words(text=" \n")})
    names = [[scene["name"] for scene in chosen(scenes_for(session, blank), own)] for own in (["own-1", "opening"], ["own-1"])]
    assert names[0] == ["opening"] and names[1][0] == "opening" and "own-1" not in names[1], "nobody is shown a blank screen"
    board = encode(Board.from_text("S F F G"))
    [shown] = own_scene("own-1", Words(text=f"Try it:\nhttp://lab.example/play?board={board}&x=1"))["boards"]
    assert (
        shown["board"]["rows"] == ("FFFF",) and shown["tracks"][0]["outcome"] and not own_scene("own-1", Words(text="?board=no"))["boards"]
    )
    file_of(session, store).write_text('{"schema_version": 1, "scenes": ["failure", "came"]}')
    assert prepared(session, store).scenes == ("came",), "an older version had other scenes"
    file_of(session, store).write_text("{half")
    assert prepared(session, store) == Preparation()


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "talk.html"
    assert main(["present", "example-quick", "--out", str(out), "--scenes", "opening, came", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenes"] == ["opening", "came"] and out.stat().st_size < 4_000_000
    assert main(["present", "example-quick", "--out", str(out), "--scenes", "opening,nonsense"]) == 2
    assert "there is no scene nonsense" in capsys.readouterr().err
