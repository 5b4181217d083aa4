"""A worker that does nothing for a while, as fast as a process can start: it holds the lock, tells its progress and stops when asked.

``python -m tests.jobs.fake_worker FOLDER``: the folder's ``session.json`` is read for ``seconds`` to run and ``how`` to end.
Every run appends its begin and its end to ``runs``.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path


def main(folder: Path) -> int:
    task = json.loads((folder / "session.json").read_text())
    with (folder / ".worker.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        note(folder, "begin")
        began, seconds = time.time(), task["seconds"]
        done = known(folder).get("progress", 0.0) * seconds
        while done + time.time() - began < seconds:
            write(folder, "running", progress=(done + time.time() - began) / seconds)
            if (folder / "stop").exists():
                note(folder, "stopped")
                write(folder, "stopped", progress=(done + time.time() - began) / seconds)
                return 3
            if task["how"] == "dies":
                os.abort()
            time.sleep(0.05)
        note(folder, task["how"])
        write(folder, task["how"], progress=1.0, finished=time.time())
    return 0


def known(folder: Path) -> dict:
    return json.loads((folder / "state.json").read_text())


def write(folder: Path, status: str, **values: float) -> None:
    pid = os.getpid()
    created = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    boot = next(int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))
    state = known(folder) | {"status": status, "pid": pid, "create_time": created + boot, "host": os.uname().nodename}
    temporary = folder / f".state.json.{pid}"
    temporary.write_text(json.dumps(state | {"heartbeat": time.time()} | values))
    temporary.replace(folder / "state.json")


def note(folder: Path, what: str) -> None:
    with (folder / "runs").open("a") as file:
        file.write(f"{what} {time.time()}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
