"""A study on a Ray cluster of two nodes: nodes may die, and every cell still runs to its end once, in one worker at a time."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from frozenlab.base import places
from frozenlab.base.files import write_text
from frozenlab.cli.main import main as frozenlab
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.studies.cluster import ClusterError, RayWorkers, knock, require_ray, run_worker, trouble_with
from frozenlab.experiments.studies.grid import StudyError
from frozenlab.experiments.studies.runner import Runner
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import StudyReport
from frozenlab.jobs.launcher import launch, queue
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.state import worker_alive
from frozenlab.jobs.worker import HELD, LOCK_FILE, JobHeldError, run_job, sole_worker, work_on
from frozenlab.models.settings import LanguageSettings, Launcher
from frozenlab.session.forks import fork
from frozenlab.session.session import Session
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.running import finish, wait_for, weights
from tests.studies.builders import events, made, small_study

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
STEPS = 9
"""Of a stage: enough for a node to be killed in the middle of one."""


# --- whole studies ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes of one processor each, on this machine. In the end nothing of Ray is left."""
    with (
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("RAY_TMPDIR", folder)  # not pytest's folder: the paths of sockets are short
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        nodes = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
        nodes.add_node(**NODE)
        yield nodes
        processes = [process for node in nodes.list_all_nodes() for process in family(raylet(node))]
        nodes.shutdown()
        _, left = psutil.wait_procs(processes, timeout=30)
        for process in left:
            process.kill()
    assert not left


def scattered(root: Path, seeds: tuple[int, ...]) -> Study:
    spec = small_study("uniform", "fixed", seeds=seeds)
    training = spec.session.training.model_copy(update={"steps": STEPS})
    return Study.create(spec.changed(session=spec.session.changed(training=training)), SessionStore(root), "scattered")


def raylet(node: Any) -> psutil.Process:
    return psutil.Process(node.all_processes["raylet"][0].process.pid)


def family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def trained_on(node: Any, study: Study) -> tuple[Session, State] | None:
    """The session that trains on a node, once it has recorded a step."""
    for cell in study.cells:
        session = study.session(cell)
        state = session.state() if session else None
        if session and state and state.status == "running" and state.phase == "training" and state.step:
            with suppress(psutil.NoSuchProcess):
                if raylet(node) in psutil.Process(state.pid).parents():
                    return session, state
    return None


def steps_of_workers(session: Session) -> list[list[tuple[int, int]]]:
    """The steps (stage, step) that each worker of the session recorded, one worker after the other."""
    steps: list[list[tuple[int, int]]] = []
    for event in session.events():
        if event["kind"] in ("started", "resumed"):
            steps.append([])
        elif event["kind"] == "step":
            steps[-1].append((event["stage"], event["step"]))
    return steps


def start_runner(run: RunSettings, study: Study) -> subprocess.Popen[bytes]:
    """The runner of a study in a process of its own, past the queue."""
    write_text(study.dir / "run.json", run.model_dump_json())
    queue(study)
    return launch(study)


@pytest.mark.long
def test_every_cell_runs_to_its_end_once_although_a_node_dies(cluster: Cluster, tmp_path: Path) -> None:
    study = scattered(tmp_path, seeds=(0, 1))
    runner = start_runner(RunSettings(cluster=cluster.address), study)
    doomed = cluster.worker_nodes.copy().pop()
    wait_for(lambda: trained_on(doomed, study) is not None or runner.poll() is not None, "a session to train on the node")
    found = trained_on(doomed, study)
    assert found is not None, (study.dir / "worker.log").read_text()
    session, state = found

    for process in [raylet(doomed), *raylet(doomed).children()]:  # Ray's own; the worker is a child of one of them
        process.kill()
    wait_for(lambda: not worker_alive(state), "the worker to end with its node")
    assert "done" not in [event["kind"] for event in session.events()], "the worker has ended with its node, in the middle"
    cluster.remove_node(doomed, allow_graceful=False)
    cluster.add_node(**NODE)

    cell = next(cell for cell in study.cells if cell.id == session.id)
    alone = SessionStore(tmp_path / "alone").create(study.spec.spec_of(cell.arm, cell.seed), "alone")
    assert finish(alone) == 0

    assert runner.wait(timeout=600) == 0, (study.dir / "worker.log").read_text()
    assert study.state().status == "done"
    assert events(study, "done") == {cell.id: 1 for cell in study.cells}
    assert StudyReport.model_validate_json((study.dir / "report" / "report.json").read_text()).cells == 4
    for cell in study.cells:
        ended = study.session(cell)
        assert ended is not None and ended.state().status == "done" and ended.problems == []
        workers = steps_of_workers(ended)
        assert len(workers) == 1 + (ended.id == session.id)
        assert all(steps == sorted(set(steps)) for steps in workers), "one worker at a time, a step at a time"
        assert {step for steps in workers for step in steps} >= {(1, step) for step in range(1, STEPS + 1)}
        assert [ended.metrics(stage)["step"].tolist() for stage in range(2)] == [list(range(1, STEPS + 1))] * 2
    for mine, theirs in zip(weights(session), weights(alone), strict=True):
        import torch
        from safetensors.torch import load

        torch.testing.assert_close(load(mine), load(theirs), atol=1e-6, rtol=1e-5)
    for stage in (None, 0, 1):
        assert session.validation(stage).equals(alone.validation(stage))  # type: ignore[union-attr]


@pytest.mark.long
def test_stopping_a_study_stops_running_and_waiting_tasks(cluster: Cluster, tmp_path: Path) -> None:
    study = scattered(tmp_path, seeds=(0, 1, 2))
    runner = start_runner(RunSettings(jobs=3, cluster=cluster.address), study)
    begun = partial(events, study, "started")
    wait_for(lambda: sum(begun().values()) == 2 and len(begun()) == 3, "two sessions to have a worker, and a third to wait for a node")
    runner.terminate()
    assert runner.wait(timeout=600) == 3, (study.dir / "worker.log").read_text()
    assert study.state().status == "stopped"
    sessions = [session for cell in study.cells if (session := study.session(cell)) is not None]
    assert sorted(session.events()[-1]["kind"] if session.events() else "" for session in sessions) == ["", "stopped", "stopped"]


def test_an_unreachable_cluster_fails_the_study_with_the_reason(tmp_path: Path) -> None:
    study = made(tmp_path)
    workers = RayWorkers(study, "127.0.0.1:1", tmp_path / "lock")
    assert run_job(JobRecorder(study), lambda recorder: Runner(recorder, workers=workers).run()) == 1
    assert study.state().status == "failed"
    assert "no Ray cluster answers at 127.0.0.1:1" in (study.state().error or "")
    for address in ("localhost:1", "ray://localhost:1", "localhost:99999"):
        with pytest.raises((OSError, ValueError)):
            knock(address)
    knock("auto")


def test_without_ray_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr("frozenlab.experiments.studies.cluster.find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r'pip install "frozenlab\[cluster\]"'):
        require_ray()
    assert frozenlab(["study", "engineers", "--cluster", "auto"]) == 2
    assert "needs Ray" in capsys.readouterr().err
    assert not (tmp_path / "studies").exists()


def test_the_study_folder_holds_its_run_settings(tmp_path: Path) -> None:
    study = made(tmp_path)
    assert study.run == RunSettings(jobs=None, cluster=None)
    write_text(study.dir / "run.json", RunSettings(jobs=3, cluster="auto").model_dump_json())
    assert study.run == RunSettings(jobs=3, cluster="auto")
    write_text(study.dir / "run.json", '{"jobs": 0}')
    with pytest.raises(StudyError, match=r"run\.json cannot be read: jobs: "):
        study.run  # noqa: B018


# --- what a cell needs, and what a node must see ----------------------------------------------------------------------


def test_room_is_for_whole_cells(tmp_path: Path) -> None:
    study = made(tmp_path)
    light = RayWorkers(study, "auto", tmp_path / "lock")
    assert [light.room(node) for node in ({"CPU": 3.5}, {"CPU": 16.0, "GPU": 4.0}, {"memory": 1.0})] == [3, 16, 0]
    language = LanguageSettings(rows=1, launcher=Launcher(processes=2))
    study.spec = study.spec.model_copy(update={"session": study.spec.session.model_copy(update={"language": language})})
    heavy = RayWorkers(study, "auto", tmp_path / "lock")
    assert heavy.needs == {"CPU": 1, "GPU": 2}
    assert [heavy.room(node) for node in ({"CPU": 16.0}, {"CPU": 16.0, "GPU": 5.0}, {"CPU": 1.0, "GPU": 8.0})] == [0, 2, 1]


def test_a_node_without_the_shared_folder_is_detected(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert "does not see" in (trouble_with(str(lock)) or "")
    assert not lock.exists()
    lock.touch()
    assert "has another" in (trouble_with(str(lock)) or "")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert trouble_with(str(lock)) is None
    with pytest.raises(FileNotFoundError, match="does not see"):
        run_worker(str(tmp_path / "nowhere"))


# --- one worker -------------------------------------------------------------------------------------------------------


def test_a_session_has_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    session = build_session(tmp_path, status="stopped")
    before = {path: path.read_bytes() for path in session.dir.rglob("*") if path.is_file()}
    for module in ("jobs.worker", "session.launch"):
        monkeypatch.setattr(f"frozenlab.{module}.sole_worker", lambda job, wait=0.0: sole_worker(job, 0.0))
    with sole_worker(session):
        with pytest.raises(JobHeldError, match="has a worker already"), sole_worker(session, wait=0.0):
            raise AssertionError
        assert work_on(session) == HELD
        assert "has a worker already" in capsys.readouterr().err
        assert frozenlab(["resume", str(session.dir), "--json"]) == 2
    with sole_worker(session, wait=0.0):
        pass
    assert {path: path.read_bytes() for path in session.dir.rglob("*") if path.is_file()} == before | {session.dir / LOCK_FILE: b""}


def test_a_session_that_is_done_is_left_as_it_is(tmp_path: Path) -> None:
    session = build_session(tmp_path, status="done")
    before = session.events()
    assert work_on(session) == 0
    assert session.events() == before


def test_a_fork_has_a_lock_of_its_own(tmp_path: Path) -> None:
    parent = build_session(tmp_path, small_spec(stages=2))
    with sole_worker(parent):
        forked = fork(parent, 1, SessionStore(tmp_path), "forked")
        assert not list(forked.dir.rglob(LOCK_FILE))
        with sole_worker(forked, wait=0.0):
            pass


def test_a_worker_does_not_outlive_its_keeper() -> None:
    keeper = subprocess.Popen(["sleep", "60"])
    script = f"import time; from frozenlab.jobs.worker import end_with; end_with({keeper.pid}); print(flush=True); time.sleep(60)"
    kept = subprocess.Popen([sys.executable, "-c", script], cwd=places.ROOT, stdout=subprocess.PIPE, start_new_session=True)
    assert kept.stdout is not None and kept.stdout.readline()
    assert kept.poll() is None
    keeper.kill()  # and it stays a zombie
    assert kept.wait(timeout=600) == -signal.SIGKILL
    keeper.wait()
    kept.stdout.close()
