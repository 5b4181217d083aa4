"""Studies of training settings: arms, what they share, the grid's comparisons, and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from frozenlab.cli.main import parse
from frozenlab.cli.study import study_spec
from frozenlab.engineer.controls import ScheduleEngineer
from frozenlab.experiments.studies.design import arm_titles, confounded, design
from frozenlab.experiments.studies.presets import engineers_study, sweep_study
from frozenlab.experiments.studies.report import measured
from frozenlab.experiments.studies.report_page import sizes_note
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.pace import Pace
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.running import finished as trained
from tests.running import weights
from tests.studies.builders import events, imagined, imagined_report, run

RATES = {"learning_rate": (2e-4, 3e-5)}
GRID = {"learning_rate": (2e-4, 3e-5), "steps": (2, 4)}


def grid(seeds: int = 3) -> StudySpec:
    return sweep_study(seeds, short_spec("fixed"), GRID)


def test_arms_are_the_grid_of_values_named_in_plain_words() -> None:
    spec = grid()
    assert [arm.name for arm in spec.arms] == [
        "learning-rate-2e-4-steps-2", "learning-rate-2e-4-steps-4", "learning-rate-3e-5-steps-2", "learning-rate-3e-5-steps-4",
    ]  # fmt: skip
    assert list(arm_titles(spec).values())[2] == "learning rate 3e-5, steps 2"
    own = [spec.spec_of(arm, 1) for arm in spec.arms]
    assert [(one.training.learning_rate, one.training.steps) for one in own] == [(2e-4, 2), (2e-4, 4), (3e-5, 2), (3e-5, 4)]
    assert not spec.trains_alike and engineers_study(1).trains_alike
    assert len({(one.seed, one.suite, one.test, one.training.boards_per_step) for one in own}) == 1, "paired by seed"
    assert StudySpec.model_validate_json(spec.model_dump_json()) == spec


def test_a_study_without_training_settings_is_written_as_before() -> None:
    written = engineers_study(2).model_dump_json()
    assert '"training":null' not in written and all("training" not in arm for arm in json.loads(written)["arms"])


def test_another_method_has_its_usual_rate_unless_one_is_named() -> None:
    session = short_spec()
    own = session.changed(training=session.training.model_copy(update={"learning_rate": 1e-4}))
    named = [{"method": "grpo"}, {"method": "imitation"}, {"method": "imitation", "learning_rate": 1e-3}, {"schedule": "constant"}]
    spec = sweep_study(1, own).changed(arms=[{"name": f"arm-{n}", "training": changes} for n, changes in enumerate(named)])
    own_training = [spec.training_of(arm) for arm in StudySpec.model_validate_json(spec.model_dump_json()).arms]
    assert [one.learning_rate for one in own_training] == [1e-4, BY_NAME["imitation"].learning_rate, 1e-3, 1e-4]
    assert [one.warmup_steps for one in own_training] == [2, 2, 2, 5] and spec.session.training.schedule == "per-stage"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "the arm b cannot be run: steps: Input should be greater than or equal to 1"),
        ({"rate": 1}, "the arm b cannot be run: rate: Extra inputs are not permitted"),
        ({"method": "sarsa"}, "there is no method 'sarsa'; there are grpo"),
    ],
)
def test_a_setting_that_cannot_be_trained_with_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        sweep_study(1).changed(arms=[{"name": "a"}, {"name": "b", "training": changes}])


def test_each_value_is_compared_in_pairs_that_differ_in_nothing_else() -> None:
    spec = grid()
    slow, long = "learning rate 3e-5 instead of 2e-4", "steps 4 instead of 2"
    found = design(spec)
    names = [arm.name for arm in spec.arms]
    assert found.kind == "setting" and found.pairs == {
        slow: [(names[2], names[0]), (names[3], names[1])],
        long: [(names[1], names[0]), (names[3], names[2])],
    }
    assert not confounded(spec)
    report = imagined_report(spec, imagined(spec, lambda cell: 0.9 if "3e-5" in cell.arm.name else 0.4))
    assert [row.name for row in report.valid.effects] == [slow, long] and report.valid.effects[0].mean > 0.3
    assert report.for_people.sentences[0].startswith("Learning rate 3e-5 instead of 2e-4 changed the final valid rate by +")
    assert report.for_people.valid.arms[3].arm == "learning rate 3e-5, steps 4" and "one value minus" in sizes_note(report, report.valid)
    one = design(sweep_study(1, varied={"steps": (10, 20, 40)}))
    assert list(one.pairs) == ["steps 20 instead of 10", "steps 40 instead of 10"]


def test_without_a_partner_arms_are_compared_with_the_first_and_that_is_said() -> None:
    spec = grid()
    spec = spec.changed(arms=[spec.arms[0], spec.arms[3]])
    assert design(spec).kind == "arm"
    assert "differ in learning rate and steps, so comparing them" in confounded(spec)[0]


def test_arms_that_trained_differently_on_the_same_configs_are_a_contrast() -> None:
    spec = grid()
    configs = {(arm.name, seed): (spec.session.initial_config,) * 2 for arm in spec.arms for seed in spec.seeds}
    effects = measured(imagined(spec, lambda cell: 0.6), "valid", spec, None, configs).effects  # type: ignore[arg-type]
    assert all(row.dose is None and not row.alike and row.p == row.p for row in effects)


def test_the_time_of_each_arm_is_that_of_its_own_training() -> None:
    pace, spec = Pace(load=2, answer=0.1, plan=1, proposal=3, title="x"), grid(2)
    own = [pace.seconds(spec.spec_of(arm, 0), forked=bool(number)) for number, arm in enumerate(spec.arms)]
    assert own[1] - own[2] == pytest.approx(2 * 2 * 16) and spec.seconds(pace, 2) == pytest.approx(sum(own))


@pytest.mark.slow
def test_an_arm_with_other_training_shares_the_measured_base_and_equals_a_session_of_its_own(tmp_path: Path) -> None:
    spec = sweep_study(1, short_spec("rules"), {"steps": (2, 3)})
    study = Study.create(spec, SessionStore(tmp_path), "swept")
    assert run(study) == 0 and study.state().status == "done"
    first, other = [session for _, session in study.finished()]
    assert events(study, "baseline") == {first.id: 1, other.id: 0}
    alone = trained(SessionStore(tmp_path / "alone").create(other.spec))
    assert weights(other) == weights(alone)
    for stage in (None, 0, 1):
        assert other.test(stage).equals(alone.test(stage)) and other.environment(stage) == alone.environment(stage)  # type: ignore[union-attr]
    assert len(other.metrics(1)) == 3 and len(first.metrics(1)) == 2


def test_without_a_question_before_stage_1_only_alike_training_shares_that_stage() -> None:
    spec = sweep_study(1, short_spec(), RATES)
    spec = spec.changed(session=spec.session.changed(ask_first=False), arms=[*spec.arms, {"name": "rules", "engineer": "rules"}])
    assert [spec.forks(arm) for arm in spec.arms] == [True, False, True]
    asked = spec.changed(session=spec.session.changed(ask_first=True))
    assert not any(asked.forks(arm) for arm in asked.arms)


def test_the_command_line_makes_a_sweep() -> None:
    words = ["study", "sweep", "--vary", "learning-rate=2e-4, 3e-5", "--vary", "method=grpo,imitation", "--seeds", "2"]
    assert study_spec(parse(words)) == sweep_study(2, varied={"learning_rate": (2e-4, 3e-5), "method": ("grpo", "imitation")})
    assert [arm.training for arm in study_spec(parse(["study", "sweep"])).arms] == [{"learning_rate": 2e-4}, {"learning_rate": 1e-4}]


def test_an_oracle_may_train_otherwise_too() -> None:
    spec = grid(1)
    config = spec.session.initial_config.model_dump(mode="json")
    spec = spec.changed(arms=[spec.arms[0], {"name": "known", "configs": {"*": config}, "training": {"steps": 9}}])
    known = spec.spec_of(spec.arms[1], 0)
    assert known.training.steps == 9 and isinstance(known.engineer, ScheduleEngineer)
