"""Twenty jobs of five kinds, two servers, the command line and killed workers on one folder, and a live demo in the middle.

A server is a process that submits jobs as pages do, and looks at the queue every second.

``python -m tests.faults.queue_storm`` prints what came of it: every job ends exactly once, the demo begins within five seconds, and what
made room for it ends with the same bits as a session that was not disturbed. With ``--reboot`` everything is killed in the middle, too, and
one look at the queue lets it go on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from frozenlab.experiments.benchmark.task import Evaluation
from frozenlab.experiments.benchmark.task import task_for as evaluation_task
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import Arm
from frozenlab.experiments.replays.task import task_for as replay_task
from frozenlab.experiments.students.menu import practised
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student
from frozenlab.jobs.queue.db import QueueDB, QueuedJob
from frozenlab.jobs.queue.look import look
from frozenlab.jobs.queue.watch import dispatcher_of, lock_file
from frozenlab.jobs.state import process_alive
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.instance import write_instances
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.session import launch
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.faults.harness import differences
from tests.running import end_queue, wait_for
from tests.studies.builders import small_study

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)
KILLED = 3
SHARED_MEMORY = Path("/dev/shm")
PATIENCE = 3600.0


def session_spec(steps: int = 6, seed: int = 3) -> SessionSpec:
    return short_spec(title=f"storm {seed}", steps=steps, seed=seed)


def serve(root: Path, share: int, most: int) -> None:
    """A server's part: it submits up to ten jobs like a page does, and looks at the queue every second as pages do."""
    store = SessionStore(root)
    boards = root / f"boards-{share}.jsonl"
    write_instances(boards, build_suite(SuiteSpec(agents=(2,), sizes=(3,), boards_per_cell=10, seed=share), sum_of_costs=False))
    recorded = SessionStore().open("example-quick")
    weak = next(iter(CONFIG.cells))
    recipe = Recipe(title=f"weak {share}", config=practised(CONFIG, (weak,)), weak=(weak,), boards=64, presentations=64, boards_per_cell=8)
    todo: list[Callable[[], object]] = [lambda n=n: launch.start(session_spec(seed=10 * share + n), store) for n in range(5)]
    todo += [lambda: Evaluation.start(evaluation_task("lab-model", str(boards), store), store)] * 2
    todo += [lambda: Replay.start(replay_task(recorded, 1, [Arm(name="all")], f"storm {share}", samples=3), store)] * 2
    todo += [lambda: Student.start(recipe, store)]
    random.Random(share).shuffle(todo)
    for submit in todo[:most]:
        submit()
        look(root)
        time.sleep(0.3)
    print("ready", flush=True)
    while True:
        look(root)
        time.sleep(1.0)


class Storm:
    def __init__(self, root: Path, share: int) -> None:
        """``share``: jobs that each server submits."""
        self.share = share
        self.root, self.store, self.db = root, SessionStore(root), QueueDB(root)
        self.environment = os.environ | {"FROZENLAB_SESSIONS": str(root), "OMP_NUM_THREADS": "1"}
        self.long = [launch.start(session_spec(steps=100, seed=100 + n), self.store) for n in range(2)]
        """Sessions that run when the demo begins."""
        self.draw, self.began = random.Random(7), time.monotonic()
        self.running: list[subprocess.Popen[bytes]] = []
        self.moved: dict[str, str] = {}
        """Folder of each job that made room -> its kind."""
        self.shared_memory = set(SHARED_MEMORY.iterdir())
        """What lay in the machine's shared memory before."""
        self.most = 0
        """Most jobs that needed cores and ran at once."""

    def say(self, words: str) -> None:
        print(f"{time.monotonic() - self.began:6.0f} s  {words}", flush=True)

    def servers(self) -> None:
        command = [sys.executable, "-m", "tests.faults.queue_storm", "--serve", str(self.root)]
        self.running = [subprocess.Popen([*command, str(n), str(self.share)], env=self.environment, stdout=subprocess.PIPE) for n in (1, 2)]

    def command_line(self, *words: str) -> dict:
        done = subprocess.run(
            [sys.executable, "-m", "frozenlab.cli", *words, "--json"], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def studies(self) -> None:
        """The command line's part: two studies, whose cells are jobs too."""
        for n in range(2):
            spec = small_study("uniform", "fixed", seeds=(n,), title=f"storm {50 + n}", steps=3, seed=50 + n)
            file = self.root / f"study-{n}.json"
            file.write_text(spec.model_dump_json())
            self.command_line("study", str(file), "--background", "--id", f"storm-{n}")

    def jobs(self) -> list[QueuedJob]:
        jobs = self.db.jobs()
        self.moved |= {job.folder: job.kind for job in jobs if job.wish == "aside"}
        self.most = max(self.most, sum(job.cores for job in jobs if job.running))
        return jobs

    def until(self, condition: Callable[[], object], what: str) -> None:
        wait_for(lambda: self.jobs() is not None and condition(), what, PATIENCE)

    def kill_a_worker(self) -> None:
        def victims() -> list[QueuedJob]:
            at_work = [job for job in self.jobs() if job.running and job.cores and job.pid and not job.parent and not job.tries]
            return [job for job in at_work if job.state and job.state.status == "running" and job.wish == ""]

        self.until(victims, "a worker to kill")
        victim = self.draw.choice(victims())
        os.killpg(victim.pid, signal.SIGKILL)
        self.say(f"killed the worker of {victim.id} ({victim.kind})")

    def demo(self) -> float:
        """A live demo begins; returns the seconds until its worker runs."""

        def train() -> bool:
            return all(session.state().status == "running" and len(session.metrics(0)) >= 3 for session in self.long)

        self.until(train, "two sessions to train")
        asked = time.monotonic()
        demo = launch.start(session_spec(steps=3, seed=200), self.store, urgent=True)
        self.until(lambda: demo.state().status not in ("queued", "crashed"), "the demo")
        took = time.monotonic() - asked
        self.say(f"the demo runs {took:.1f} s after it was asked for, beside load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        return took

    def reboot(self) -> None:
        """Everything is killed, as by a power cut, and what a machine forgets is gone."""
        for server in self.running:
            server.kill()
            server.wait()
        if (pid := dispatcher_of(self.root)) is not None:
            os.kill(pid, signal.SIGKILL)
        killed = [job for job in self.jobs() if job.running]
        for job in killed:
            if process_alive(job.pid, job.create_time):
                os.killpg(job.pid, signal.SIGKILL)
        time.sleep(1.0)
        locks = (lock_file(self.root), *self.root.rglob(".worker.lock"), self.root / ".launch.lock")
        left = [path for path in SHARED_MEMORY.iterdir() if path not in self.shared_memory and path.is_file()]
        for path in (*locks, *left):
            path.unlink(missing_ok=True)
        gone = f"both servers, the dispatcher, {len(killed)} workers and {len(left)} files of shared memory"
        self.say(f"reboot: {gone} are gone; {len(self.jobs())} jobs are left")
        found = self.command_line("jobs", "queue")
        self.say(f"one look at the queue: {found['running']} running, {found['queued']} queued")

    def report(self) -> int:
        ended = self.db.ended()
        own = [job for job in ended if not job.parent]
        times = Counter(job.folder for job in ended if job.status == "done")
        kinds = Counter(job.kind for job in own if job.status == "done")
        wrong = [f"{Path(job.folder).name}: {job.status}" for job in own if job.status != "done"]
        wrong += [f"{folder} ended {n} times" for folder, n in times.items() if n > 1]
        for job in ended:
            if job.kind == "session":
                events = [event["kind"] for event in Session(Path(job.folder)).events()]
                wrong += [f"{job.folder}: {events.count('done')} events done"] * (events.count("done") != 1)
        print(
            f"\n{len(own)} jobs ended: {dict(kinds)}, and {len(ended) - len(own)} parts of studies; most cores taken at once: {self.most}"
        )
        for folder, kind in sorted(self.moved.items()):
            print(f"made room and came back: {Path(folder).name} ({kind})")
            if kind == "session":
                differences = self.differences(Session(Path(folder)))
                print(*differences or ("equal to the last bit",), sep="\n")
                wrong += differences
        print("\n".join(wrong) or "every job ended exactly once")
        return int(bool(wrong) or not self.moved)

    def differences(self, session: Session) -> list[str]:
        """In what a session differs from one that was not disturbed."""
        alone = SessionStore(self.root / "alone").create(session.spec, session.id)
        subprocess.run(alone.command(), env=self.environment, check=True)
        found = differences(session, Session(alone.dir))
        return [f"{session.id}: {what}" for what in found if what != "left behind: worker.log"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", nargs=3, metavar=("ROOT", "SHARE", "MOST"), help=argparse.SUPPRESS)
    parser.add_argument("--reboot", action="store_true", help="kill everything in the middle")
    parser.add_argument("--share", type=int, default=10, help="jobs of each server (default: %(default)s)")
    options = parser.parse_args()
    if options.serve:
        serve(Path(options.serve[0]), *map(int, options.serve[1:]))
    with tempfile.TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True) as scratch:
        storm = Storm(Path(scratch), options.share)
        try:
            return happens(storm, options.reboot)
        finally:
            for server in storm.running:
                server.kill()
            end_queue(storm.root)


def happens(storm: Storm, reboot: bool) -> int:
    """The whole storm; returns the exit status."""
    storm.servers()
    storm.studies()
    for server in storm.running:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
    storm.say(f"{len(storm.jobs())} jobs are in the queue, from two servers and the command line")
    storm.kill_a_worker()
    took = storm.demo()
    for _ in range(KILLED - 1):
        storm.kill_a_worker()
    if reboot:
        storm.reboot()
    elif (pid := dispatcher_of(storm.root)) is not None:
        os.kill(pid, signal.SIGKILL)
        storm.say("killed the dispatcher")
    storm.until(lambda: not storm.jobs(), "all to end")
    storm.say("the queue is empty")
    return storm.report() or int(took > 5.0)


if __name__ == "__main__":
    sys.exit(main())
