"""Studies: every cell runs to its end exactly once, whatever is killed in between, and the arms of a seed share their beginning."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from frozenlab.base import places
from frozenlab.base.files import append_line
from frozenlab.cli.main import main, parse
from frozenlab.cli.study import study_spec
from frozenlab.engineer.engineers import UNATTENDED, ApiEngineer, BanditEngineer, RandomEngineer
from frozenlab.engineer.sections import USUAL
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.studies.arms import only_one, section_arms, without_one
from frozenlab.experiments.studies.design import confounded
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.presets import SEEDS, STUDIES, engineers_study, guard_study, guidance_study, sections_study
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.runner import LocalWorkers
from frozenlab.experiments.studies.spec import PROMPT_TOKENS, StudySpec
from frozenlab.experiments.studies.store import Study, outcomes
from frozenlab.jobs.launcher import held, launch, stop
from frozenlab.jobs.machine import cores
from frozenlab.jobs.state import own_process, store_state
from frozenlab.jobs.worker import HELD
from frozenlab.session.pace import FEWEST_STEPS
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import BEGAN, build_session, short_spec, small_spec
from tests.cli.calls import reason
from tests.running import wait_for, worker_pid
from tests.studies.builders import events, made, run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = made(tmp_path_factory.mktemp("studies"), "uniform", "fixed", "policy", seeds=(1,))
    assert run(study) == 0
    return study


def test_every_cell_is_run_and_arms_of_a_seed_share_their_base(finished: Study) -> None:
    assert finished.state().status == "done" and finished.state().progress == 1.0
    first, *others = [session for _, session in finished.finished()]
    assert len(others) == 2
    for session in others:
        assert session.test(None).equals(first.test(None)) and session.environment(None) == first.environment(None)  # type: ignore[union-attr]
        assert session.proposal(None).engineer == session.spec.engineer.kind != first.spec.engineer.kind  # type: ignore[union-attr]
        assert session.environment(0).config == session.proposal(None).config_after  # type: ignore[union-attr]
        assert events(finished, "baseline")[session.id] == 0, "its base was measured by the first arm"
    boards = finished.boards()
    assert len(boards) == 3 * 10 and set(boards["cell"]) == {"2x3", "2x4"}
    table = outcomes(boards)
    assert len(table) == 3
    learning = finished.learning()
    assert learning.groupby("trained").size().to_dict() == {0: 30, 1: 30, 2: 30}
    last = learning[learning["trained"] == 2].drop(columns="trained").reset_index(drop=True)
    assert last.equals(boards), "the last validations are the final ones"
    one = boards[(boards["arm"] == "fixed") & (boards["seed"] == 1)]
    expected = one.groupby("cell")["valid"].mean().mean()
    assert table.set_index(["arm", "seed"])["value"]["fixed", 1] == pytest.approx(expected)


@pytest.mark.slow
def test_it_survives_the_death_of_a_worker_and_of_its_runner(tmp_path: Path) -> None:
    study = made(tmp_path, seeds=(0,))
    study.submit(RunSettings(jobs=2))
    worker = wait_for_worker(study)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: max(events(study, "resumed").values(), default=0) > 0, "the next worker")
    os.kill(worker_pid(study), signal.SIGKILL)
    wait_for(lambda: study.state().status == "done", "the end")
    assert events(study, "done") == {cell.id: 1 for cell in study.cells}
    assert sum(events(study, "resumed").values()) >= 1


@pytest.mark.long
def test_a_stopped_study_goes_on_and_a_second_runner_is_turned_away(tmp_path: Path) -> None:
    study = made(tmp_path, seeds=(0,))
    study.submit(RunSettings(jobs=1))
    wait_for_worker(study)
    assert launch(study).wait(timeout=600) == HELD
    stop(study)
    wait_for(lambda: not held(study), "the stop")
    assert study.state().status == "stopped"
    study.submit(RunSettings(jobs=1))
    wait_for(lambda: study.state().status == "done", "the end")
    assert events(study, "done") == {cell.id: 1 for cell in study.cells}


def wait_for_worker(study: Study) -> int:
    """The pid of the first cell's worker, once it trains."""
    cell = study.cells[0]
    wait_for(lambda: (own := study.session(cell)) and own.state().phase != "starting" and own.state().pid, "a worker that trains")
    return worker_pid(study.session(cell))


def test_a_cell_that_fails_is_tried_again_then_left_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = made(tmp_path)
    started: list[str] = []

    def fail(session: Session) -> None:
        started.append(session.id)
        store_state(session.dir, session.state().model_copy(update={"status": "failed"}))

    monkeypatch.setattr(LocalWorkers, "start", lambda self, session: fail(session))
    monkeypatch.setattr("frozenlab.experiments.studies.runner.POLL", 0.0)
    assert run(study) == 1
    assert sorted(started) == ["uniform-s0"] * 3 + ["uniform-s1"] * 3
    assert "4 cells are not done" in (study.state().error or "")


def test_the_arms_of_the_three_kinds_of_section_studies() -> None:
    arms = section_arms()
    assert len(arms) == 8 and arms[0].sections == USUAL and arms[-1].sections == ("behaviour", "history")
    assert len({arm.sections for arm in arms}) == 8
    assert [arm.name for arm in arms[:3]] == ["failures-statistics-preserved", "failures-statistics", "failures-preserved"]
    assert [len(arm.sections or ()) for arm in without_one()] == [5, 4, 4, 4, 4, 4]
    assert [len(arm.sections or ()) for arm in only_one()] == [0, 1, 1, 1, 1, 1]
    assert sections_study(2).seeds == (0, 1)


API = ApiEngineer(base_url="http://127.0.0.1:8000/v1", model="some", input_price=2, output_price=10)
LANGUAGE = preset_spec("qwen3-0.6b")


def test_every_kind_is_ready_with_its_own_number_of_seeds() -> None:
    asked = {kind: {"engineer": API} if kind == "guidance" else {} for kind in STUDIES}
    usual = {kind: make(**asked[kind]) for kind, make in STUDIES.items()}
    assert {kind: len(spec.seeds) for kind, spec in usual.items()} == {kind: SEEDS[kind] for kind in STUDIES}
    assert all(len(make(2, short_spec(), **asked[kind]).seeds) == 2 for kind, make in STUDIES.items())
    assert len({spec.title for spec in usual.values()}) == len(STUDIES)


def test_arms_of_the_guard_differ_in_the_step_alone() -> None:
    spec = guard_study(1)
    cells = [spec.spec_of(arm, 0) for arm in spec.arms]
    assert [cell.guard.max_step for cell in cells] == [0.2, 0.05, 1.0]
    assert cells[0].guard == spec.session.guard, "the reference is the guard of every other session"
    assert len({cell.guard.min_share for cell in cells}) == 1


def test_engineers_can_be_chosen_and_an_api_has_its_server() -> None:
    assert "human" not in UNATTENDED and {"bandit", "random", "api"} < set(UNATTENDED)
    spec = engineers_study(2, engineers=("bandit", "random", API))
    assert [spec.spec_of(arm, 1).engineer for arm in spec.arms] == [
        BanditEngineer(), RandomEngineer(), API.model_copy(update={"guidance": False}),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="the engineer api has settings of its own"):
        engineers_study(engineers=("policy", "api"))


def test_requests_are_counted_before_they_are_paid() -> None:
    spec = engineers_study(3, short_spec(), engineers=("policy", API))
    each = (2 * PROMPT_TOKENS + 10 * API.max_tokens) / 1e6
    assert spec.requests == 3 * 3 and spec.highest_cost == pytest.approx(9 * each), "before the first stage and after each of two"
    both = guidance_study(3, short_spec(), API)
    assert both.requests == 2 * 3 * 3 and both.highest_cost == pytest.approx(18 * each)
    free = guidance_study(3, short_spec(), API.model_copy(update={"output_price": None}))
    assert free.requests == 18 and free.highest_cost is None
    assert sections_study().requests == 0


def test_the_guidance_study_works_for_an_api() -> None:
    spec = guidance_study(1, short_spec(), API)
    guided, plain = [spec.spec_of(arm, 0).engineer for arm in spec.arms]
    assert (guided.guidance, plain.guidance) == (True, False)  # type: ignore[attr-defined]
    assert guided.model_copy(update={"guidance": False}) == plain
    again = StudySpec.model_validate_json(spec.model_dump_json())
    assert again == spec


def test_the_guidance_study_works_for_a_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.experiments.studies.spec.CHANGEABLE", {"engineer"})
    spec = guidance_study(1, LANGUAGE)
    cells = [spec.spec_of(arm, 0).engineer for arm in spec.arms]
    assert [cell.guidance for cell in cells] == [True, False]
    assert cells[1] == LANGUAGE.engineer.model_copy(update={"guidance": False})


@pytest.mark.parametrize(("engineer", "who"), [("policy", "a lab model"), ("rules", "the engineer rules")])
def test_no_other_engineer_reads_instructions_in_words(engineer: str, who: str) -> None:
    with pytest.raises(ValueError, match=f"^{who} reads no instructions in words"):
        guidance_study(session=preset_spec("study", engineer=engineer))  # type: ignore[arg-type]


def test_an_arm_that_could_not_be_forked_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.experiments.studies.spec.CHANGEABLE", {"sections"})
    with pytest.raises(ValidationError, match="the arm strict changes 'guard', but arms are forks"):
        guard_study()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "two arms are the same"),
        ({"seeds": [1, 1]}, "two seeds are the same"),
        ({"arms": [{"name": "a"}, {"name": "b", "engineer": "nobody"}]}, "there is no engineer 'nobody'"),
        ({"arms": [{"name": "a"}, {"name": "../b"}]}, "pattern"),
    ],
)
def test_a_study_that_cannot_be_run_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        sections_study().changed(**changes)


def test_one_stage_is_too_few_for_an_engineer_that_is_asked_after_it() -> None:
    study = sections_study(session=short_spec().changed(stages=1))
    assert study.session.ask_first
    with pytest.raises(ValidationError, match="two stages or more"):
        study.changed(session=study.session.changed(ask_first=False))


@pytest.mark.parametrize("make", [make for kind, make in STUDIES.items() if kind != "guidance"])
def test_arms_of_a_seed_share_boards_that_other_seeds_do_not_have(make: Callable[..., StudySpec]) -> None:
    spec = make(3)
    cells = {(arm.name, seed): spec.spec_of(arm, seed) for arm in spec.arms for seed in spec.seeds}
    for seed in spec.seeds:
        assert len({(cells[arm.name, seed].suite.seed, cells[arm.name, seed].test.seed) for arm in spec.arms}) == 1  # type: ignore[union-attr]
    seeds = [
        suite.seed for arm_and_seed, cell in cells.items() for suite in (cell.suite, cell.test) if arm_and_seed[0] == spec.arms[0].name
    ]
    assert len(set(seeds)) == 2 * len(spec.seeds)
    assert all(cell.ask_first and cell.training.schedule == "per-stage" for cell in cells.values())


def test_a_study_of_another_session_has_test_boards_and_no_guidance() -> None:
    spec = sections_study(1, LANGUAGE.changed(test=None))
    assert sections_study(1, preset_spec("paper")).session.training.schedule == "constant", "all its stages learn as much already"
    assert spec.session.test == LANGUAGE.suite and spec.session.language is not None and not spec.session.engineer.guidance
    study = engineers_study(1, preset_spec("study", engineer="human"), engineers=("rules", "fixed"))
    assert study.session.engineer.kind == "rules", "its arms say who is asked, so it does not matter that a person was"
    with pytest.raises(ValueError, match="its engineer cannot be human"):
        sections_study(1, preset_spec("study", engineer="human"))


def test_an_older_study_runs_as_before() -> None:
    """Without the fields that studies have had since."""
    spec = sections_study(2).model_dump()
    old = {name: value for name, value in spec.items() if name not in ("suite_by_seed", "smallest_effect", "prediction")}
    old["session"] = {name: value for name, value in spec["session"].items() if name not in ("test", "ask_first")}
    study = StudySpec.model_validate(old)
    cells = [study.spec_of(study.arms[0], seed) for seed in study.seeds]
    assert {cell.suite for cell in cells} == {preset_spec("study").suite} and not any(cell.test or cell.ask_first for cell in cells)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["engineers", "--engineers", "policy,nobody"], "there is no engineer 'nobody' for a study; there are policy, base, rules, bandit"),
        (["engineers", "--engineers", "policy,api"], "the engineer api needs settings: write the study as a spec"),
        (["engineers", "--engineers", "policy,policy"], "a study compares two or more, each named once"),
        (["sections", "--engineers", "policy,base"], "--engineers and --api are for the studies engineers, main, students and ladder"),
        (["guard", "--sections", "failures"], "--sections is for the studies sections, leave-one-out and one-at-a-time"),
        (["sections", "--sections", "x"], "there is no section 'x'; there are behaviour, failures"),
        (["guidance"], "a lab model reads no instructions in words"),
        (["guard", "--seeds", "0"], "use at least 1"),
        (["guard", "--smallest-effect", "0"], "--smallest-effect is 0; it must be above 0 and at most 50 points"),
        (["study.json", "--prediction", "none"], "--smallest-effect, --prediction and --students are for ready-made studies"),
        (
            ["nothing", "--seeds", "2"],
            "there is no study 'nothing'; new ones are sections, leave-one-out, one-at-a-time, engineers, sweep, guard, guidance",
        ),
        (["guard", "--vary", "steps=1,2"], "--vary is for the study sweep"),
        (["sweep", "--vary", "rate=1,2"], "there is no training setting 'rate'; there are method, steps, boards_per_step"),
        (["sweep", "--vary", "steps"], "steps needs two values or more, with commas between them"),
        (["sweep", "--vary", "steps=1,two"], "sweep: steps: Input should be a valid integer"),
        (["sweep", "--vary", "steps=5,5"], "two arms are the same"),
        (["sweep", "--vary", "steps=1,2", "--vary", "steps=3,4"], "--vary names each setting once"),
    ],
)
def test_the_command_line_says_what_is_wrong_with_a_study(
    words: list[str], message: str, store: SessionStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in reason(capsys, "study", *words) and not any(store.root.iterdir())


def test_the_command_line_says_first_what_a_study_can_see(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []

    def start(spec: StudySpec, store: SessionStore, *_: object, **__: object) -> Study:
        said.append(capsys.readouterr().out)
        return Study.create(spec, store, "made")

    monkeypatch.setattr("frozenlab.experiments.studies.store.Study.start", start)
    assert main(["study", "engineers", "--seeds", "3", "--background"]) in (0, 1)
    spec = engineers_study(3)
    first = "\n".join((detectable_effect(spec), *confounded(spec), "About "))
    assert len(said) == 1 and said[0].startswith(first), "before anything runs"


def test_the_time_of_a_study_is_judged_by_an_earlier_one_of_this_machine(tmp_path: Path) -> None:
    spec = engineers_study(2, small_spec(stages=1, sizes=(3, 4), boards_per_size=6), engineers=("uniform", "fixed"))
    store = SessionStore(tmp_path)
    study = Study.create(spec, store, "earlier")
    first = build_session(study.sessions.root, spec.spec_of(spec.arms[0], 0), study.cells[0].id)
    for step in range(FEWEST_STEPS):
        pace = Study.pace(spec, store)
        assert pace is not None and pace.title != first.title, "a few steps tell nothing yet"
        append_line(first.dir / "events.jsonl", {"time": BEGAN + 1000 + step, "kind": "step"})
    pace = Study.pace(spec, store)
    assert pace is not None and pace.title == first.title and pace.plan == 1 / spec.session.training.plans_per_step
    said = spec.effort(pace, 64)
    assert said.startswith("About ") and f"4 sessions, {min(cores(), 4)} at a time on" in said
    assert said.endswith(f"with {2 * (2 + 1) * 2 * 12} answers to held-out boards in all"), "the base is measured once a seed"


def test_a_smoke_session_is_small() -> None:
    spec = preset_spec("smoke")
    assert (spec.stages, spec.training.steps, spec.held_out) == (1, 1, (60, 102))
    assert study_spec(parse(["study", "sections", "--preset", "smoke"])).session.suite == spec.suite


def test_the_command_line_shows_no_outcome_before_the_last_session_is_done(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    spec = engineers_study(2, small_spec(stages=1, sizes=(3, 4), boards_per_size=6), engineers=("uniform", "fixed"))
    study = Study.create(spec, store, "half")
    for cell in study.cells[:2]:
        build_session(study.sessions.root, spec.spec_of(cell.arm, cell.seed), cell.id)
    assert report_of(study).valid.effects, "there would be something to look at"
    running = study.state().model_copy(update={"status": "running", "heartbeat": time.time(), **own_process()})
    store_state(study.dir, running)
    assert main(["study", "half", "--background"]) == 0
    assert capsys.readouterr().out == f"half: running, 2 of 4 sessions done, in {study.dir}\nIts results come when all sessions are done.\n"


def test_the_command_line_makes_every_kind_that_needs_no_settings() -> None:
    for kind in ("sections", "leave-one-out", "one-at-a-time", "guard"):
        assert study_spec(parse(["study", kind, "--seeds", "2"])) == STUDIES[kind](2)
    one = study_spec(parse(["study", "sections", "--sections", "failures"]))
    assert one == sections_study(varied=("failures",)) and [arm.name for arm in one.arms] == ["failures", "none"]
    words = ["study", "guard", "--smallest-effect", "2.5", "--prediction", "loose helps"]
    spec = study_spec(parse(words))
    assert (spec.smallest_effect, spec.prediction) == (0.025, "loose helps")
    options = parse(["study", "engineers", "--engineers", "bandit, random"])
    assert study_spec(options) == engineers_study(engineers=("bandit", "random"))


def test_a_preregistered_study_equals_the_study_of_today() -> None:
    """Its boards are sealed and drawn by seed, its engineers are asked first, and it says what is expected and when it ends."""
    spec = StudySpec.model_validate_json((places.ROOT / "assets" / "studies" / "engineers-sealed" / "study.json").read_text())
    assert spec.suite_by_seed and spec.session.ask_first and spec.session.test is not None
    assert spec.session.training.schedule == "per-stage"
    assert "Stopping rule" in spec.prediction and "Smallest effect that matters: 1 point" in spec.prediction
    report = places.ROOT / "assets" / "studies" / "engineers-sealed" / "report.json"
    assert not report.exists() or json.loads(report.read_text())["spec"]["prediction"] == spec.prediction
