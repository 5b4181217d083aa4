"""``frozenlab study``."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.studies.arms import engineer_arms
from frozenlab.experiments.studies.presets import engineers_study
from tests.builders import short_spec
from tests.cli.calls import answer


def test_a_study_runs_to_its_end_and_its_id_shows_it_again(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    spec = engineers_study(session=short_spec()).model_copy(
        update={"arms": engineer_arms([engineer_of("rules"), engineer_of("fixed")]), "seeds": (5,)}
    )
    (root / "spec.json").write_text(spec.model_dump_json())
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
