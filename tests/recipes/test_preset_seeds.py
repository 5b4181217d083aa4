"""The benchmark behind README's table: its files are enough to recompute every figure, and README shows these figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from frozenlab.session.presets import PRESETS
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from recipes import preset_seeds
from tests.builders import build_session, small_spec


@pytest.fixture
def session(tmp_path: Path) -> Session:
    spec = small_spec(stages=3, sizes=(3, 4), boards_per_size=5)
    return build_session(tmp_path, spec.changed(test=spec.suite.model_copy(update={"seed": 9, "boards_per_cell": 7})), "seed-0")


def test_every_stage_is_kept_on_the_test_boards(session: Session) -> None:
    table = preset_seeds.answers(session)
    assert table.groupby("trained").size().to_dict() == dict.fromkeys(range(4), 14)
    last = session.test(2)
    assert last is not None and table.loc[table["trained"] == 3, "valid"].tolist() == last["valid"].tolist()


def test_the_table_is_the_mean_over_seeds_with_an_interval_over_seeds() -> None:
    boards = pd.DataFrame({"board_id": [f"b{i}" for i in range(100)], "agents": 3, "size": [3, 8] * 50})
    tables = {}
    for seed, gain in enumerate((2, 4, 9)):
        moments = [boards.assign(trained=trained, valid=np.arange(100) < 80 + gain * trained / 3, optimal=False) for trained in (0, 3)]
        tables[seed] = pd.concat(moments)
    valid = preset_seeds.summary(tables, 3).splitlines()[2]
    assert "| 80.0 % | 85.0 % | +5.0 points (−4.0 to +14.0) | +2.0 and +9.0 |" in valid and "mean of 3 seeds" in valid


def test_a_finished_seed_is_not_run_again(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(preset_seeds, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(preset_seeds, "run", lambda folder, preset, method, engineer, seed: ran.append(seed) or session)
    preset_seeds.main([str(tmp_path / "runs"), "--seeds", "2"])
    preset_seeds.main([str(tmp_path / "runs"), "--seeds", "3"])
    assert ran == [0, 1, 2] and sorted(preset_seeds.kept()) == [0, 1, 2]
    assert capsys.readouterr().out.count("seed 0: valid") == 2


def test_readme_shows_what_is_kept() -> None:
    text = preset_seeds.README.read_text(encoding="utf-8")
    assert text.count(preset_seeds.BEGIN) == text.count(preset_seeds.END) == 1
    tables = preset_seeds.kept()
    if not tables:  # they have not run since test boards were made
        return
    shown = text.split(preset_seeds.BEGIN)[1].split(preset_seeds.END)[0].strip()
    assert shown == preset_seeds.summary(tables, PRESETS["quick"].stages)
    for table in tables.values():
        assert table["board_id"].nunique() * (PRESETS["quick"].stages + 1) == len(table)
    assert {SessionStore().open("example-quick").spec.seed} <= set(tables)


def test_the_docs_say_what_the_twins_say() -> None:
    valid = preset_seeds.against_twins("valid").removeprefix("valid: ").split(",")[0]
    assert valid in (preset_seeds.places.ROOT / "docs" / "results.md").read_text(encoding="utf-8")
