"""Controls as arms of a study: configs given by student, yoked arms, other draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from frozenlab.engineer.controls import PlaceboEngineer, ScheduleEngineer
from frozenlab.experiments.studies.design import confounded, design
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.runner import Runner
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.state import store_state
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.studies.builders import run

KEPT = "keep the ratios: what is half solved"
EASY = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.1, wait_ratio=0.1)
HARD = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.2, wait_ratio=0.4)
STUDENTS = ("student:a", "student:b", "student:c")
ARMS = (
    {"name": "random", "engineer": "random"},
    {"name": "again", "engineer": "random", "draws": 1},
    {"name": "yoked", "yoked": "random"},
    {"name": "constant", "configs": {"*": EASY}},
    {"name": "oracle", "configs": {"student:b": HARD, "*": EASY}},
    {"name": "placebo", "engineer": {"kind": "placebo", "of": "learnability"}},
)


def study_of(
    arms: tuple[dict, ...] = ARMS, students: tuple[str, ...] = STUDENTS, seeds: tuple[int, ...] = (0, 1), **session: object
) -> StudySpec:
    """A small study with wide-open guards."""
    spec = engineers_study(session=short_spec())
    base = spec.session.changed(guard={"max_step": 1.0, "min_share": 0.0}, **session)
    return spec.changed(session=base, arms=arms, students=students, seeds=seeds)


def test_an_arm_gives_each_student_its_config_and_each_unit_its_placebo() -> None:
    spec = study_of()
    arms = {arm.name: arm for arm in spec.arms}
    given = {student: spec.spec_of(arms["oracle"], 0, student).engineer for student in STUDENTS}
    assert given == {student: ScheduleEngineer(configs=(HARD if student == "student:b" else EASY,)) for student in STUDENTS}
    assert spec.spec_of(arms["constant"], 1, "student:c").engineer == ScheduleEngineer(configs=(EASY,))
    placebos = [spec.spec_of(arms["placebo"], seed, student).engineer for seed in spec.seeds for student in STUDENTS]
    assert all(isinstance(one, PlaceboEngineer) for one in placebos) and len({one.seed for one in placebos}) == 6  # type: ignore[attr-defined]
    assert StudySpec.model_validate_json(spec.model_dump_json()) == spec
    assert design(spec).kind == "arm"


@pytest.mark.parametrize(
    ("engineers", "said"),
    [
        (("learnability", "equal", "lowest", "tutor", "fixed"), ""),
        (
            ("learnability", "uniform"),
            "Set hole ratio 0.30 and wait ratio 0.50: equal shares, 30 % holes; keep the ratios: what is half solved.",
        ),
        (("learnability", "random"), f"Choose the ratios: random; {KEPT}."),
        (("uniform", {"kind": "ratios", "of": "equal", "ratios": {"hole_ratio": 0.3, "wait_ratio": 0.5}}), ""),
        (({"kind": "ratios", "of": "lowest", "ratios": {"wait_ratio": 0.5}}, "lowest"), ""),
        (({"kind": "dose", "of": "rules", "dose": 2}, "equal"), "Keep the ratios: equal shares; choose the ratios: dose."),
    ],
)
def test_a_study_says_where_arms_differ_in_shares_and_ratios(engineers: tuple[Any, ...], said: str) -> None:
    arms = [{"name": one if isinstance(one, str) else one["kind"], "engineer": one} for one in engineers]
    found = confounded(study_of(tuple(arms)))
    assert len(found) == bool(said)
    assert not said or (said in found[0] and "These groups differ in shares and ratios" in found[0])


def test_a_study_says_where_arms_differ_in_more_than_one_setting() -> None:
    other = {"name": "b", "engineer": "equal", "sections": ["statistics"]}
    (said,) = confounded(study_of(({"name": "a", "engineer": "lowest"}, other)))
    assert said == "b and a: these arms differ in engineer and sections, so comparing them cannot say which of these matters."


def test_other_draws_keep_base_and_boards() -> None:
    spec = study_of(ARMS[:3], students=())
    first, again = (spec.spec_of(arm, 1) for arm in spec.arms[:2])
    assert first.seed == 1 != again.seed and (first.suite, first.test, first.policy) == (again.suite, again.test, again.policy)


@pytest.mark.parametrize("students", [STUDENTS, STUDENTS[:1], ()])
def test_a_yoked_cell_has_its_source_in_another_unit_and_each_unit_is_a_source_once(students: tuple[str, ...]) -> None:
    spec = study_of(tuple(arm for arm in ARMS if "configs" not in arm), students)
    yoked = [cell for cell in spec.cells if cell.arm.name == "yoked"]
    sources = [source for cell in yoked if (source := spec.source_of(cell)) is not None]
    assert {source.id for source in sources} == {cell.id for cell in spec.cells if cell.arm.name == "random"}
    assert all((cell.student, cell.seed) != (source.student, source.seed) for cell, source in zip(yoked, sources, strict=True))
    assert all(spec.source_of(cell) is None for cell in spec.cells if cell.arm.name != "yoked")


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ({"name": "x", "yoked": "nobody"}, "yoked to 'nobody', which is no arm"),
        ({"name": "x", "yoked": "x"}, "yoked to 'x', which is no arm"),
        ({"name": "x", "yoked": "random", "engineer": "rules"}, 'can have one of "engineer", "configs" and "yoked"'),
        ({"name": "x", "configs": {"student:a": EASY}}, "has no config for 'student:b'"),
        ({"name": "x", "configs": {"*": EASY, "student:z": EASY}}, "for 'student:z', which is no student"),
    ],
)
def test_controls_that_cannot_be_had_are_refused(arm: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        study_of((ARMS[0], arm))


def test_controls_need_the_right_study() -> None:
    with pytest.raises(ValidationError, match="cannot be yoked"):
        study_of(({"name": "x", "yoked": "random"}, ARMS[0]))
    with pytest.raises(ValidationError, match="cannot be yoked"):
        study_of(ARMS[:1] + ARMS[2:3], (), (0,))
    with pytest.raises(ValidationError, match="other draws than the first arm"):
        study_of(ARMS[:2], ask_first=False)


def test_a_yoked_cell_is_ready_as_soon_as_its_source_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the source stands after it: otherwise the runner would find nothing to do and end."""
    study = Study.create(study_of((ARMS[0], ARMS[2]), (), (0, 1)), SessionStore(tmp_path), "yoked")
    monkeypatch.setattr(Session, "results", lambda session, stage: True)
    for done, seed, standing in ((False, 0, "waiting"), (True, 1, "ready")):
        for cell in study.cells:
            if cell.arm.name == "random" and (done or cell.seed == seed):
                session = study.session(cell) or study.sessions.create(study.spec.spec_of(cell.arm, cell.seed), cell.id)
                store_state(session.dir, session.state().model_copy(update={"status": "done"}))
        assert Runner(JobRecorder(study)).look()["yoked-s0"] == standing


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    spec = study_of(ARMS[:4], (), (0, 1))
    study = Study.create(spec, SessionStore(tmp_path_factory.mktemp("controls")), "controls")
    assert run(study) == 0
    return study


@pytest.mark.long
def test_a_yoked_arm_trains_on_the_configs_of_the_other_seed(finished: Study) -> None:
    configs = finished.configs()
    for seed in (0, 1):
        assert configs["yoked", seed] == configs["random", 1 - seed] != configs["random", seed]
        assert configs["constant", seed] == (EASY, EASY)


@pytest.mark.long
def test_an_arm_with_other_draws_shares_the_base_and_trains_on_other_boards(finished: Study) -> None:
    cells = {cell.id: session for cell, session in finished.finished()}
    first, again = cells["random-s0"], cells["again-s0"]
    assert first.validation(None).equals(again.validation(None)) and first.test(None).equals(again.test(None))  # type: ignore[union-attr]
    drawn, other = first.environment(None), again.environment(None)
    assert drawn is not None and other is not None and drawn.seed != other.seed
    assert not [event for event in again.events() if event["kind"] == "damaged"]
    assert first.proposal(None).config_after != again.proposal(None).config_after  # type: ignore[union-attr]
    assert set(first.test(1)["board_id"]) == set(again.test(1)["board_id"])  # type: ignore[index]
