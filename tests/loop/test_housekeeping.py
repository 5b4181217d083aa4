"""What of a session can go: it shows the same afterwards, and a fork of it ends the same."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.experiments.shelf.housekeeping import KINDS, disk_use, other_uses, removals, remove
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import store_state
from frozenlab.session.forks import fork
from frozenlab.session.session import Session, problems_of
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.contests.builders import tiny_contest
from tests.running import finished, weights
from tests.studies.builders import small_study

BOTH = ("optimizer", "middle-weights")


def with_checkpoints(root: Path, session_id: str) -> Session:
    """A built session of three stages with files where checkpoints would be."""
    session = build_session(root, session_id=session_id)
    for stage in range(3):
        policy = session.stage_dir(stage) / "policy"
        policy.mkdir(exist_ok=True)
        (policy / "model.safetensors").write_bytes(bytes(1000))
        (policy / "optimizer.pt").write_bytes(bytes(2000))
        (policy / "rng_state_0.pth").write_bytes(bytes(10))
    (session.stage_dir(2) / "trainer" / "checkpoint-3").mkdir(parents=True)
    (session.stage_dir(2) / "trainer" / "checkpoint-3" / "model.safetensors").write_bytes(bytes(500))
    return session


def test_every_byte_is_counted_once(tmp_path: Path) -> None:
    session = with_checkpoints(tmp_path, "one")
    use = disk_use(session.dir)
    assert tuple(use) == KINDS
    assert sum(use.values()) == sum(path.stat().st_size for path in session.dir.rglob("*") if path.is_file())
    assert (use["weights"], use["to go on"]) == (3000, 3 * 2010 + 500)


def test_optimizer_states_and_middle_weights_go_and_nothing_that_is_shown(tmp_path: Path) -> None:
    session, store = with_checkpoints(tmp_path, "one"), SessionStore(tmp_path)
    before = disk_use(session.dir)
    found = removals(store, BOTH)
    assert [(removal.rule, removal.size) for removal in found] == [("optimizer", 6530), ("middle-weights", 2 * 3010)]
    assert disk_use(session.dir) == before, "it was only asked"
    assert all(remove(removal) for removal in found)
    assert disk_use(session.dir) == before | {"weights": 1000, "to go on": 0}
    assert removals(store, BOTH) == []


def test_sessions_that_run_that_ship_or_that_are_young_stay_as_they_are(tmp_path: Path) -> None:
    done = with_checkpoints(tmp_path, "done")
    with_checkpoints(tmp_path, "example-mine")
    stopped = with_checkpoints(tmp_path, "stopped")
    store_state(stopped.dir, stopped.state().model_copy(update={"status": "stopped"}))
    assert {removal.session for removal in removals(SessionStore(tmp_path), BOTH)} == {"done"}
    assert removals(SessionStore(tmp_path), BOTH, older_than=(time.time() - (done.state().finished or 0)) / 86_400 + 1) == []


def test_checkpoints_that_another_job_begins_with_stay(tmp_path: Path) -> None:
    parent, store = with_checkpoints(tmp_path, "parent"), SessionStore(tmp_path)
    fork(parent, 1, store, "child", engineer="uniform")
    assert {removal.rule for removal in removals(store, BOTH)} == {"optimizer"}


def test_the_command_lists_first_and_removes_when_told_to(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    session = with_checkpoints(store.root, "one")
    before = disk_use(session.dir)
    assert main(["jobs", "gc", "--rules", "optimizer,middle-weights"]) == 0
    assert "one: middle-weights, 0.0 MB" in capsys.readouterr().out and disk_use(session.dir) == before
    assert main(["jobs", "gc", "one", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed_bytes"] == 6530
    assert main(["jobs", "gc", "--rules", "all"]) == 2
    assert "there is no rule 'all'; there are optimizer, middle-weights" in capsys.readouterr().err
    assert main(["jobs", "gc", "example-quick"]) == 2 and "is a recorded session, so it stays" in capsys.readouterr().err
    assert main(["jobs", "disk", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"]["one"]["to go on"] == 0
    assert main(["jobs", "disk"]) == 0 and "all 1 sessions" in capsys.readouterr().out


def test_sessions_of_a_study_count_once_all_of_it_is_done(store: SessionStore) -> None:
    study = Study.create(small_study("rules", "fixed", seeds=(0,)), store, "arms")
    for cell in study.cells:
        with_checkpoints(study.sessions.root, cell.id)
    assert removals(store, BOTH) == []
    store_state(study.dir, study.state().model_copy(update={"status": "done"}))
    found = removals(store, ["optimizer"])
    assert {removal.session for removal in found} == {f"studies/arms/cells/{cell.id}" for cell in study.cells}
    before = other_uses(store)["studies"]
    assert all(remove(removal) for removal in found)
    assert before - other_uses(store)["studies"] == sum(removal.size for removal in found) == 2 * 6530
    (store.root / "models" / "smollm2").mkdir(parents=True)
    (store.root / "models" / "smollm2" / "model.safetensors").write_bytes(bytes(7))
    assert other_uses(store)["models"] == 7, "fetched models count too"


def test_sides_of_a_contest_count_once_all_of_it_is_done(store: SessionStore) -> None:
    contest = tiny_contest(store)
    with_checkpoints(contest.sides.root, "entry-001")
    assert removals(store, ["optimizer"]) == []
    store_state(contest.dir, contest.state().model_copy(update={"status": "done"}))
    (removal,) = removals(store, ["optimizer"])
    assert (removal.session, removal.size) == (f"contests/{contest.id}/sides/entry-001", 6530)
    assert remove(removal) and removals(store, ["optimizer"]) == []


def test_the_trash_goes_when_it_is_old_enough_and_only_when_told_to(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    trash = store.root / ".trash"
    build_session(store.root, session_id="one")
    study = Study.create(small_study("rules", "fixed", seeds=(0,)), store, "one")
    store_state(study.dir, study.state().model_copy(update={"status": "stopped"}))
    assert main(["jobs", "restore"]) == 0 and capsys.readouterr().out == "The trash is empty\n"
    assert main(["jobs", "delete", "session:one", "study:one"]) == 0
    assert "study one is in the trash; frozenlab jobs restore study:one brings it back" in capsys.readouterr().out
    assert not study.dir.exists() and main(["jobs", "delete", "example-quick"]) == 2
    assert "is a recorded session, so it stays" in capsys.readouterr().err
    assert removals(store, ["trash"], older_than=1.0) == [] == removals(store, ["optimizer"])
    assert main(["jobs", "restore"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {"session:one", "study:one"}
    assert main(["jobs", "restore", "one"]) == 2 and "there are several 'one' in the trash: say which" in capsys.readouterr().err
    assert main(["jobs", "restore", "other"]) == 2 and "there is no 'other' in the trash" in capsys.readouterr().err
    assert main(["jobs", "restore", "study:one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] == str(study.dir) and study.dir.exists()
    assert main(["jobs", "gc", "--rules", "trash"]) == 0 and (trash / "one").exists(), "it was only listed"
    assert "session:one: trash, " in capsys.readouterr().out
    assert main(["jobs", "gc", "one", "--rules", "trash"]) == 2
    capsys.readouterr()
    (removal,) = removals(store, ["trash"])
    assert main(["jobs", "gc", "--rules", "trash", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed_bytes"] == removal.size > 0
    assert not (trash / "one").exists() and not remove(removal), "it is gone already"


def test_a_file_that_a_fork_shares_with_its_parent_is_counted_once(tmp_path: Path) -> None:
    parent, store = with_checkpoints(tmp_path, "parent"), SessionStore(tmp_path)
    child = fork(parent, 1, store, "child", engineer="uniform")
    apart = len((parent.stage_dir(0) / "policy" / "model.safetensors").read_bytes())
    assert disk_use(parent.dir)["weights"] + disk_use(child.dir)["weights"] < 4 * apart


@pytest.mark.slow
def test_a_fork_of_a_session_without_optimizer_states_ends_as_one_of_the_whole_session(parent: Session, tmp_path: Path) -> None:
    stores = [SessionStore(tmp_path / name) for name in ("whole", "less")]
    for store in stores:
        shutil.copytree(parent.dir, store.root / "parent")
    assert all(remove(removal) for removal in removals(stores[1], ["optimizer"]))
    assert problems_of(stores[1].open("parent")) == []
    ends = []
    for store in stores:
        ends.append(weights(finished(fork(store.open("parent"), 0, store, "forked", engineer="uniform"))))
    assert ends[0] == ends[1]
