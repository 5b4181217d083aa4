from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.cli import study as command
from frozenlab.cli.common import InputError
from frozenlab.cli.main import main
from frozenlab.engineer.engineers.script import ScriptEngineer
from frozenlab.experiments.students.store import keep_base
from frozenlab.models.folders import LAB_MODEL, WEIGHTS
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.store import SessionStore
from tests.cli.calls import answer, reason
from tests.planted import planted
from tests.studies.builders import small_study


@pytest.mark.slow
def test_a_study_runs_to_its_end_and_its_id_shows_it_again(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / "spec.json").write_text(small_study("rules", "fixed", seeds=(5,)).model_dump_json())
    printed = answer(capsys, "study", str(root / "spec.json"), "--id", "mine", "--jobs", "2")
    assert (printed["status"], printed["cells"], printed["done"]) == ("done", 2, 2)
    assert [(arm["arm"], list(arm["by_seed"])) for arm in printed["report"]["valid"]["arms"]] == [("rules", ["5"]), ("fixed", ["5"])]
    again = answer(capsys, "study", "mine")
    assert again["report"]["valid"] == printed["report"]["valid"], "what is done is not run again"
    names = {path.name for path in (Path(printed["folder"]) / "report").iterdir()}
    assert names == {"report.json", "report.html", "arms.csv", "effects.csv", "boards.parquet"}
    assert [main(["study", *words]) for words in (["mine", "--seeds", "2"], ["nobody"], ["sections", "--seeds", "0"])] == [2, 2, 2]
    assert [path.name for path in (root / "studies").iterdir()] == ["mine"], "a refusal leaves nothing"
    capsys.readouterr()


@pytest.mark.slow
def test_an_engineer_whose_answers_cannot_be_used_is_named_with_the_reason(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / "mine.py").write_text("def propose(context, config, seed): return {}[0]\n")
    arms = [{"name": "rules", "engineer": "rules"}, {"name": "mine", "engineer": ScriptEngineer.of(root / "mine.py")}]
    spec = small_study("rules", "fixed", seeds=(5,), stages=1, ask_first=True).changed(arms=arms)
    (root / "spec.json").write_text(spec.model_dump_json())
    assert main(["study", str(root / "spec.json"), "--id", "mine", "--jobs", "2"]) == 0
    said = "mine: 2 of 2 answers could not be used, so the config was kept (the first: KeyError in line 1: 0)"
    assert said in capsys.readouterr().out
    assert [arm["arm"] for arm in answer(capsys, "study", "mine")["report"]["unusable"]] == ["mine"]


def test_students_of_the_ladder_that_do_not_compare_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, base = SessionStore(), checksum(LAB_MODEL / WEIGHTS)
    made = {name: planted(store, name, ("3",), refused) for name, refused in (("one", ""), ("two", "it is not weak"))}
    monkeypatch.setattr(command, "ladder", lambda: {name: student.recipe for name, student in made.items()})
    with pytest.raises(InputError, match="one and two were made from another lab model"):
        command.make_ladder_students(store)
    for student in made.values():
        keep_base(student, base)
    with pytest.raises(InputError, match="two are not as planned, say their certificates; move them out of"):
        command.make_ladder_students(store)


def test_only_the_ladder_has_a_choice_of_method(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    assert reason(capsys, "study", "sections", "--method", "grpo").startswith("--method is for the study ladder")
