"""What thousands of sessions cost, in CPU seconds: listing them, the pages that list them, and the commands that look at all.

    python -m benchmarks.many_sessions [--sessions 10,1000,10000] [--folder DIR]

The sessions are copies of a recorded one with every file that it has: title, seed and time are their own, the larger files are links to the
same bytes. Each figure is from a process of its own that has imported everything and has shown the page once over an empty folder; that of
a command includes Python's start. ``--folder`` keeps the sessions, and uses again those that are there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from frozenlab.base import places
from frozenlab.session.catalog import INDEX
from frozenlab.session.store import SessionStore

EXAMPLE = "example-quick"
PAGES = ("home", "runs", "train", "story", "present", "help")
COMMANDS = {
    "status": ["status", "run-00000"],
    "list": ["list"],
    "disk": ["jobs", "disk", "--most", "1"],
    "gc": ["jobs", "gc", "--json"],
    "queue": ["jobs", "queue", "--json"],
}


def fill(root: Path, many: int) -> None:
    """Make the sessions ``run-00000`` and so on in ``root``, up to ``many``; those that are there stay."""
    recorded = places.SESSIONS / EXAMPLE
    spec, state = (json.loads((recorded / name).read_text()) for name in ("session.json", "state.json"))
    files = [path for path in recorded.rglob("*") if path.is_file() and path.name not in ("session.json", "state.json", "worker.log")]
    for number in range(many):
        folder = root / f"run-{number:05d}"
        if folder.exists():
            continue
        pool = root / f".files-{number // 10_000}"  # a file system takes some 60,000 links to a file
        if not pool.exists():
            shutil.copytree(recorded, pool)
        for path in files:
            target = folder / path.relative_to(recorded)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(pool / path.relative_to(recorded), target)
        (folder / "state.json").write_text(json.dumps(state | {"started": 1.78e9 + 60 * number}))
        (folder / "session.json").write_text(json.dumps(spec | {"title": f"Run {number}", "seed": number}))


def clock(what: str, action: Callable[[], object]) -> None:
    spent, began = time.process_time(), time.perf_counter()
    action()
    print(f"  {what:42} {time.process_time() - spent:7.3f} CPU s {time.perf_counter() - began:8.2f} s", flush=True)


def page(name: str, root: Path) -> None:
    """The first visit of a page in a server's life, and the next."""
    from tests.pages.apptest import open_page

    def visit(**query: str) -> None:
        app = open_page(name, **query)
        assert not app.exception, app.exception

    with tempfile.TemporaryDirectory() as empty:
        os.environ["FROZENLAB_SESSIONS"] = empty
        visit()
    os.environ["FROZENLAB_SESSIONS"] = str(root)
    clock(f"{name}, the first time", visit)
    clock(f"{name}, again", visit)
    if name == "runs":
        clock("runs, a search", lambda: visit(find="run 77"))
        clock("runs, a filter and another order", lambda: visit(engineer="policy", order="by name"))


def listing(root: Path, again: bool) -> None:
    from frozenlab.experiments.shelf.shelf import why_kept
    from frozenlab.session.runs import runs

    store = SessionStore(root)
    clock("list, in another new process" if again else "list, without an index", store.listed)
    if again:
        clock("list, in the same process", store.listed)
        clock("the lines of the table of runs", lambda: runs(store.listed()))
        session = store.open("run-00000")
        clock("may a session be deleted? the first time", lambda: why_kept(session, store))
        clock("may a session be deleted? again", lambda: why_kept(session, store))


def command(name: str, arguments: list[str], root: Path) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "frozenlab.cli", *arguments], env=os.environ | {"FROZENLAB_SESSIONS": str(root)}, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended = "" if done.returncode == 0 else f"  ended with {done.returncode}"
    print(f"  {'frozenlab ' + name:42} {spent:7.3f} CPU s {time.perf_counter() - began:8.2f} s{ended}", flush=True)


@contextmanager
def folder(kept: Path | None, many: int) -> Iterator[Path]:
    if kept is None:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)
    else:
        (kept / str(many)).mkdir(parents=True, exist_ok=True)
        yield kept / str(many)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", default="10,1000,10000", help="how many, comma-separated")
    parser.add_argument("--folder", type=Path, help="keep the sessions here (default: a temporary folder)")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "ROOT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, root = options.one[0], Path(options.one[1])
        listing(root, again=what == "list-again") if what.startswith("list") else page(what, root)
        return
    for many in map(int, options.sessions.split(",")):
        with folder(options.folder, many) as root:
            print(f"{many:,} sessions", flush=True)
            fill(root, many)
            (root / INDEX).unlink(missing_ok=True)
            time.sleep(3)  # what was written just now is not kept in the index
            for what in ("list", "list-again", *PAGES):
                own = [sys.executable, "-m", "benchmarks.many_sessions", "--one", what, str(root)]
                subprocess.run(own, check=True, cwd=places.ROOT, stderr=subprocess.DEVNULL)
            for name, arguments in COMMANDS.items():
                command(name, arguments, root)


if __name__ == "__main__":
    main()
