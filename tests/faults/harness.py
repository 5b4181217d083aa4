"""Disturbs sessions, and checks that they still end with the same result.

A tiny session (two stages of twelve steps, so that checkpoints fall into the middle of both) is run once undisturbed. Then copies of it are
killed, run on a full disk or damaged, and resumed until they end: bit by bit as the undisturbed one, or with the file named that is to be
mended. ``python -m tests.faults`` does all of it and prints a table; ``test_faults.py`` does a few of each.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from frozenlab.jobs.environment import worker_environment
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.training.settings import TrainingSettings
from frozenlab.session.health.alerts import of_worker
from frozenlab.session.session import Session, SessionError
from frozenlab.session.soundness import problems_of
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.faults.zygote import Order

STAGES, STEPS = 2, 12
DISK = 80 * 2**20
"""Bytes of the disk that is filled."""


def tiny_spec() -> SessionSpec:
    return SessionSpec(
        title="tiny",
        stages=STAGES,
        initial_config=EnvironmentConfig.uniform((3, 4), agents=2),
        training=TrainingSettings(steps=STEPS, boards_per_step=4, completions_per_board=4),
        suite=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=5, seed=1),
        test=SuiteSpec(agents=(2,), sizes=(4,), boards_per_cell=5, seed=2),
        ask_first=True,
        seed=3,
    )


class Zygote:
    """The process that forks the workers, see :mod:`tests.faults.zygote`; one order at a time."""

    def __init__(self) -> None:
        environment = worker_environment() | {"OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.faults.zygote"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None and self.process.stdout.readline() == "ready\n"

    def run(self, session: Session, order: Order | None = None) -> int:
        """The worker's exit status, -9 if it was killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        order = replace(order or Order(""), folder=str(session.dir))
        self.process.stdin.write(json.dumps(asdict(order)) + "\n")
        self.process.stdin.flush()
        self.seconds = float((answer := json.loads(self.process.stdout.readline()))["seconds"])
        return int(answer["status"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass(frozen=True)
class Outcome:
    """What became of one disturbed session."""

    kind: str
    what: str
    end: str
    """``equal``, ``named`` (what is to be mended), or what went wrong."""

    @property
    def good(self) -> bool:
        return self.end == "equal" or self.end.startswith("named")


def differences(session: Session, reference: Session) -> list[str]:
    """In what a session that came to its end differs from the undisturbed one; what it left lying about; and its problems."""
    found = [] if (status := session.state().status) == "done" else [f"it is {status}: {session.state().error}"]

    def compare(name: str, mine: Any, theirs: Any) -> None:
        same = mine is not None and mine.equals(theirs) if isinstance(theirs, pd.DataFrame) else mine == theirs
        if not same:
            found.append(name)

    for stage in (None, *range(STAGES)):
        compare(f"validation {stage}", session.validation(stage), reference.validation(stage))
        compare(f"test {stage}", session.test(stage), reference.test(stage))
        compare(f"environment {stage}", session.environment(stage), reference.environment(stage))
        compare(f"context {stage}", session.context(stage), reference.context(stage))
        compare(f"proposal {stage}", timeless(session.proposal(stage)), timeless(reference.proposal(stage)))
        if stage is None:
            continue
        mine, theirs = (each.stage_dir(stage) / "policy" / "model.safetensors" for each in (session, reference))
        compare(f"weights {stage}", mine.read_bytes() if mine.exists() else None, theirs.read_bytes())
        compare(f"completions {stage}", session.completions(stage), reference.completions(stage))
        figures = [each.metrics(stage).drop(columns="seconds", errors="ignore") for each in (session, reference)]
        compare(f"metrics {stage}", *figures)
    compare("rates", session.state().rates, reference.state().rates)
    names = {str(path.relative_to(reference.dir)) for path in reference.dir.rglob("*")}
    left = sorted({str(path.relative_to(session.dir)) for path in session.dir.rglob("*")} - names)
    return found + [f"left behind: {name}" for name in left] + problems_of(session)


def timeless(record: Any) -> Any:
    """A proposal but for the seconds that its answers took."""
    return record and record.model_copy(
        update={"attempts": tuple(attempt.model_copy(update={"seconds": 0.0}) for attempt in record.attempts)}
    )


class Bench:
    """The undisturbed session, and folders of it at moments in which others begin."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.zygote = folder, Zygote()
        self.reference = SessionStore(folder).create(tiny_spec(), "reference")
        assert self.zygote.run(self.reference, Order("", listing=str(folder / "calls"))) == 0, self.reference.state().error
        self.seconds = self.zygote.seconds
        self.calls = (folder / "calls").read_text().splitlines()
        """Of the operating system at the end of the first stage."""
        synced = [what.startswith("fsync") for what in self.calls]
        self.points = [number for number, again in enumerate(synced) if not (number and again and synced[number - 1])]
        """The numbers of those before which workers are killed: of several fsyncs in a row the first; nothing changes between them."""
        self.moments: dict[str, Session] = {}
        self.copies = 0

    def at(self, moment: str) -> Session:
        """The session as a worker left it that was killed when it told ``moment``; to be copied."""
        if moment not in self.moments:
            session = SessionStore(self.folder).create(tiny_spec(), f"at-{moment.replace('/', '-')}")
            assert self.zygote.run(session, Order("", kill_when=moment)) == -9
            self.moments[moment] = session
        return self.moments[moment]

    def copy(self, moment: str | None = None, root: Path | None = None) -> Session:
        """A session that has not begun, or one as it was at ``moment``."""
        self.copies += 1
        name = f"case-{self.copies}"
        if moment is None:
            return SessionStore(root or self.folder).create(tiny_spec(), name)
        return Session(Path(shutil.copytree(self.at(moment).dir, (root or self.folder) / name)))

    def ends(self, session: Session) -> str:
        """Resumed until it ends: ``equal``, or in what it is not."""
        status = self.zygote.run(session)
        session = Session(session.dir)
        if status != 0:
            return f"exit status {status}: {session.state().error}"
        return "; ".join(differences(session, self.reference)) or "equal"

    def done_with(self, session: Session, outcome: Outcome) -> Outcome:
        if outcome.good:
            shutil.rmtree(session.dir)
        return outcome

    # --- kills -------------------------------------------------------------------------------------------------------

    def killed_at_random(self, number: int) -> Outcome:
        """SIGKILL at one to three moments of the session."""
        draw, session, moments = random.Random(number), self.copy(), []
        for _ in range(draw.randint(1, 3)):
            if self.zygote.run(session, Order("", kill_after=draw.uniform(0.05, 0.9) * self.seconds)) != -9:
                break
            state = Session(session.dir).state()
            moments.append(f"{state.phase}/{state.stage}/{state.step}")
        return self.done_with(session, Outcome("SIGKILL at random", " + ".join(moments), self.ends(session)))

    def killed_at_call(self, number: int) -> Outcome:
        """SIGKILL just before a call of the operating system at the end of the first stage."""
        session = self.copy("step/0/10")
        assert self.zygote.run(session, Order("", kill_at=number)) == -9, f"call {number} never came"
        what = self.calls[number].replace(str(self.reference.dir), "").replace("/stages/00/", "")
        return self.done_with(session, Outcome("SIGKILL before a call", what, self.ends(session)))

    # --- full disk ---------------------------------------------------------------------------------------------------

    def full_disk(self, disk: Path, moment: str, left: int) -> Outcome:
        """The disk fills up, is still full at a resume, and has room again at the next."""
        session, what = self.copy(root=disk), f"{moment}, {left // 1024} KB left"
        messages: list[str] = []
        for order in (Order("", fill_when=moment, left=left), Order("")):
            status, state = self.zygote.run(session, order), Session(session.dir).state()
            if (status, state.status) != (1, "failed") or "disk is" not in (state.error or "") or "full" not in (state.error or ""):
                messages.append(f"exit status {status}, {state.status}: {state.error}")
            if [alert.rule for alert in of_worker(session) if "full" in alert.evidence] != ["failed"]:
                messages.append("no alarm says that the disk is full")
        (disk / "filler").unlink()
        end = self.ends(session)
        return self.done_with(session, Outcome("disk full", what, "; ".join(messages) or end))

    # --- damage ------------------------------------------------------------------------------------------------------

    def damaged(self, moment: str, file: str, how: str) -> Outcome:
        """A file is damaged while no worker runs."""
        session = self.copy(moment)
        DAMAGES[how](session.dir / file)
        kind, what = f"damage at {moment}", f"{file} {how}"
        try:
            messages = problems_of(Session(session.dir))
            messages += [error] if (error := Session(session.dir).state().error) else []
        except SessionError as error:
            messages = [str(error)]
            return self.done_with(session, Outcome(kind, what, f"named: {error}" if file in str(error) else f"not named: {error}"))
        end = self.ends(session)
        if end != "equal" and any(Path(file).name in line for line in (*messages, end)):
            end = f"named: {end}"
        return self.done_with(session, Outcome(kind, what, end))


def torn(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def without_rows(file: Path) -> None:
    pd.read_parquet(file).head(0).to_parquet(file)


def without_a_column(file: Path) -> None:
    pd.read_parquet(file).drop(columns="size").to_parquet(file)


def another_config(file: Path) -> None:
    record = json.loads(file.read_text())
    for size in record["config"]["sizes"].values():
        size["hole_ratio"] = 0.33
    file.write_text(json.dumps(record))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "torn": torn,
    "gone": Path.unlink,
    "zeroed": zeroed,
    "a folder": a_folder,
    "without rows": without_rows,
    "without a column": without_a_column,
    "another config": another_config,
}


def damages(session: Session) -> list[tuple[str, str]]:
    """What is damaged of a session, and how: every file torn and gone, some in other ways too."""
    kept = ("worker.log", ".worker.lock", ".reserve")
    files = sorted(str(path.relative_to(session.dir)) for path in session.dir.rglob("*") if path.is_file() and path.name not in kept)
    cases = [(file, how) for file in files for how in ("torn", "gone")]
    cases += [(file, "zeroed") for file in files if file.endswith((".safetensors", "validation.parquet"))]
    cases += [(file, "a folder") for file in ("session.json", "state.json", "stages/00/proposal.json") if file in files]
    cases += [(file, how) for file in files if file.endswith("validation.parquet") for how in ("without rows", "without a column")]
    return cases + [(file, "another config") for file in files if file.endswith("environment.json")]


@contextmanager
def small_disk(folder: Path, size: int = DISK) -> Iterator[Path]:
    """A disk of its own at ``folder``. Raises OSError where this user may mount none."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True, text=True)
    if mounted.returncode:
        raise OSError(f"no disk to fill: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # workers that were just killed may still have files open


def table(outcomes: Sequence[Outcome]) -> str:
    """One row a kind of disturbance, then each that came to a bad end."""
    lines = ["| disturbance | sessions | ended equal | named what to mend | neither |", "|---|---|---|---|---|"]
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        these = [outcome for outcome in outcomes if outcome.kind == kind]
        counts = [sum(outcome.end == "equal" for outcome in these), sum(outcome.end.startswith("named") for outcome in these)]
        lines.append(f"| {kind} | {len(these)} | {counts[0]} | {counts[1]} | {len(these) - sum(counts)} |")
    named = [f"{outcome.what}: {outcome.end}" for outcome in outcomes if outcome.end.startswith("named")]
    bad = [f"{outcome.kind}, {outcome.what}: {outcome.end}" for outcome in outcomes if not outcome.good]
    return "\n".join([*lines, *(f"\nNamed: {line}" for line in named), *(f"\nBAD: {line}" for line in bad)])
