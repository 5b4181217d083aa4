"""The sessions of one folder: listing, opening and creating them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from frozenlab.base import places
from frozenlab.base.files import write_text
from frozenlab.jobs.folders import check_id, fresh_name
from frozenlab.session.catalog import RECORDED, Listed, listed
from frozenlab.session.session import Session, SessionError
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State

OFFERED = 60
"""Sessions that a page offers to choose from; older ones open by their id."""
SCRATCH, SCRATCH_AGE = ".new-", 86400.0
"""Name of the folder in which a new session is assembled, and for how many seconds at most."""


class SessionStore:
    """All sessions of one folder. Default: ``FROZENLAB_SESSIONS``, else ``sessions/`` of the checkout or of the current folder."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or places.sessions_folder()).resolve()
        self.unreadable: dict[str, str] = {}
        """Folders that the last listing could not read: id -> a sentence with the reason."""

    def listed(self) -> list[Listed]:
        """All sessions, including those that ship with the project, newest first, without opening them."""
        return listed(self.root, places.SESSIONS)

    def sessions(self, most: int | None = None, known: Sequence[Listed] | None = None) -> list[Session]:
        """Readable sessions, newest first, without archived ones. Recorded sessions are always included: those of the lab model before
        those of language models, and forks last, for comparison with their parents.

        Args:
            most: read only this many of the user's newest sessions.
            known: the result of :meth:`listed`, if the caller has it.
        """
        known = self.listed() if known is None else known
        offered = {
            session.folder for session in islice((session for session in known if not session.recorded and not session.archived), most)
        }
        found, self.unreadable = [], {}
        for session in known:
            if session.recorded or session.folder in offered:
                try:
                    found.append(Session(session.folder))
                except SessionError as error:
                    self.unreadable[session.folder.name] = str(error)
        return sorted(found, key=_place)

    def running(self, known: Sequence[Listed] | None = None) -> Session | None:
        """The newest running session of the user; ``known`` as in :meth:`sessions`."""
        for session in self.listed() if known is None else known:
            if session.at_work and not session.recorded:
                try:
                    opened = Session(session.folder)
                except SessionError:
                    continue
                if opened.state().status in ("running", "stalled") and not opened.read_only:
                    return opened
        return None

    def forked(self) -> dict[str, str]:
        """Forks, oldest first: id -> id of the parent session."""
        return {session.folder.name: session.parent for session in reversed(self.listed()) if session.parent is not None}

    def open(self, session_id: str) -> Session:
        """Open a session by its id. Raises SessionError if there is none."""
        check_id(session_id, "session", SessionError)
        for root in (self.root, places.SESSIONS):
            folder = root / session_id
            recorded_elsewhere = root != self.root and not session_id.startswith(RECORDED)
            if (folder / "session.json").exists() and not recorded_elsewhere:
                return Session(folder)
        raise SessionError(f"there is no session {session_id!r} in {self.root}")

    def create(self, spec: SessionSpec, session_id: str | None = None, fill: Callable[[Path], None] = lambda folder: None) -> Session:
        """Create a folder with ``session.json`` and a queued state; ``fill`` adds its initial files.

        Raises SessionError if the id is taken.
        """
        session_id = session_id or fresh_name(self.root, spec.title, otherwise=spec.engineer.kind)
        check_id(session_id, "session", SessionError)
        folder = self.root / session_id
        self.root.mkdir(parents=True, exist_ok=True)
        self.clear(SCRATCH_AGE)
        with tempfile.TemporaryDirectory(dir=self.root, prefix=SCRATCH) as scratch:  # so that nobody reads half a session
            made = Path(scratch) / session_id
            made.mkdir()
            fill(made)
            write_text(made / "state.json", State(started=time.time()).model_dump_json(indent=2))
            write_text(made / "session.json", spec.model_dump_json(indent=2))
            try:
                made.rename(folder)
            except OSError:
                if folder.is_dir() and not (folder / "session.json").exists():
                    lost = f"{session_id}/session.json is missing in {self.root}: put it back, or delete the folder"
                    raise SessionError(lost) from None
                raise SessionError(f"a session {session_id!r} already exists in {self.root}") from None
        return Session(folder)

    def clear(self, age: float) -> None:
        """Remove half-made sessions older than ``age`` seconds."""
        for left in self.root.glob(f"{SCRATCH}*"):
            with suppress(FileNotFoundError):  # its process lives and has just finished it
                if time.time() - left.stat().st_mtime > age:
                    shutil.rmtree(left, ignore_errors=True)


def _place(session: Session) -> int:
    if not session.read_only:
        return 0
    return 2 if session.spec.parent is not None else int(session.spec.language is not None)
