"""The index of a sessions folder saves reading, and is never believed against the folders."""

from __future__ import annotations

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from frozenlab.base.files import signature
from frozenlab.session import catalog
from frozenlab.session.catalog import FILES, INDEX, LABELS_FILE, Index, glance

opened: list[str] = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
LONG_AGO = 1_780_000_000


def make(root: Path, name: str, **spec: object) -> Path:
    """A session that lists show, changed long ago."""
    (root / name).mkdir()
    rates = [{"stage": stage, "valid": 0.5, "optimal": 0.4, "n": 60} for stage in (None, 0, 1)]
    texts = {"session.json": {"title": name, "stages": 2} | spec, "state.json": {"status": "done", "started": 1e9, "rates": rates}}
    for file, said in texts.items():
        (root / name / file).write_text(json.dumps(said))
    age(root / name)
    return root / name


def age(folder: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "FEWEST", 3)
    monkeypatch.setattr(catalog, "SPARED", 0)
    for number in range(6):
        make(tmp_path, f"run-{number}")
    return tmp_path


def truth(root: Path) -> dict[str, object]:
    """What the folders say, read anew."""
    folders = [path.parent for path in root.glob("*/session.json")]
    return {folder.name: glance(folder, [signature(folder / file) for file in FILES]) for folder in folders}


def said(of: Index) -> dict[str, object]:
    return {name: entry.glance for name, entry in of.entries().items()}


def test_a_new_process_opens_no_session(root: Path) -> None:
    Index(root).entries()
    assert said(Index(root)) == truth(root)
    opened.clear()
    Index(root).entries()
    assert [path for path in opened if path.startswith(str(root))] == [str(root / INDEX)]


def test_a_list_follows_the_folders(root: Path) -> None:
    here, there = Index(root), Index(root)
    steps = (
        lambda: make(root, "new", parent={"session": "run-0", "stage": 1}),
        lambda: shutil.rmtree(root / "run-1"),
        lambda: (root / "run-2").rename(root / "renamed"),
        lambda: (root / "run-3" / "state.json").write_text('{"status": "running"}'),
        lambda: (root / "run-3" / "state.json").unlink(),
        lambda: (root / "run-4" / LABELS_FILE).write_text('{"title": "Mine", "archived": true}'),
        lambda: (root / "run-4" / LABELS_FILE).write_text('{"title": 5}'),
        lambda: (root / "run-5" / "session.json").write_text('{"title": "Other", "engineer": "uniform"}'),
    )
    for step in steps:
        step()
        assert said(here) == said(there) == said(Index(root)) == truth(root)


def test_a_second_change_within_a_tick_of_the_clock_is_seen_by_a_new_process(root: Path) -> None:
    state = root / "run-0" / "state.json"
    state.write_text('{"status": "done"}')
    kept = state.stat()  # now: the other files are old
    Index(root).entries()
    state.write_text('{"status":"waits"}')
    os.utime(state, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert said(Index(root)) == truth(root)


WRONG = ("", "{", "[3,{}]", '[2,{"run-0":null}]', '[3,{"run-0":[[null,null,null],[1,2,3]]}]', "[" * 100_000, '[3,{"a":[[[1,2],3],[]]}]')


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_damaged_index_is_made_anew_without_a_word(root: Path, text: str) -> None:
    (root / INDEX).write_text(text)
    assert said(Index(root)) == truth(root)
    assert json.loads((root / INDEX).read_text())[0] == 4


def test_what_is_no_utf8_or_no_file_does_no_harm(root: Path) -> None:
    (root / INDEX).write_bytes(b"\xff\xfe\x00")
    assert said(Index(root)) == truth(root)
    (root / INDEX).unlink()
    (root / INDEX).mkdir()  # so that it can neither be read nor be written
    assert said(Index(root)) == truth(root)
    assert not [path.name for path in root.iterdir() if path.name.startswith("..")], "a temporary file is left"


def test_many_who_list_and_change_agree_in_the_end(root: Path) -> None:
    def change(number: int) -> None:
        make(root, f"more-{number}")
        (root / f"run-{number % 6}" / "state.json").write_text(json.dumps({"status": "done", "started": 1e9 + number}))
        Index(root).entries()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(change, range(24)))
    assert said(Index(root)) == truth(root)


@pytest.mark.parametrize(
    "spec", ["[]", "null", '{"stages": "many"}', '{"engineer": 3, "parent": [1]}', '{"seed": NaN}', "[" * 10_000], ids=range(6)
)
def test_whatever_a_spec_or_a_state_says_is_listed_without_an_error(root: Path, spec: str) -> None:
    for file in FILES:
        (root / "run-0" / file).write_text(spec)
    assert Index(root).entries()["run-0"].glance.state is None
