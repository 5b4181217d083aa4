"""A study on a Ray cluster: each cell's worker is the subprocess of a Ray task.

The study's folder lies on a file system that all nodes see under the same path, as is usual on clusters, and FrozenLab is installed on all
of them. Nodes communicate through these files only: a task receives a session's folder and returns its worker's exit status. A task
that has ended before its session is done is not repeated by Ray but by the study's runner, as every other cell is. A worker does not
outlive its task, and two never work on one session, since workers hold a lock in its folder. Keys of API engineers are read on the
node, as on any machine.

Ray is imported inside functions, because FrozenLab can be installed without it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from frozenlab.base.errors import LabError
from frozenlab.base.numbers import counted
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.environment import KEEPER
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.launcher import launch
from frozenlab.jobs.worker import HELD, STOPPED, JobHeldError, sole_worker
from frozenlab.session.session import Session

CONNECTS_WITHIN = 10.0
"""Seconds to wait for a connection to the cluster. Ray itself would try for a quarter of an hour."""
ANSWERS_WITHIN = 120.0
"""Seconds to wait until every node has reported whether it sees the study's folder."""


class ClusterError(LabError, RuntimeError):
    """A study cannot be run on the cluster; the message says why."""


def require_ray() -> None:
    """Raise ClusterError if Ray is not installed."""
    if find_spec("ray") is None:
        raise ClusterError('a cluster needs Ray, which is not installed: pip install "frozenlab[cluster]"')


class RayWorkers:
    """Runs the workers of a study's sessions as tasks of a Ray cluster."""

    def __init__(self, study: Study, address: str, lock: Path) -> None:
        """
        Args:
            address: address of the cluster, anything that ``ray.init`` accepts.
            lock: a file in the study's folder that this process holds locked: nodes that share the folder cannot lock it.
        """
        self.address, self.lock = address, lock
        session = study.spec.session
        self.needs = {"CPU": 1, "GPU": session.processes if session.language else 0}
        """Resources of one task."""
        self.tasks: dict[str, Any] = {}
        """Tasks that are not known to have ended, by session id."""
        self.task: Any = None
        """The Ray remote function, once connected."""

    def prepare(self) -> int:
        """Connect to the cluster and check that its nodes see the study's folder; return how many cells fit at a time, at least 1.

        Raises ClusterError if there is no such cluster, if no node has what a cell needs, or if one that has it does not share the folder.
        """
        require_ray()
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        on_terminate = signal.getsignal(signal.SIGTERM)
        try:
            knock(self.address)
            ray.init(address=self.address, log_to_driver=False)
        except Exception as error:  # Ray raises many kinds
            raise ClusterError(f"no Ray cluster answers at {self.address}: {lines(error)[0]}") from None
        signal.signal(signal.SIGTERM, on_terminate)  # Ray installs its own handler
        rooms = {node["NodeID"]: self.room(node["Resources"]) for node in ray.nodes() if node["Alive"]}
        if not any(rooms.values()):
            needs = " and ".join(counted(n, what) for what, n in self.needs.items() if n)
            raise ClusterError(f"no node of the Ray cluster at {self.address} has the {needs} that a session of this study needs")
        self.ask([node for node, room in rooms.items() if room])
        self.task = ray.remote(run_worker).options(max_retries=0, num_cpus=self.needs["CPU"], num_gpus=self.needs["GPU"])
        return sum(rooms.values())

    def room(self, resources: dict[str, float]) -> int:
        """Number of cells that fit on a node."""
        return min(int(resources.get(what, 0) // n) for what, n in self.needs.items() if n)

    def ask(self, nodes: list[str]) -> None:
        """Raise ClusterError if a node cannot work in the study's folder."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        look = ray.remote(trouble_with)
        on = [look.options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)) for node in nodes]
        asked = [task.remote(str(self.lock)) for task in on]
        _, silent = ray.wait(asked, num_returns=len(asked), timeout=ANSWERS_WITHIN)
        if silent:
            raise ClusterError(f"{len(silent)} of {len(nodes)} nodes did not say within {ANSWERS_WITHIN:.0f} s what they see")
        try:
            troubles = [trouble for trouble in ray.get(asked) if trouble]
        except ray.exceptions.RayError as error:
            raise ClusterError(f"a node cannot run FrozenLab: {lines(error)[-1]}") from None
        if troubles:
            raise ClusterError(f"{troubles[0]}; put the sessions on a file system that all nodes share (FROZENLAB_SESSIONS)")

    def start(self, session: Session) -> None:
        (session.dir / STOP_FILE).unlink(missing_ok=True)
        self.tasks[session.id] = self.task.remote(str(session.dir))

    def running(self, session: Session) -> bool:
        """Whether the session's task waits for a node or runs on one. If a task failed, the reason is printed."""
        task = self.tasks.get(session.id)
        if task is None:
            return False
        import ray

        if not ray.wait([task], timeout=0)[0]:
            return True
        del self.tasks[session.id]
        try:
            ray.get(task)
        except ray.exceptions.RayError as error:
            print(f"{session.id}: {error}", file=sys.stderr, flush=True)
        return False

    def stop(self, session: Session) -> None:
        """Ask the session's worker to stop. A task without a worker yet, waiting for a node or for Python to start, is cancelled."""
        import ray

        (session.dir / STOP_FILE).touch()
        try:
            with sole_worker(session, wait=0.0):
                ray.cancel(self.tasks[session.id], force=True)
        except JobHeldError:
            pass


def knock(address: str) -> None:
    """Raise OSError or ValueError if the address has a port and nothing listens there."""
    where = urlsplit(f"//{address.removeprefix('ray://')}")
    if where.hostname and where.port:
        socket.create_connection((where.hostname, where.port), CONNECTS_WITHIN).close()


def lines(error: Exception) -> list[str]:
    """The lines of an error message. Ray's own errors begin with the cause, those of a task end with it."""
    return [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]


# --- on a node -------------------------------------------------------------------------------------------------------


def trouble_with(lock: str) -> str | None:
    """The reason why this node cannot work in the folder of a file that the runner holds locked; None if it can."""
    node, folder = os.uname().nodename, Path(lock).parent
    try:
        with Path(lock).open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        return f"the node {node} does not see {folder}"
    except OSError as error:
        return f"the node {node} cannot lock files in {folder}: {error.strerror}"
    return f"the node {node} has another {folder} than the runner, or does not see what others lock there"


def run_worker(folder: str) -> int:
    """Run a session's worker to its end and return its exit status. If another worker holds the session, perhaps on a node that was
    cut off, wait for it. Raises FileNotFoundError if this node does not see the session."""
    if not (Path(folder) / "session.json").exists():
        raise FileNotFoundError(f"the node {os.uname().nodename} does not see {folder}")
    session = Session(Path(folder))
    status = HELD
    while status == HELD:
        if (session.dir / STOP_FILE).exists():
            return STOPPED
        status = launch(session, **{KEEPER: str(os.getpid())}).wait()
    return status
