"""Replays: asking engineers again trains nothing, changes nothing in the session, gives all arms the same draws and keeps known answers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frozenlab.engineer.engineers import UNATTENDED, ApiEngineer, FixedEngineer, RulesEngineer, engineer_of
from frozenlab.engineer.schema import Attempt
from frozenlab.engineer.sections import USUAL
from frozenlab.experiments.replays.asking import replay
from frozenlab.experiments.replays.cost import estimate
from frozenlab.experiments.replays.report import compared, faithful_claims, proposals, sentences, sign_flips
from frozenlab.experiments.replays.store import Answer, Replay, write_answers
from frozenlab.experiments.replays.task import (
    ReplayError,
    ReplayTask,
    arms_of_engineers,
    arms_of_sections,
    arms_two_by_two,
    askable,
    task_for,
    validated_stages,
)
from frozenlab.experiments.studies.arms import section_arms
from frozenlab.experiments.studies.grid import Arm
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.worker import work_on
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import SessionStore
from tests.builders import build_session

ENGINEERS = ("rules", "uniform", "random", "fixed")
RULES = Arm(name="rules", engineer="rules")
API = ApiEngineer(base_url="http://127.0.0.1:9/v1", model="any", input_price=1.0, output_price=10.0, max_tokens=1000)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Outside the sessions folder of a test. Tests only read it."""
    return build_session(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def session(built: Session, store: SessionStore) -> Session:
    return Session(shutil.copytree(built.dir, store.root / built.id))


@pytest.fixture
def scripted(session: Session, store: SessionStore) -> Replay:
    """With engineers that need no model, of which none has been asked yet."""
    arms = arms_of_engineers(map(engineer_of, ENGINEERS), "policy")
    return Replay.create(task_for(session, 1, arms, "engineers", samples=3), store, "asked")


def files_of(folder: Path) -> dict[str, float]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


# --- the answers -----------------------------------------------------------------------------------------------------


def test_the_engineers_of_the_recorded_session_are_asked_again() -> None:
    session = SessionStore().open("example-quick")
    untouched = files_of(session.dir)
    arms = [section_arms()[0], Arm(name="blind", sections=()), RULES, Arm(name="fixed", engineer="fixed")]
    task = task_for(session, 1, arms, "test", samples=3)
    answers = list(replay(task, session))
    assert [answer.key for answer in answers] == [(arm.name, n) for n in range(3) for arm in arms]
    rows = proposals(answers)
    assert len(rows) == 4 * 3 * 6
    rest = list(replay(task, session, known={answer.key for answer in answers[:-2]}))
    pd.testing.assert_frame_equal(proposals(rest), rows[-12:].reset_index(drop=True))
    table = compared(rows, arms[0].name)
    assert table.loc[arms[0].name, "distance"] == 0 < table.loc["blind", "distance"]
    assert table.loc[["rules", "fixed"], "spread"].max() == pytest.approx(0) and table.loc["fixed", "changes"] == 0
    assert (table["n"] == 3).all()
    kept = rows[rows["arm"] == "fixed"].set_index("cell")
    sizes = session.environment(1).config.cells  # type: ignore[union-attr]
    assert all(kept.loc[size, "hole_ratio"].eq(cell.hole_ratio).all() for size, cell in sizes.items())
    assert files_of(session.dir) == untouched


def test_an_impossible_question_is_refused_with_a_reason(store: SessionStore) -> None:
    session = build_session(store.root, finished_stages=1)
    assert validated_stages(session) == [0]
    assert askable(session, 0) == [name for name in UNATTENDED if name not in ("policy", "api")]
    with pytest.raises(SessionError, match="has not validated a stage 3"):
        task_for(session, 2, [RULES], "rules")
    for arms, fields, said in (
        ([Arm(name="all")], {}, "the arm all cannot be asked: the engineer policy needs the weights of stage 1, which built does not have"),
        ([Arm(name="me", engineer="human")], {}, "the arm me cannot be asked: its engineer is a person"),
        ([RULES], {"samples": 0}, "samples: "),
        ([RULES], {"seed": -1}, "seed: "),
        ([RULES, RULES], {}, "two arms are the same"),
    ):
        with pytest.raises(ReplayError, match=said):
            task_for(session, 0, arms, "x", **fields)


def test_the_arms_of_every_kind() -> None:
    names = [[arm.name for arm in arms_of_sections(kind, USUAL[:2])] for kind in ("sections", "leave-one-out", "one-at-a-time")]
    assert names == [
        ["behaviour-failures", "behaviour", "failures", "none"],
        ["all", "no-behaviour", "no-failures"],
        ["all", "none", "only-behaviour", "only-failures"],
    ]
    for kind in ("sections", "leave-one-out", "one-at-a-time"):
        first, *others = arms_of_sections(kind, USUAL, API)
        assert first.sections == USUAL and {arm.engineer for arm in (first, *others)} == {API}
    assert [(arm.name, arm.engineer) for arm in arms_of_engineers((API, FixedEngineer(), RulesEngineer()), "rules")] == [
        ("rules", RulesEngineer()), ("api", API), ("fixed", FixedEngineer()),
    ]  # fmt: skip


# --- the folder and the process --------------------------------------------------------------------------------------


def test_answers_are_kept_and_not_asked_again(scripted: Replay, session: Session) -> None:
    untouched = files_of(session.dir)

    def stop_at(share: float) -> None:
        if share == 5 / 12:
            (scripted.dir / STOP_FILE).touch()

    assert work_on(scripted, stop_at) == 3
    assert scripted.state().status == "stopped" and scripted.state().progress < 1
    first = scripted.answers()
    assert [answer.sample for answer in first] == [0, 0, 0, 0, 1]
    (scripted.dir / STOP_FILE).unlink()
    progress: list[float] = []
    assert work_on(scripted, progress.append) == 0
    assert progress == [n / 12 for n in range(6, 13)], "those that were there are not asked again"
    assert (scripted.state().status, scripted.state().progress) == ("done", 1.0)
    assert scripted.answers()[:5] == first and len(scripted.answers()) == scripted.spec.total
    assert work_on(scripted) == 0, "nothing is left to ask"
    assert files_of(session.dir) == untouched


def test_answers_are_there_while_it_runs(scripted: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.jobs.recorder.EVERY", 0.0)
    seen: list[int] = []
    work_on(scripted, lambda share: seen.append(len(Replay(scripted.dir).answers())))
    assert seen == list(range(1, 13))


def test_a_replay_whose_weights_vanish_says_why(session: Session, store: SessionStore) -> None:
    weights = session.stage_dir(0) / "policy" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"")
    gone = Replay.create(task_for(session, 0, [Arm(name="all")], "x", samples=1), store)
    weights.unlink()
    assert work_on(gone) == 1
    assert "the engineer policy needs the weights of stage 1" in (gone.state().error or "")
    assert gone.answers() == []


def test_damaged_answers_are_named(scripted: Replay) -> None:
    (scripted.dir / "answers.parquet").write_bytes(b"torn")
    with pytest.raises(ReplayError, match=r"answers\.parquet cannot be read"):
        scripted.answers()
    rows = pd.read_parquet(Replay.shipped()[0].dir / "answers.parquet")
    rows.assign(faithful=3, claims=2).to_parquet(scripted.dir / "answers.parquet")
    with pytest.raises(ReplayError, match=r"answers\.parquet cannot be read: \d+ of \d+ claims cannot be faithful"):
        scripted.answers()


def test_a_session_in_another_folder_is_found(built: Session, store: SessionStore) -> None:
    found = Replay.create(task_for(built, 0, [RULES], "x", folder=built.dir, samples=1), store)
    assert found.session.dir == built.dir and work_on(found) == 0


@pytest.mark.parametrize("found", Replay.shipped(), ids=lambda found: found.id)
def test_a_recorded_replay_is_whole_and_small(found: Replay) -> None:
    answers = found.answers()
    assert {answer.key for answer in answers} == {(arm.name, n) for arm in found.spec.arms for n in range(found.spec.samples)}
    session = found.session
    assert found.spec.folder is None and session.read_only
    config = session.environment(found.spec.stage).config  # type: ignore[union-attr]
    assert all(answer.record.config_before == config for answer in answers)
    assert sum(path.stat().st_size for path in found.dir.iterdir()) < 300_000
    assert {path.name for path in found.dir.iterdir()} == {"task.json", "answers.parquet"}


# --- what they say ---------------------------------------------------------------------------------------------------


def table(**arms: list[float]) -> pd.DataFrame:
    """Answers that differ in the hole ratio of one map size alone."""
    counts = {"changes": 1, "repairs": 0, "faithful": np.nan, "claims": np.nan}
    common = {"usable": True, "attempts": 1, "tokens": 10, "cost": float("nan"), "cell": "3"} | counts
    rows = [(arm, n, hole) for arm, holes in arms.items() for n, hole in enumerate(holes)]
    return pd.DataFrame([common | {"arm": arm, "sample": n, "share": 1.0, "hole_ratio": hole, "wait_ratio": 0.1} for arm, n, hole in rows])


def test_spread_and_distance_are_mean_absolute_differences_in_points() -> None:
    answers = table(a=[0.2, 0.4], b=[0.6, 0.6])
    answers.loc[3, "usable"] = False
    table_of_arms = compared(answers, "a")
    assert table_of_arms["spread"].to_dict() == pytest.approx({"a": 10 / 3, "b": 0})  # one knob of three, 10 points from the mean
    assert table_of_arms["distance"].to_dict() == pytest.approx({"a": 0, "b": 10})
    assert table_of_arms["unusable"].to_dict() == {"a": 0, "b": 1}
    with pytest.raises(ValueError, match="the reference arm c has no answer"):
        compared(answers, "c")


def test_faithful_claims_are_counted_for_each_arm_where_they_were_checked() -> None:
    answers = table(a=[0.2, 0.4], b=[0.6, 0.6])
    assert not list(faithful_claims(compared(answers, "a")))
    answers = answers.assign(faithful=[3, 3, 1, 2], claims=3)
    assert compared(answers, "a")[["faithful", "claims"]].to_numpy().tolist() == [[6, 6], [3, 6]]
    assert list(faithful_claims(compared(answers, "a"))) == [
        "9 of 12 claims are faithful to the evidence and the config (75 %, 47 to 91 %), fewest from b: 50 %."
    ]


def test_a_difference_is_distinguished_from_chance() -> None:
    rng = np.random.default_rng(1)
    noise = list(rng.normal(0.3, 0.05, 16))
    answers = table(a=noise, same=noise, like=list(rng.permutation(noise)), far=[hole + 0.05 for hole in noise])
    p = {arm: sign_flips(answers, arm, "a") for arm in ("same", "like", "far")}
    assert p["same"] == 1 and p["like"] > 0.05 and p["far"] < 0.001
    assert sign_flips(table(a=[0.2], b=[0.6]), "b", "a") == 1, "one pair tells nothing"
    held = compared(answers, "a")["p"]
    assert np.isnan(held["a"]) and held["far"] == pytest.approx(3 * p["far"]), "Holm, over three arms"


def test_the_false_alarms_of_the_sign_test_are_as_rare_as_it_says() -> None:
    rng = np.random.default_rng(0)
    alarms = sum(sign_flips(table(a=list(rng.normal(size=8)), b=list(rng.normal(size=8))), "b", "a") < 0.05 for _ in range(200))
    assert alarms <= 20  # 10 are expected; 21 or more have a chance below 0.1 %


def task(*arms: Arm, samples: int = 8) -> ReplayTask:
    return ReplayTask(title="t", session="s", stage=0, arms=arms, samples=samples)


def said_of(answers: pd.DataFrame, replayed: ReplayTask) -> list[str]:
    return sentences(compared(answers, replayed.reference), replayed)


def test_sentences_about_engineers() -> None:
    answers = table(policy=[0.30, 0.32] * 4, base=[0.30, 0.32] * 4, uniform=[0.6] * 8)
    answers.loc[answers["arm"] == "base", "usable"] = [False, *[True] * 7]
    said = said_of(answers, task(*(Arm(name=name, engineer=name) for name in ("policy", "base", "uniform"))))  # type: ignore[arg-type]
    assert said == [
        "Furthest from the model itself is equal shares, 30 % holes, 9.7 points per setting away; the model before "
        "training proposes the same.",
        "1 of 2 arms differ from the model itself by more than chance explains (p < 0.05 after Holm's correction); not "
        "the model before training.",
        "Asked again, the answers of the model itself vary most: 0.3 points per setting around their mean; always the "
        "same: equal shares, 30 % holes.",
        "1 of 24 answers could not be used (4 %, 95 % interval 1 to 20 %), most of them from the model before training: 1 of 8.",
    ]


def test_sentences_about_sections_name_the_one_that_matters() -> None:
    arms = arms_of_sections("sections", ("failures", "statistics"))
    values = {"failures-statistics": 0.3, "failures": 0.6, "statistics": 0.33, "none": 0.6}
    said = said_of(table(**{name: [value] * 8 for name, value in values.items()}), task(*arms))
    assert said[0] == (
        "Hiding statistics moves the proposal most: the 2 arms without statistics lie 10.0 points per setting from the full context, the 1 "
        "arm with it 1.0. They state the current config: without it an engineer can only write a new one."
    )
    assert said[1].startswith("All other arms differ from failures-statistics by more than chance explains")
    assert said[2] == "Asked again, every arm answers the same."
    assert "The arm none still sees behaviour, preserved and history." in said
    early = said_of(table(**{name: [value] for name, value in values.items()}), task(*arms))
    assert early[0].startswith("Chance could explain it, but hiding statistics moved the proposal most:")
    assert early[1] == ("1 answer of each arm cannot decide whether chance explains that: with 3 comparisons it takes 7 or more.")
    assert len(early) == 4, "one answer each has no spread"
    close = said_of(table(**{"failures-statistics": [0.3, 0.5] * 4, "none": [0.3, 0.6, 0.4, 0.3] * 2}), task(arms[0], arms[-1]))
    assert close[1].startswith("Chance could explain how far the other arms are from failures-statistics"), "8 answers can decide it"
    assert said_of(table(one=[0.3, 0.3]), task(Arm(name="one"))) == [
        "Asked again, every arm answers the same.", "0 of 2 answers could not be used (0 %, 95 % interval 0 to 66 %).",
    ]  # fmt: skip


def test_an_unusable_answer_counts_as_the_config_before(store: SessionStore) -> None:
    record = build_session(store.root, broken_stage=0).proposal(0)
    paid = record.model_copy(update={"attempts": (Attempt(raw="", cost=0.5, tokens=7, seconds=1), *record.attempts)})
    rows = proposals([Answer("a", 0, record), Answer("b", 0, paid)])
    assert not rows["usable"].any() and (rows["changes"] == 0).all()
    first = rows[rows["arm"] == "a"].set_index("cell")
    assert first["hole_ratio"].to_dict() == {name: cell.hole_ratio for name, cell in record.config_before.cells.items()}
    assert rows.groupby("arm")["cost"].first().isna().to_dict() == {"a": True, "b": False} and rows["cost"].max() == 0.5
    write_answers(store.root, [Answer("a", 0, record)])
    assert pd.read_parquet(store.root / "answers.parquet")["record"][0] == record.model_dump_json()


# --- what it costs ---------------------------------------------------------------------------------------------------


def with_api_answers(session: Session, tokens: int) -> None:
    record = session.proposal(0)
    answered = record.model_copy(update={"engineer": "api", "attempts": (Attempt(raw="{}", tokens=tokens, seconds=1),)})
    (session.stage_dir(0) / "proposal.json").write_text(answered.model_dump_json())


def test_only_answers_that_an_api_still_has_to_give_are_estimated(session: Session) -> None:
    free = task_for(session, 0, arms_of_engineers(map(engineer_of, ENGINEERS), "policy"), "x", samples=4)
    assert estimate(free, session) is None
    arms: Any = (*arms_of_engineers((RulesEngineer(), API), "policy"), Arm(name="blind", engineer=API, sections=()))
    paid = task_for(session, 0, arms, "x", samples=4)
    expected = estimate(paid, session)
    assert expected is not None and (expected.requests, expected.answer_tokens, expected.judged) == (8, 8000, False)
    assert expected.cost == pytest.approx((expected.prompt_tokens + 10 * 8000) / 1e6)
    assert "8 requests" in expected.sentence and "at most 8,000 written, which cost at most" in expected.sentence
    rest = estimate(paid, session, known={("api", n) for n in range(4)} | {("blind", 0)})
    assert rest is not None and rest.requests == 3
    blind_only = rest.prompt_tokens / 3
    assert blind_only < expected.prompt_tokens / 8, "who is shown less costs less"
    with_api_answers(session, tokens=300)
    judged = estimate(paid, session)
    assert judged is not None and (judged.answer_tokens, judged.judged) == (2400, True)
    unpriced = API.model_copy(update={"input_price": None})
    known = estimate(task_for(session, 0, [Arm(name="api", engineer=unpriced)], "x"), session)
    assert known is not None and known.cost is None and "at prices that are not known" in known.sentence


@pytest.mark.parametrize("taught", [0.0, 0.1])
def test_two_by_two_is_checkpoint_and_base_with_the_evidence_and_without(taught: float) -> None:
    spec = preset_spec("quick")
    spec = spec.changed(training=spec.training.model_copy(update={"self_assessment": taught}))
    arms = arms_two_by_two(spec)
    assert [arm.name for arm in arms] == ["policy-shown", "policy-withheld", "base-shown", "base-withheld"]
    assert [arm.engineer.kind for arm in arms if arm.engineer] == ["policy", "policy", "base", "base"]
    assert {arm.engineer.asks_itself for arm in arms} == {40 if taught else 0}  # type: ignore[union-attr]
    assert arms[0].sections is None and arms[1].sections == ("statistics", "preserved", "history")
