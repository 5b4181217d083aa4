from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.cli.main import main
from tests.cli.calls import answer
from tests.studies.builders import small_study


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
