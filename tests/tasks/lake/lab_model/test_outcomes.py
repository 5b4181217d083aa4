"""Proposals are measured by forks, what they tell is counted rightly, and a model is taught and compared end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.tasks.lake.lab_model import measuring
from frozenlab.tasks.lake.lab_model.gains import board_variance, compared, reliability
from frozenlab.tasks.lake.lab_model.measuring import Table
from frozenlab.tasks.lake.lab_model.outcomes import main

BOARDS = 50


def table_of(values: np.ndarray, noise: float, rng: np.random.Generator) -> pd.DataFrame:
    """Two measurements of each of ``values`` (evidences, proposals), on boards that all answer alike."""
    rows = [
        {"evidence": evidence, "author": "random", "number": number, "replicate": replicate, "gain": value + rng.normal(0, noise)}
        | {"sizes": json.dumps([3] * BOARDS), "answers": "1" * BOARDS}
        for evidence, proposals in enumerate(values)
        for number, value in enumerate(proposals)
        for replicate in range(2)
    ]
    return pd.DataFrame(rows)


def test_reliability_is_the_part_of_the_variance_that_comes_again() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 0.02, (40, 6)) + rng.normal(0, 1, (40, 1))
    told = reliability(table_of(values, 0.01, rng))
    assert told["reliability"] == pytest.approx(0.8, abs=0.06) and told["low"] < 0.8 < told["high"]
    assert told["noise"] == pytest.approx(0.01, rel=0.15) and told["spread"] == pytest.approx(0.0224, rel=0.15)
    assert told["board_noise"] == 0.0 and told["twice"] == 40
    chance = reliability(table_of(np.zeros((40, 6)), 0.01, rng))
    assert chance["low"] < 0 < chance["high"]


def test_reliability_cannot_be_told_of_single_measurements() -> None:
    rng = np.random.default_rng(0)
    table = table_of(rng.normal(0, 0.02, (3, 4)), 0.01, rng)
    told = reliability(table[table["replicate"] == 0])
    assert told["reliability"] is None and told["twice"] == 0 and told["spread"] > 0


def test_board_variance_is_that_of_drawing_other_boards() -> None:
    rng = np.random.default_rng(0)
    answers = rng.random((3, 400)) < 0.7
    sizes = np.repeat([3, 4], [100, 300])
    rows = pd.DataFrame({"answers": ["".join("01"[int(valid)] for valid in row) for row in answers], "sizes": json.dumps(sizes.tolist())})
    drawn = []
    for _ in range(2000):
        picked = np.concatenate([rng.choice(np.flatnonzero(sizes == size), (sizes == size).sum()) for size in (3, 4)])
        means = np.mean([answers[:, picked][:, sizes[picked] == size].mean(axis=1) for size in (3, 4)], axis=0)
        drawn.append(means - means.mean())
    assert board_variance(rows) == pytest.approx(np.var(drawn, axis=0).sum() / 2, rel=0.15)


def test_only_sessions_with_every_engineer_are_compared() -> None:
    gains = {"taught": [0.03, 0.04, 0.05], "policy": [0.01, 0.01, 0.02], "kept": [0.0, 0.02]}
    rows = [{"evidence": seed, "author": arm, "gain": gain} for arm, values in gains.items() for seed, gain in enumerate(values)]
    told = compared(pd.DataFrame(rows))
    assert told["sessions"] == 2 and list(told["gains"]) == ["taught", "policy", "kept"]
    primary = told["differences"]["taught - policy"]
    assert primary["mean"] == pytest.approx(0.08 / 3) and primary["n"] == 3


def test_a_table_takes_up_what_is_on_disk_and_measures_no_config_twice(tmp_path: Path) -> None:
    table = Table(tmp_path / "table.parquet")
    key = {"evidence": 7, "author": "rules", "number": 0, "replicate": 0}
    table.add(key | {"completion": "size3 up <config> share3 100%", "gain": 0.1})
    again = Table(tmp_path / "table.parquet")
    assert again.has(**key) and not again.has(**(key | {"replicate": 1}))
    assert again.same(7, 0, "size3 keep <config> share3 100%")["gain"] == 0.1  # type: ignore[index]
    assert again.same(7, 0, "size3 up <config> share3 97.5%") is None and again.same(8, 0, "size3 up <config> share3 100%") is None


@pytest.mark.training
@pytest.mark.xdist_group("outcomes")
def test_outcomes_are_collected_taught_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = ["--agents", "2", "--sizes", "3", "4", "--steps", "1", "--boards-per-step", "4", "--boards-per-cell", "6"]
    collecting = ["collect", str(tmp_path), "--samples", "1", "--randoms", "1", "--replicated", "1", *short]
    main([*collecting, "--evidences", "1"])
    first = pd.read_parquet(tmp_path / "triples.parquet")
    main([*collecting, "--evidences", "2"])
    triples = pd.read_parquet(tmp_path / "triples.parquet")
    pd.testing.assert_frame_equal(triples.head(len(first)), first)
    assert triples.groupby(["evidence", "replicate"]).size().to_list() == [4, 4, 4]
    assert set(triples["author"]) == {"kept", "rules", "policy", "random"}
    kept = triples[triples["author"] == "kept"]
    drawn = triples[triples["author"] == "random"]
    assert (kept["before"] == kept["after"]).all() and (drawn["before"] != drawn["after"]).all()
    assert triples["answers"].str.len().eq(12).all()
    assert not list((tmp_path / "sessions").glob("fork-*")), "only the evidences stay"

    taught = tmp_path / "model"
    few = ["--contexts", "8", "--candidates", "4", "--measured", "4", "--boards", "40", "--presentations", "16"]
    main(["teach", str(tmp_path), "--to", str(taught), *few])
    assert LabPolicy.load(taught)
    assert json.loads((tmp_path / "taught.json").read_text())["reliability"]["evidences"] == 2
    with pytest.raises(FileExistsError):
        main(["teach", str(tmp_path), "--to", str(taught), *few])

    main(["compare", str(tmp_path), "--taught", str(taught), "--sessions", "1", "--engineers", "taught", "policy", *short])
    monkeypatch.setattr(measuring, "measure", lambda *_: pytest.fail("measured twice"))
    main(["compare", str(tmp_path), "--taught", str(taught), "--sessions", "1", "--engineers", "taught", "policy", *short])
    assert set(json.loads((tmp_path / "compared.json").read_text())["gains"]) == {"taught", "policy"}
