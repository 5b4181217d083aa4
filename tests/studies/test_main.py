"""The study main: the last checkpoints on a named suite, as a table and a figure."""

from __future__ import annotations

from io import StringIO
from itertools import product
from math import isnan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from frozenlab.cli.main import parse
from frozenlab.cli.study import study_spec
from frozenlab.engineer.engineers import ApiEngineer
from frozenlab.experiments.studies.main_table import (
    MainTable,
    as_frame,
    as_latex,
    by_arm,
    finals_of,
    main_table,
    measure_finals,
    result_of,
)
from frozenlab.experiments.studies.pictures import main_picture
from frozenlab.experiments.studies.presets import main_study
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.store import Study
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.store import SessionStore
from tests.studies.builders import run, small_study

COLUMNS = ("agents", "size")


def answers(seeds: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for (arm, chance), seed, agents, size in product((("random", 0.4), ("policy_x", 0.7)), range(seeds), (3, 5), (4, 10)):
        n = 40 if size == 4 else 20
        valid = rng.random(n) < chance
        of = {"arm": arm, "seed": seed, "agents": agents, "size": size}
        rows.append(pd.DataFrame(of | {"valid": valid, "optimal": valid & (rng.random(n) < 0.5)}))
    return pd.concat(rows, ignore_index=True)


def test_the_table_has_means_over_sizes_and_intervals_over_seeds() -> None:
    rows = answers()
    table = main_table(rows, "paper", COLUMNS)
    own = rows[(rows["arm"] == "random") & (rows["agents"] == 3)]
    by_seed = own.groupby(["seed", "size"])["valid"].mean().groupby("seed").mean()
    found = next(one for one in table.of("valid") if (one.arm, one.group) == ("random", "3"))
    assert found.mean == pytest.approx(by_seed.mean()) and found.n == 3
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(by_seed, 0).confidence_interval(0.95))
    assert table.groups == ["3", "5"] and table.arms == ["random", "policy_x"]
    assert {one.place for one in table.of("optimal", None)} == {"4", "10"} and len(table.rates) == 2 * 2 * (2 + 4)
    one_seed = main_table(answers(1), "paper", COLUMNS)
    assert all(isnan(one.low) for one in one_seed.rates) and "\N{PLUS-MINUS SIGN}" not in by_arm(one_seed).iloc[0, 1]


def test_it_is_csv_latex_and_svg() -> None:
    table = MainTable.model_validate_json(main_table(answers(), "paper", COLUMNS).model_dump_json())
    assert len(pd.read_csv(StringIO(as_frame(table).to_csv(index=False)))) == len(table.rates)
    latex = as_latex(table)
    assert latex.count("\\begin{tabular}{lrrrr}") == latex.count("\\end{tabular}") == 1 and "policy\\_x & " in latex
    assert all(line.count("&") == 4 for line in latex.splitlines() if line.startswith(("arm", "random", "policy")))
    for measure in ("valid", "optimal"):
        picture = ElementTree.fromstring(main_picture(table, measure))
        assert len(picture.findall(".//polygon")) == 4 and "on paper" in (picture.get("aria-label") or "")
    single = main_table(answers().rename(columns={"agents": "config_cell"}), "numbers", ("config_cell",))
    ElementTree.fromstring(main_picture(single, "valid"))


def test_the_study_main_measures_on_the_papers_suite() -> None:
    spec = main_study()
    assert ([arm.name for arm in spec.arms], len(spec.seeds), spec.final_suite) == (["random", "fixed", "policy"], 3, "paper")
    with pytest.raises(ValidationError, match="no suite 'papers' of the family lake"):
        spec.changed(final_suite="papers")


def test_the_command_line_takes_presets_and_several_models(tmp_path: Path) -> None:
    files = []
    for number, model in enumerate(("Org/One-4B", "two")):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(ApiEngineer(base_url="http://127.0.0.1:8000/v1", model=model).model_dump_json())
    options = [word for file in files for word in ("--api", str(file))]
    spec = study_spec(parse(["study", "main", "--engineers", "fixed,policy", *options, "--preset", "quick", "--seeds", "2"]))
    assert [arm.name for arm in spec.arms] == ["fixed", "policy", "org-one-4b", "two"] and spec.session.stages == preset_spec(
        "quick"
    ).stages
    assert len(spec.servers) == 2 and spec.requests == 2 * 2 * spec.proposals
    alone = study_spec(parse(["study", "engineers", "--api", str(files[0])]))
    assert [arm.name for arm in alone.arms] == ["policy", "api"]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_studied(preset: str) -> None:
    assert study_spec(parse(["study", "engineers", "--preset", preset, "--seeds", "1"])).session.policy == preset_spec(preset).policy


@pytest.mark.long
def test_last_checkpoints_are_measured_once_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(small_study("uniform", "fixed").changed(final_suite="session"), SessionStore(tmp_path), "main")
    assert run(study) == 0
    assert all(result_of(study, cell) is not None for cell in study.cells)
    monkeypatch.setattr("frozenlab.experiments.benchmark.measuring.measure", None)
    measure_finals(study, lambda: None)  # nothing is left to do
    found = finals_of(study)
    assert found is not None and found.arms == ["uniform", "fixed"] and all(one.n == 2 for one in found.rates)
    result = result_of(study, study.cells[0])
    assert result is not None and result.report is not None and result.report.session == study.cells[0].id
    names = {path.name for path in (study.dir / "report").iterdir()}
    assert {"main.csv", "main.tex", "main-valid.svg", "main-optimal.svg"} <= names
    assert "Main table" in html_page(report_of(study))
