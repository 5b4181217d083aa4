"""What sessions and other jobs take of the disk, and what of sessions can go when they are done.

Nothing that a page shows is ever removed: tables, logs, contexts, proposals and the weights of the last stage stay. What goes is what only
going on would need, and can be had again: the same spec trains the same weights. The sessions of a study count when the whole study is
done: until then its arms begin with each other's checkpoints; those of a contest, when it has no entry that waits. The trash is
emptied by a rule of its own.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from frozenlab.base.places import MODELS
from frozenlab.experiments.references import needed_by
from frozenlab.experiments.shelf.shelf import forget, in_trash
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.job import KINDS as JOBS
from frozenlab.jobs.state import read_state
from frozenlab.jobs.worker import JobHeldError, sole_worker
from frozenlab.models.training.checkpoints import for_resume
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import SessionStore

DAY = 86_400.0
WEIGHTS, TO_GO_ON, TABLES, LOGS, RECORDS = "weights", "to go on", "tables", "logs", "records"
KINDS = (WEIGHTS, TO_GO_ON, TABLES, LOGS, RECORDS)
"""What the files of a session are: checkpoints; optimizers and random states; answers; metrics, events and output; JSON."""


@dataclass(frozen=True)
class Removal:
    """Files of a session that a rule would remove, or a job in the trash."""

    session: str
    """Its id; of a session in a study or a contest the path from the sessions folder; of a job in the trash ``KIND:ID``."""
    folder: Path
    rule: str
    paths: tuple[Path, ...]
    """Files and folders."""
    size: int
    """Bytes."""


def disk_use(folder: Path) -> dict[str, int]:
    """Bytes of a session's folder by kind of file; all of :data:`KINDS`."""
    use = dict.fromkeys(KINDS, 0)
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            use[kind_of(path.relative_to(folder))] += bytes_of(path)
    return use


def bytes_of(file: Path) -> int:
    """Bytes of a file. One that a fork shares with its parent is counted to equal parts."""
    found = file.stat()
    return found.st_size // found.st_nlink


def other_uses(store: SessionStore) -> dict[str, int]:
    """Bytes of the folders beside the sessions, by their names: studies, students, results, fetched models and so on."""
    places = [*(kind.place for kind in JOBS.values() if kind.place), MODELS]
    return {place: size_of(store.root / place) for place in places if (store.root / place).is_dir()}


def kind_of(path: Path) -> str:
    """``path`` is relative to the session's folder."""
    if for_resume(path.name) or "trainer" in path.parts:
        return TO_GO_ON
    if "policy" in path.parts:
        return WEIGHTS
    return TABLES if path.suffix == ".parquet" else LOGS if path.suffix in (".jsonl", ".log") else RECORDS


# --- the rules ---------------------------------------------------------------------------------------------------------


def optimizer_states(session: Session, store: SessionStore) -> Iterator[Path]:
    """What training would need to go on from a stage. A fork that begins there trains the stage again first."""
    for stage in range(session.spec.stages):
        folder = session.stage_dir(stage)
        yield from (path for path in sorted((folder / "policy").glob("*")) if for_resume(path.name))
        if (folder / "trainer").is_dir():
            yield folder / "trainer"


def middle_weights(session: Session, store: SessionStore) -> Iterator[Path]:
    """Checkpoints before the last, of sessions that no other job reads. Their plans cannot be watched any more."""
    beside = SessionStore(session.dir.parent)  # the same, but for a session of a study
    if all(next(needed_by(session, each), None) is None for each in (store, beside)):
        yield from (path for stage in range(session.spec.stages - 1) if (path := session.stage_dir(stage) / "policy").is_dir())


RULES: dict[str, Callable[[Session, SessionStore], Iterator[Path]]] = {"optimizer": optimizer_states, "middle-weights": middle_weights}
IN_TRASH = "trash"
"""The rule that deletes for good what is in the trash."""


def removals(store: SessionStore, rules: Sequence[str], older_than: float = 0.0, only: Sequence[str] = ()) -> list[Removal]:
    """What the rules would remove: from sessions that are done, are not recorded ones, and ended ``older_than`` days ago or more; and what
    went into the trash as long ago.

    Args:
        only: ids; without any, all sessions of the store, archived ones and those of studies and contests too, and the trash.
    """
    found = trash_removals(store, older_than) if IN_TRASH in rules and not only else []
    of_sessions = [rule for rule in rules if rule != IN_TRASH]
    for own in (store, *([] if only else with_others(store))) if of_sessions else ():
        for listed in own.listed():
            if listed.recorded or listed.at_work or (only and listed.folder.name not in only):
                continue
            try:
                session = own.open(listed.folder.name)
            except SessionError:  # a damaged session stays as it is
                continue
            state = session.state()
            if session.read_only or state.status != "done" or time.time() - (state.finished or session.created) < older_than * DAY:
                continue
            for rule in of_sessions:
                if paths := tuple(RULES[rule](session, store)):
                    found.append(Removal(str(session.dir.relative_to(store.root)), session.dir, rule, paths, sum(map(size_of, paths))))
    return found


def trash_removals(store: SessionStore, older_than: float) -> list[Removal]:
    """The jobs that went into the trash ``older_than`` days ago or more."""
    old = [gone for gone in in_trash(store) if time.time() - gone.since >= older_than * DAY]
    return [Removal(gone.name, gone.folder, IN_TRASH, (gone.folder,), size_of(gone.folder)) for gone in old]


def with_others(store: SessionStore) -> Iterator[SessionStore]:
    """The sessions of each study and each contest that is done."""
    for place, part in JOBS["session"].inside:
        task = next(kind.task for kind in JOBS.values() if kind.place == place)
        for path in sorted((store.root / place).glob(f"*/{task}")):
            folder = path.parent
            if JOB_ID.fullmatch(folder.name) and not folder.is_symlink() and read_state(folder).status == "done":
                yield SessionStore(folder / part)


def size_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(bytes_of(file) for file in files if file.is_file() and not file.is_symlink())


def remove(removal: Removal) -> bool:
    """Remove the files, unless a worker has the session by now, or it is no longer in the trash; whether it did."""
    if removal.rule == IN_TRASH:
        return forget(removal.folder)
    session = Session(removal.folder)
    with suppress(JobHeldError), sole_worker(session, wait=0):
        for path in removal.paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return True
    return False
