"""Damages folders in thousands of ways, and calls everything that reads them: commands, pages, and what both are made of.

No reader may raise anything but a LabError, whose one sentence a person can act on, nor take more than ten seconds of the processor.
``python -m tests.faults.folders`` does 10,000 of each main kind and prints a table; ``test_folders.py`` does a few.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from unittest.mock import patch

import frozenlab
from frozenlab.base import places
from frozenlab.base.errors import LabError
from tests.faults.mutations import damaged, remove
from tests.faults.readers import PAGES, READERS
from tests.faults.whole import MAIN, NAME, PLACES, built

CORE = Path(frozenlab.__file__).parent
SLOW = 10.0
"""Seconds of the processor that a reader may take."""
STUCK = 20
"""Seconds after which a reader is interrupted."""
TOLD = 500
"""Folders between two lines of progress."""
MEMORY = 12 * 2**30
"""Bytes of addresses that this process may use, so that a file without an end is noticed."""


@dataclass
class Found:
    """What came of the folders of one kind."""

    kind: str
    folders: int = 0
    calls: int = 0
    pages: int = 0
    refused: int = 0
    """Calls that ended with a LabError."""
    seconds: float = 0.0
    slowest: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """Fault -> a folder in which it was met, and the traceback."""

    def row(self) -> str:
        faults, slowest, seconds = sum(self.faults.values()), f"{self.slowest:.2f}", f"{self.seconds:.0f}"
        return f"| {self.kind} | {self.folders} | {self.calls} | {self.refused} | {self.pages} | {faults} | {slowest} | {seconds} |"


COLUMNS = ("kind", "damaged folders", "calls", "refused with a sentence", "pages", "faults", "slowest call, CPU s", "CPU s")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


class Stuck(BaseException):
    """A reader did not come back."""


class Mutants:
    """Copies of the folder of one kind, damaged one after the other in the same place."""

    def __init__(self, kind: str, scratch: Path, *, trained: bool = False) -> None:
        self.kind, self.root = kind, scratch / "sessions"
        self.root.mkdir(parents=True)
        built(self.root, kind, trained=trained)
        self.case = self.root / PLACES[kind] / NAME
        self.whole = Path(shutil.copytree(self.case, scratch / "kept"))
        self.known = {path: signature_of(path) for path in self.case.rglob("*")}

    def damaged(self, number: int | None) -> list[str]:
        """The folder damaged in the way of this number, or not at all; what was done to it."""
        self.mend()
        return [] if number is None else damaged(self.case, random.Random(f"{self.kind}-{number}"))

    def mend(self) -> None:
        """Replace what was damaged; other files stay, and readers may know them already."""
        for path in sorted(self.case.rglob("*"), reverse=True):
            if self.known.get(path) != signature_of(path):
                remove(path)
        for path in sorted(self.known):
            if not path.exists():
                source = self.whole / path.relative_to(self.case)
                path.mkdir() if source.is_dir() else shutil.copy2(source, path)
                self.known[path] = signature_of(path)


def signature_of(path: Path) -> tuple[int, ...]:
    """A value that another file or link in the same place does not have; one for all folders."""
    found = path.lstat()
    return (0,) if stat.S_ISDIR(found.st_mode) else (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns)


@contextmanager
def only_here(root: Path) -> Iterator[None]:
    """Pages and commands see this sessions folder, without the recorded sessions beside it."""
    with patch.dict(os.environ, {"FROZENLAB_SESSIONS": str(root)}), patch.object(places, "SESSIONS", root / "recorded"):
        yield


def tried(found: Found, what: str, call: Callable[[], object]) -> None:
    """Calls a reader and notes what came of it."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Stuck

    found.calls += 1
    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(STUCK)
    began = time.process_time()
    try:
        call()
    except LabError:
        found.refused += 1
    except Stuck as error:
        note(found, f"stuck in {where(error)}", what, error)
    except Exception as error:
        note(found, f"{type(error).__name__} in {where(error)}", what, error)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    took = time.process_time() - began
    found.slowest = max(found.slowest, took)
    if took > SLOW:
        note(found, f"slow: {what.split(':')[0]}", f"{what}: {took:.1f} s", None)


def note(found: Found, fault: str, what: str, error: BaseException | None) -> None:
    found.faults[fault] += 1
    if fault not in found.examples:
        found.examples[fault] = what + ("" if error is None else "\n" + "".join(traceback.format_exception(error)[-14:]))
        print(f"\n--- {fault}\n{found.examples[fault]}", flush=True)  # a run takes an hour: mend meanwhile


def where(error: BaseException) -> str:
    """The last place of our own code in a traceback."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(f"{CORE}/")]
    return f"{Path(ours[-1].filename).relative_to(CORE)}:{ours[-1].lineno} {ours[-1].name}" if ours else str(error)[:200]


def read(mutants: Mutants, found: Found, numbers: Iterable[int | None], pages_every: int = 0) -> Found:
    """Every reader on the folders of these numbers, and every page on one in ``pages_every`` of them."""
    began = time.process_time()
    with only_here(mutants.root):
        for number in numbers:
            done = mutants.damaged(number)
            found.folders += 1
            for reader in READERS[mutants.kind]:
                tried(
                    found,
                    f"{reader.__name__}: {mutants.kind} {number} ({'; '.join(done)})",
                    lambda reader=reader: reader(mutants.root, NAME),
                )
            if pages_every and number is not None and number % pages_every == 0:
                show(mutants, found, f"{mutants.kind} {number} ({'; '.join(done)})")
            if found.folders % TOLD == 0:
                print(f"{mutants.kind}: {found.folders} folders, {sum(found.faults.values())} faults", flush=True)
    found.seconds += time.process_time() - began
    return found


def show(mutants: Mutants, found: Found, what: str) -> None:
    """Every page that could show the folder, as a visitor would see it."""
    from tests.pages.apptest import open_page

    for page, query in PAGES[mutants.kind]:
        found.pages += 1
        tried(found, f"page {page}: {what}", partial(open_page, page, **query))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=10_000, help="damaged folders of each main kind; a tenth of the others")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the number of the first")
    parser.add_argument("--kinds", default=",".join(PLACES))
    parser.add_argument("--pages-every", type=int, default=40, help="show the pages of one folder in so many")
    parser.add_argument("--built", action="store_true", help="folders that were built, not trained")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rows = []
    for kind in options.kinds.split(","):
        with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
            mutants = Mutants(kind, Path(scratch), trained=kind in MAIN and not options.built)
            each = options.each if kind in MAIN else options.each // 10
            found = Found(kind)
            mutants.mend()
            with only_here(mutants.root):
                show(mutants, Found(kind), "undamaged")  # the first time a page takes its imports' time, too
            read(mutants, found, range(options.first, options.first + each), options.pages_every)
        rows.append(found)
        print(f"\n{HEAD}\n{found.row()}", flush=True)
        for fault, times in found.faults.most_common():
            print(f"{times} x {fault}", flush=True)
    print("\n" + "\n".join([HEAD, *(found.row() for found in rows)]))
    return int(any(found.faults for found in rows))


if __name__ == "__main__":
    sys.exit(main())
