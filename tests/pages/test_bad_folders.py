"""Damaged sessions break no page: the damage is named and the rest is shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.session.session import Session
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, words

pytestmark = pytest.mark.usefixtures("bad_sessions")


def rewrite(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build_session(tmp_path_factory.mktemp("bad"), small_spec(stages=1, sizes=(3, 4), boards_per_size=4), "whole")


@pytest.fixture
def bad_sessions(sessions_folder: Path, built: Session) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(built.dir, sessions_folder / name))

    copy("whole")
    (sessions_folder / "folder" / "session.json").mkdir(parents=True)
    (sessions_folder / "brackets").mkdir()
    (sessions_folder / "brackets" / "session.json").write_text("[" * 100_000)
    table = copy("column") / "stages" / "00" / "validation.parquet"
    pd.read_parquet(table).drop(columns="size").to_parquet(table)
    with (copy("lines") / "events.jsonl").open("a") as events:
        events.write('{"time": [1], "kind": "stage"}\n{"time": 1e300, "kind": "stage"}\n{"time": 1, "kind": "validated", "valid": "x"}\n')
    with (sessions_folder / "lines" / "stages" / "00" / "metrics.jsonl").open("a") as metrics:
        metrics.write('{"step": "7"}\n{}\n{"reward": 1}\n{"step": 9, "reward": [1]}\n')
    rewrite(copy("state") / "state.json", started=1e300, pid=10**30, progress=[1])
    (copy("nothing") / "state.json").unlink()
    spec = copy("address") / "session.json"
    rewrite(spec, engineer={"kind": "api", "base_url": "https://[::::1]/v1", "model": "m"})
    shutil.rmtree(sessions_folder / "nothing" / "stages" / "00")


@pytest.mark.parametrize("page", ["home", "train", "story", "play"])
@pytest.mark.parametrize("session", ["whole", "column", "lines", "state", "nothing", "address"])
def test_every_page_opens(page: str, session: str) -> None:
    open_page(page, session=session)


@pytest.mark.parametrize("page", ["home", "train", "story"])
def test_unreadable_folders_are_reported(page: str) -> None:
    said = words(open_page(page))
    assert "Session 'folder': session.json cannot be read" in said
    assert "Session 'brackets'" in said and "an address is written like https://api.example.org/v1" in said


def test_damaged_sessions_are_shown_with_their_damage() -> None:
    assert "**Built session**" in words(open_page("home"))
    assert "size" in words(open_page("story", session="column"))
