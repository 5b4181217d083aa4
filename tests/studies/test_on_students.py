"""The study students, its controls, and the noise from student to student."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from frozenlab.base.cells import evenly
from frozenlab.cli.main import parse
from frozenlab.cli.study import study_spec
from frozenlab.experiments.students.menu import DECOYS, ladder
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.arms import CONTROLS, control_arms
from frozenlab.experiments.studies.grid import StudyError
from frozenlab.experiments.studies.noise import detectable_effect, student_noise, visible
from frozenlab.experiments.studies.presets import best_for, engineers_study, ladder_study, students_study
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.models.folders import student_label
from frozenlab.session.store import SessionStore
from tests.planted import CONFIG, planted


@pytest.fixture
def store(store: SessionStore) -> SessionStore:
    """With two students of one config."""
    for name, weak in (("never-saw-4", ("4",)), ("never-saw-5", ("5",))):
        planted(store, name, weak)
    return store


def study(store: SessionStore, *ids: str, **given: object) -> StudySpec:
    return students_study(recipes={f"student:{one}": Student.open(one, store).recipe for one in ids}, **given)  # type: ignore[arg-type]


def test_the_study_has_engineers_controls_and_an_oracle_that_knows_each_student(store: SessionStore) -> None:
    spec = study(store, "never-saw-4", "never-saw-5")
    assert [arm.name for arm in spec.arms] == ["policy", "rules", "learnability", "lowest", "equal", "blind", "oracle"]
    assert spec.session.initial_config == evenly(CONFIG) and spec.session.ask_first and spec.suite_by_seed
    assert spec.sections_of()["blind"] == {"statistics"}
    oracle = spec.arms[-1].configs
    assert oracle is not None and oracle["student:never-saw-4"].cells["4"].share == pytest.approx(0.96)
    assert oracle["student:never-saw-5"] == best_for(evenly(CONFIG), ("5",))


def test_the_command_line_makes_the_same_study(store: SessionStore) -> None:
    words = "--students student:never-saw-4,never-saw-5 --engineers rules,uniform --controls again,yoked --seeds 2"
    assert study_spec(parse(["study", "students", *words.split()])) == study(
        store, "never-saw-4", "never-saw-5", engineers=("rules", "uniform"), controls=("again", "yoked"), seeds=2
    )


def test_a_study_of_one_student_or_an_unknown_control_is_refused(store: SessionStore) -> None:
    with pytest.raises(StudyError, match="two students or more"):
        study(store, "never-saw-4")
    with pytest.raises(StudyError, match="no control 'placebos'; there are blind, placebo"):
        study(store, "never-saw-4", "never-saw-5", controls=("placebos",))


def test_students_of_different_configs_are_refused(store: SessionStore) -> None:
    one = Student.open("never-saw-4", store).recipe
    other = one.model_copy(update={"config": one.config.with_cells({name: one.config.cells[name] for name in ("3", "4")})})
    with pytest.raises(StudyError, match="different configs"):
        students_study(recipes={"student:a": one, "student:b": other})


def test_the_ladder_has_a_student_for_each_pair_of_cells_and_no_decoy_is_lost() -> None:
    spec = ladder_study(engineers=("lowest",), controls=("blind",))
    assert [arm.name for arm in spec.arms] == ["lowest", "equal", "blind", "oracle"] and len(spec.students) == 15
    assert not {*DECOYS} & {cell for recipe in ladder().values() for cell in recipe.weak}
    oracle = spec.arms[-1].configs
    assert oracle is not None and all(
        {name for name, own in config.cells.items() if own.share > 0.1} == {*ladder()[student_label(student)].weak}
        for student, config in oracle.items()
    )
    plain = ladder_study(decoys=False).session.initial_config
    assert {*plain.cells} == {*spec.session.initial_config.cells} - {*DECOYS}


def test_the_ladder_takes_an_engineer_in_a_file_and_its_controls(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def propose(context, config, seed): return {name: 1 for name in config.cells}")
    spec = study_spec(parse(["study", "ladder", "--engineers", str(file), "--controls", "blind,placebo"]))
    assert [arm.name for arm in spec.arms] == ["script", "equal", "blind", "placebo", "oracle"]
    assert StudySpec.model_validate_json(spec.model_dump_json()) == spec


def test_every_control_is_an_arm_of_the_study_engineers() -> None:
    spec = engineers_study(2, engineers=("policy", "uniform"), controls=tuple(CONTROLS))
    assert [arm.name for arm in spec.arms] == ["policy", "uniform", *CONTROLS]
    by_name = {arm.name: arm for arm in spec.arms}
    assert not {"failures", "behaviour"} & spec.sections_of()["blind"]
    assert (by_name["yoked"].yoked, by_name["again"].draws) == ("policy", 1)
    assert [by_name[name].engineer.kind for name in ("placebo", "anti")] == ["placebo", "dose"]  # type: ignore[union-attr]
    assert control_arms((), spec.session.engineer, "policy", spec.session) == ()


def test_the_noise_of_students_and_of_seeds_is_told_apart() -> None:
    """Against the variances that made the table."""
    rng = np.random.default_rng(0)
    students, seeds, arms = 300, 4, 3
    of_unit = rng.normal(0, 0.3, (students, seeds, 1))
    of_student = rng.normal(0, 0.03, (students, 1, arms))
    table = 0.5 + of_unit + of_student + rng.normal(0, 0.05, (students, seeds, arms))
    rows = [(f"a{arm}", f"s{student}", seed, table[student, seed, arm]) for student, seed, arm in np.ndindex(table.shape)]
    found = student_noise(pd.DataFrame(rows, columns=["arm", "student", "seed", "value"]), 300, 0.1)
    assert found.between_students == pytest.approx(0.03**2, rel=0.15) and found.between_seeds == pytest.approx(0.05**2, rel=0.05)


def test_a_study_on_students_says_beforehand_what_it_can_see(store: SessionStore) -> None:
    spec = study(store, "never-saw-4", "never-saw-5")
    said = detectable_effect(spec)
    assert said.startswith("With 2 students and 6 seeds this study can detect effects of ") and "from student to student" in said
    few = spec.changed(session=spec.session.changed(test=spec.session.suite.model_copy(update={"boards_per_cell": 5})))
    seen, blurred = visible(spec), visible(few)
    assert seen and blurred and blurred.effect > 1.2 * seen.effect, "with few boards it sees less"
    alone = engineers_study(3).changed(students=["student:never-saw-4"])
    assert "with one student" in detectable_effect(alone)
