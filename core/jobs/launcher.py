"""Starting, stopping and resuming the workers of sessions, evaluations, studies and replays, from a page or the command line."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from frozenlab import places
from frozenlab.benchmark.task import Evaluation, Task, create, evaluations
from frozenlab.engineer import hosts
from frozenlab.engineer.schema import ApiSettings, Proposal
from frozenlab.errors import LabError
from frozenlab.files import open_to_append, write_text
from frozenlab.jobs.disk import NOTHING, DiskFullError, check_room
from frozenlab.jobs.state import WorkerState, worker_alive
from frozenlab.loop import worker
from frozenlab.loop.forks import fork, forked_spec
from frozenlab.loop.soundness import LinkError, refuse_links
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import GIVEN_FILE, STOP_FILE, Session, SessionStore, worker_environment
from frozenlab.replays.task import Replay, ReplayTask, replays, servers, session_of
from frozenlab.replays.task import create as create_replay
from frozenlab.studies.spec import StudySpec
from frozenlab.studies.store import Study, studies
from frozenlab.studies.store import create as create_study

GRACE = 0.25
"""How long a worker has to stop politely before it is ended by force: a part of its patience, that is 30 s for a lab model."""


Job = Session | Evaluation | Study | Replay


class LaunchError(LabError, RuntimeError):
    """A session, an evaluation, a study or a replay cannot be started, stopped or resumed now; the message says why."""


def start(spec: SessionSpec, store: SessionStore) -> Session:
    """Creates a session and starts its worker. Raises LaunchError while something else runs: the machine does one heavy job at a time."""
    with launching(store, [spec.api]):
        session = store.create(spec)
        spawn(session)
    return session


def claim(spec: SessionSpec, store: SessionStore, session_id: str | None = None) -> Session:
    """Creates a session that the caller runs itself, in the foreground; it counts as queued. Raises LaunchError as :func:`start` does,
    SessionError if the id is none or taken."""
    with launching(SessionStore(), [spec.api]):
        session = store.create(spec, session_id)
        queue(session)
    return session


def start_evaluation(task: Task, store: SessionStore) -> Evaluation:
    """Starts to measure a checkpoint, as ``frozenlab evaluate`` does in the foreground. Raises LaunchError as :func:`start` does."""
    with launching(store):
        evaluation = create(task, store)
        spawn(evaluation)
    return evaluation


def start_study(spec: StudySpec, store: SessionStore, jobs: int | None, study_id: str | None = None, cluster: str | None = None) -> Study:
    """Creates a study and starts its runner. Raises LaunchError as :func:`start` does, StudyError if the id is none or taken.

    Args:
        jobs: sessions that run at a time; None: as many as there is room for.
        cluster: the address of a Ray cluster that they run on; None: they run here.
    """
    with launching(store, spec.servers):
        study = create_study(spec, store, study_id)
        spawn(study, *runner_options(jobs, cluster))
    return study


def resume_study(study: Study, store: SessionStore, jobs: int | None, cluster: str | None = None) -> None:
    """Starts the runner of a study again, which goes on where it stands. Arguments and errors are those of :func:`start_study`."""
    with launching(store, study.spec.servers):
        spawn(study, *runner_options(jobs, cluster))


def runner_options(jobs: int | None, cluster: str | None) -> list[str]:
    return [*(["--jobs", str(jobs)] if jobs else []), *(["--cluster", cluster] if cluster else [])]


def start_replay(task: ReplayTask, store: SessionStore) -> Replay:
    """Starts to ask anew, as ``frozenlab replay`` does in the foreground. Raises LaunchError as :func:`start` does."""
    with launching(store, servers(task, session_of(task, store))):
        replay = create_replay(task, store)
        spawn(replay)
    return replay


def resume_replay(replay: Replay, store: SessionStore) -> None:
    """Starts a worker that asks for the answers that a replay lacks. Raises LaunchError as :func:`start` does, SessionError if the stage
    that it asks about is gone."""
    with launching(store, servers(replay.task, replay.session)):
        replay.session.measurements(replay.task.stage)  # before the replay is called queued
        spawn(replay)


def start_fork(parent: Session, stage: int, store: SessionStore, given: Proposal | None = None, **changes: Any) -> Session:
    """Forks a session after ``stage`` (0-based) and starts the fork's worker. Raises LaunchError as :func:`start` does, SessionError as
    :func:`frozenlab.loop.forks.fork` does."""
    with launching(store, [forked_spec(parent, stage, **changes).api]):
        session = fork(parent, stage, store, given=given, **changes)
        spawn(session)
    return session


def claim_fork(parent: Session, stage: int, store: SessionStore, session_id: str | None, given: Proposal | None, **changes: Any) -> Session:
    """As :func:`start_fork`, but the caller runs the fork itself, in the foreground; it counts as queued."""
    with launching(store, [forked_spec(parent, stage, **changes).api]):
        session = fork(parent, stage, store, session_id, given=given, **changes)
        queue(session)
    return session


def propose(session: Session, proposal: Proposal, store: SessionStore) -> None:
    """Gives a session the proposal of a person for which it waits, and starts its worker again. Raises LaunchError as :func:`start` does,
    or if it waits for none."""
    with launching(store, [session.spec.api]):
        state = session.state()
        if state.status != "waiting":
            raise LaunchError(f"{session.id} does not wait for a proposal, it is {state.status}")
        check_folder(session)
        write_text(session.stage_dir(state.stage) / GIVEN_FILE, proposal.model_dump_json(indent=2))
        spawn(session)


def resume(session: Session, store: SessionStore) -> None:
    """Starts a worker that takes the session up where it stands. Raises LaunchError if it is running, done or read-only, or if it waits for
    a proposal."""
    with launching(store, [session.spec.api]):
        check_resumable(session)
        spawn(session)


def reclaim(session: Session) -> None:
    """Readies a session that the caller resumes itself, in the foreground; it counts as queued. Raises LaunchError as :func:`resume`, and
    SessionHeldError if a worker is on it that its state does not tell of."""
    check_resumable(session)
    check_folder(session)
    with worker.sole_worker(session), launching(SessionStore(), [session.spec.api]):
        queue(session)


def check_resumable(session: Session) -> None:
    state = session.state()
    if session.why_read_only:
        raise LaunchError(f"{session.id} {session.why_read_only}, it cannot be changed")
    if state.live:
        raise LaunchError(f"{session.id} is {state.status}; stop it before it can be resumed")
    if state.status == "done":
        raise LaunchError(f"{session.id} is done, there is nothing to resume")
    if state.status == "waiting":
        raise LaunchError(f"{session.id} waits for your proposal; there is nothing to resume before")


def stop(job: Job) -> None:
    """Asks the worker to stop at its next step; a session saves what it has. Ends it by force if it does not within its GRACE."""
    state = job.state()
    if not state.live:
        raise LaunchError(f"{job.id} is not running, it is {state.status}")
    (job.dir / STOP_FILE).touch()
    threading.Thread(target=end_after_grace, args=(state,), daemon=True).start()


def end_after_grace(state: WorkerState) -> None:
    deadline = time.monotonic() + GRACE * state.patience
    while worker_alive(state) and time.monotonic() < deadline:
        time.sleep(0.5)
    if worker_alive(state) and not state.elsewhere and state.pid is not None:
        # A detached worker leads a group of its own; a run in a terminal shares its shell's.
        end = os.killpg if os.getpgid(state.pid) == state.pid else os.kill
        end(state.pid, signal.SIGKILL)


@contextmanager
def launching(store: SessionStore, asks: Iterable[ApiSettings | None] = ()) -> Iterator[None]:
    """One launch at a time over all pages and shells; none while a session, an evaluation, a study or a replay runs, and none that ``asks``
    a server that was not allowed."""
    for server in filter(None, asks):
        if reason := hosts.refusal(server):
            raise LaunchError(reason)
    store.root.mkdir(parents=True, exist_ok=True)
    try:
        check_room(store.root, NOTHING, "anything new")
    except DiskFullError as error:
        raise LaunchError(str(error)) from None
    with open_to_append(store.root / ".launch.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = running(store)
        if busy is not None:
            raise LaunchError(f"{busy.title} ({busy.id}) is running; stop it or wait until it is done")
        yield


def running(store: SessionStore) -> Job | None:
    """The session, evaluation, study or replay that this machine is busy with."""
    jobs: list[Job] = [*evaluations(store), *studies(store), *replays(store)]
    return store.running() or next((job for job in jobs if job.state().live), None)


def worker_command(session: Session) -> list[str]:
    """What runs the session: one process, or as many as its spec has, by its launcher."""
    work = ["-m", "frozenlab.loop.worker", str(session.dir)]
    language, n = session.spec.language, str(session.spec.processes)
    if language is None or session.spec.processes == 1:
        return [sys.executable, *work]
    if language.launcher.program == "accelerate":
        return [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines", "1", "--num_processes", n, *work]
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", n, *work]


def spawn(job: Job, *options: str) -> subprocess.Popen[bytes]:
    """Starts the worker in a process group of its own. The job counts as queued until the worker has written its first state.

    Raises LaunchError if there is a link in the job's folder.
    """
    check_folder(job)
    queue(job)
    process = launch(job, *options)
    threading.Thread(target=process.wait, daemon=True).start()  # reaps it, so that a dead worker is no zombie
    return process


def check_folder(job: Job) -> None:
    try:
        refuse_links(job.dir)
    except LinkError as error:
        raise LaunchError(str(error)) from None


def queue(job: Job) -> None:
    """Has the job wait for its worker, which it does for a while before it counts as crashed. Nobody has asked that one to stop."""
    (job.dir / STOP_FILE).unlink(missing_ok=True)
    fresh = {"status": "queued", "error": None, "finished": None, "pid": None, "heartbeat": time.time()}
    if isinstance(job, Session):
        fresh |= {"phase": "starting", "phase_done": 0.0, "phase_since": time.time()}
    write_text(job.dir / "state.json", job.state().model_copy(update=fresh).model_dump_json(indent=2))


def launch(job: Job, *options: str, **variables: str) -> subprocess.Popen[bytes]:
    """The worker's process, with these ``variables`` in its environment; what it prints is added to ``worker.log``."""
    online = False
    if isinstance(job, Session):
        command, online = worker_command(job), job.spec.online
    elif isinstance(job, Evaluation):
        command, online = [sys.executable, "-m", "frozenlab.benchmark.worker", str(job.dir)], job.task.online
    elif isinstance(job, Replay):
        command, online = [sys.executable, "-m", "frozenlab.replays.worker", str(job.dir)], job.session.spec.online
    else:
        command = [sys.executable, "-m", "frozenlab.studies.runner", str(job.dir)]
    with open_to_append(job.dir / "worker.log") as log:
        return subprocess.Popen(
            [*command, *options],
            cwd=places.workplace(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=worker_environment(online) | variables,
        )
