"""Session folders: ids stay inside, damage is named and the rest is shown."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from frozenlab.base.places import PACKAGE
from frozenlab.experiments.bundles.importing import ids
from frozenlab.jobs.folders import SCRATCH_AGE
from frozenlab.jobs.job import RESERVED
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import SessionError
from frozenlab.session.store import SessionStore


def test_two_sessions_of_the_same_second_get_two_names(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    assert len({store.create(preset_spec("quick")).id for _ in range(3)}) == 3


@pytest.mark.parametrize("name", ["../etc", "a/../b", "a/b", "/b", "", "A", "-x", "a" * 64, "x\n"])
def test_ids_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(SessionError, match="no session"):
        SessionStore(tmp_path).open(name)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    store.create(preset_spec("quick"), "mine")
    with pytest.raises(SessionError, match="already exists"):
        store.create(preset_spec("quick"), "mine")
    (store.root / "mine" / "session.json").unlink()
    with pytest.raises(SessionError, match=r"mine/session\.json is missing"):
        store.create(preset_spec("quick"), "mine")


def test_no_session_takes_the_folder_of_other_things(tmp_path: Path) -> None:
    """Every folder that a module names among the sessions is one of these."""
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    named = {*re.findall(r'(?:root|sessions_folder\(\)) / f?"([a-z][a-z-]*)["/]', sources)}
    assert named - {"studies", "students", "results"} == set() and {"lessons", "studies", "api-answers", "headroom"} < RESERVED
    for name in RESERVED - {""}:
        with pytest.raises(SessionError, match="holds other things"):
            SessionStore(tmp_path).create(preset_spec("quick"), name)
        assert next(ids("session", name)) == f"{name}-2"
        assert next(ids("student", name)) == name


def test_leftovers_of_a_killed_process_are_deleted_after_a_day(tmp_path: Path) -> None:
    for name, age in ((".new-old", 2 * SCRATCH_AGE), (".new-now", 0.0)):
        (tmp_path / name / "half").mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    SessionStore(tmp_path).create(preset_spec("quick"), "mine")
    assert {path.name for path in tmp_path.iterdir()} == {".new-now", "mine"}


def test_damage_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    session = SessionStore(tmp_path).create(preset_spec("quick"), "hurt")
    stage = session.stage_dir(0)
    stage.mkdir(parents=True)
    (stage / "proposal.json").write_text('{"stage": 0')
    (stage / "validation.parquet").write_bytes(b"not a table")
    (stage / "metrics.jsonl").write_text('{"step": 1, "reward": 0.5}\n{"step": 2, "rew')
    assert session.proposal(0) is None
    assert session.validation(0) is None
    assert session.metrics(0)["reward"].tolist() == [0.5]
    assert len(session.problems) == 2
    assert all(problem.startswith("stages/00/") for problem in session.problems)


def test_a_folder_with_a_bad_spec_is_left_out_and_says_why(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "session.json").write_text('{"stages": 0}')
    assert "bad" not in [session.id for session in store.sessions()]
    with pytest.raises(SessionError, match=r"session\.json is not a spec"):
        store.open("bad")


def test_of_recorded_sessions_those_that_anybody_can_repeat_come_first_and_forks_and_twins_last(tmp_path: Path) -> None:
    found = [session.id.removeprefix("example-") for session in SessionStore(tmp_path).sessions()]
    assert found == ["quick", "long", "long-imitation", "smollm2", "quick-kept", "quick-fixed", "smollm2-fixed"]
