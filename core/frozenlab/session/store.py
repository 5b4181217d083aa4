"""The sessions of one folder: listing, opening and creating them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

from frozenlab.base import places
from frozenlab.jobs.folders import check_id, fresh_name, make_folder
from frozenlab.jobs.job import KINDS, RESERVED
from frozenlab.session.catalog import RECORDED, Listed, listed
from frozenlab.session.session import Session, SessionError
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State, ValidRate

OFFERED = 60
"""Sessions that a page offers to choose from; older ones open by their id."""


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
        """Readable sessions, newest first, without archived ones. Recorded sessions are always included: the shortest first, those of the
        lab model before those of language models, and forks and twins last, for comparison with their parents.

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
        """Open a session by its id, or by its address if another job had it run. Raises SessionError if there is none."""
        outer, inside, own = session_id.rpartition("/")
        for name in (outer, own) if inside else (own,):
            check_id(name, "session", SessionError)
        within = [self.root / place / outer / part for place, part in KINDS["session"].inside]
        for root in within if inside else (self.root, places.SESSIONS):
            folder = root / own
            recorded_elsewhere = root == places.SESSIONS != self.root and not own.startswith(RECORDED)
            if (folder / "session.json").exists() and not recorded_elsewhere:
                return Session(folder)
        raise SessionError(f"there is no session {session_id!r} in {self.root}")

    def create(
        self,
        spec: SessionSpec,
        session_id: str | None = None,
        fill: Callable[[Path], None] = lambda folder: None,
        rates: Iterable[ValidRate] = (),
    ) -> Session:
        """Create a folder with ``session.json`` and a queued state; ``fill`` adds its initial files, whose rates are ``rates``.

        Raises SessionError if the id is taken, or the name of a folder of other things.
        """
        if session_id in RESERVED:
            raise SessionError(f"no session can be called {session_id!r}: a folder of this name holds other things")
        session_id = session_id or fresh_name(self.root, spec.title, otherwise=spec.engineer.kind)
        state = State(started=time.time(), rates=list(rates))
        return Session(make_folder(self.root, session_id, "session.json", spec, kind="session", error=SessionError, state=state, fill=fill))


def _place(session: Session) -> tuple[int, int]:
    if not session.read_only:
        return 0, 0
    companion = session.spec.parent is not None or session.spec.engineer.kind == "fixed"
    return 3 if companion else 1 + (session.spec.language is not None), session.spec.stages * session.spec.training.steps
