"""Starting, resuming and forking sessions: in a worker process when their turn comes, or ``here``, in the process that calls."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from frozenlab.base.files import write_text
from frozenlab.engineer import hosts
from frozenlab.engineer.schema import Proposal
from frozenlab.jobs.launcher import LaunchError, check_folder, claim, launching, submit
from frozenlab.jobs.worker import sole_worker
from frozenlab.models.language.room import on_processor
from frozenlab.session.footprint import shortfalls
from frozenlab.session.forks import fork, forked_spec
from frozenlab.session.session import GIVEN_FILE, Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


def start(spec: SessionSpec, store: SessionStore, session_id: str | None = None, *, urgent: bool = False, here: bool = False) -> Session:
    """Create a session and queue it.

    Args:
        here: the caller runs it; it counts as one that runs. So in the other functions.

    Raises LaunchError if the disk is full or its model does not fit here, HostError if its engineer's server is not allowed on this
    machine, SessionError if the id is invalid or taken.
    """
    check(spec, here)
    with launching(queue_of(store, here).root):
        session = store.create(spec, session_id)
        enter(session, here, urgent)
    return session


def start_fork(
    parent: Session, stage: int, store: SessionStore, session_id: str | None = None, *,
    given: Proposal | None = None, here: bool = False, **changes: Any,
) -> Session:  # fmt: skip
    """Fork a session after ``stage`` (0-based) and queue the fork. Raises what :func:`start` and :func:`frozenlab.session.forks.fork`
    raise."""
    check(forked_spec(parent, stage, **changes), here, begun=True)
    with launching(queue_of(store, here).root):
        session = fork(parent, stage, store, session_id, given=given, **changes)
        enter(session, here)
    return session


def propose(session: Session, proposal: Proposal, store: SessionStore) -> Session:
    """Give a waiting session a person's proposal, queue it again and return it. Raises what :func:`start` raises, and
    LaunchError if it waits for none."""
    check(session.spec, here=False, begun=True)
    with launching(store.root):
        state = session.state()
        if state.status != "waiting":
            raise LaunchError(f"{session.id} does not wait for a proposal, it is {state.status}")
        check_folder(session)
        write_text(session.stage_dir(state.stage) / GIVEN_FILE, proposal.model_dump_json(indent=2))
        submit(session)
    return session


def resume(session: Session, store: SessionStore, *, here: bool = False) -> None:
    """Queue a session that stopped. Raises what :func:`start` raises, LaunchError if it is running, done or read-only, or if it waits for a
    proposal, and JobHeldError if it is to run here and a worker that its state does not name holds it."""
    check_resumable(session)
    check(session.spec, here, begun=True)
    check_folder(session)
    with sole_worker(session) if here else nullcontext(), launching(queue_of(store, here).root):
        enter(session, here)


def check(spec: SessionSpec, here: bool, begun: bool = False) -> None:
    """Raises HostError and LaunchError if a session cannot run on this machine: its engineer's server is not allowed, or its language model
    does not fit. One that has ``begun`` may take as long as it takes."""
    hosts.check([spec.engineer.server])
    if spec.language and begun and on_processor(spec.language):
        spec = spec.changed(language=spec.language.model_dump() | {"device": "cpu"})
    if spec.language and (lacking := shortfalls(spec, waits=not here)):
        raise LaunchError(f"this session cannot run here: {'; '.join(lacking)}")


def queue_of(store: SessionStore, here: bool) -> SessionStore:
    """The sessions folder whose queue counts a session of ``store``: a process may run one that lies elsewhere."""
    return SessionStore() if here else store


def enter(session: Session, here: bool, urgent: bool = False) -> None:
    if here:
        claim(session, SessionStore().root)
    else:
        submit(session, urgent)


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
