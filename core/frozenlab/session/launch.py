"""Starting, resuming and forking sessions, in a worker process or by the caller in the foreground."""

from __future__ import annotations

from typing import Any

from frozenlab.base.files import write_text
from frozenlab.engineer import hosts
from frozenlab.engineer.schema import Proposal
from frozenlab.jobs import launcher
from frozenlab.jobs.launcher import LaunchError, check_folder, launching, submit
from frozenlab.jobs.needs import Level
from frozenlab.jobs.worker import sole_worker
from frozenlab.session.forks import fork, forked_spec
from frozenlab.session.session import GIVEN_FILE, Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


def start(spec: SessionSpec, store: SessionStore, level: Level = Level.NORMAL) -> Session:
    """Create a session and queue it. Raises LaunchError if the disk is full, HostError if its engineer's server is not
    allowed on this machine."""
    hosts.check([spec.engineer.server])
    with launching(store.root):
        session = store.create(spec)
        submit(session, level)
    return session


def claim(spec: SessionSpec, store: SessionStore, session_id: str | None = None) -> Session:
    """Create a session that the caller runs itself, in the foreground; it counts as one that runs. Raises what :func:`start` raises, and
    SessionError if the id is invalid or taken."""
    hosts.check([spec.engineer.server])
    with launching(SessionStore().root):
        session = store.create(spec, session_id)
        launcher.claim(session, SessionStore().root)
    return session


def start_fork(parent: Session, stage: int, store: SessionStore, given: Proposal | None = None, **changes: Any) -> Session:
    """Fork a session after ``stage`` (0-based) and start the fork's worker. Raises what :func:`start` and
    :func:`frozenlab.session.forks.fork` raise."""
    hosts.check([forked_spec(parent, stage, **changes).engineer.server])
    with launching(store.root):
        session = fork(parent, stage, store, given=given, **changes)
        submit(session)
    return session


def claim_fork(parent: Session, stage: int, store: SessionStore, session_id: str | None, given: Proposal | None, **changes: Any) -> Session:
    """As :func:`start_fork`, but the caller runs the fork itself, in the foreground; it counts as one that runs."""
    hosts.check([forked_spec(parent, stage, **changes).engineer.server])
    with launching(store.root):
        session = fork(parent, stage, store, session_id, given=given, **changes)
        launcher.claim(session, SessionStore().root)
    return session


def propose(session: Session, proposal: Proposal, store: SessionStore) -> None:
    """Give a waiting session a person's proposal, and queue it again. Raises what :func:`start` raises, and
    LaunchError if it waits for none."""
    hosts.check([session.spec.engineer.server])
    with launching(store.root):
        state = session.state()
        if state.status != "waiting":
            raise LaunchError(f"{session.id} does not wait for a proposal, it is {state.status}")
        check_folder(session)
        write_text(session.stage_dir(state.stage) / GIVEN_FILE, proposal.model_dump_json(indent=2))
        submit(session)


def resume(session: Session, store: SessionStore) -> None:
    """Queue it: a worker then continues the session. Raises what :func:`start` raises, and LaunchError if it is running, done
    or read-only, or if it waits for a proposal."""
    hosts.check([session.spec.engineer.server])
    with launching(store.root):
        check_resumable(session)
        submit(session)


def reclaim(session: Session) -> None:
    """Prepare a session that the caller resumes itself, in the foreground; it counts as one that runs. Raises what :func:`resume` raises,
    and JobHeldError if a worker that its state does not name holds it."""
    check_resumable(session)
    check_folder(session)
    hosts.check([session.spec.engineer.server])
    with sole_worker(session), launching(SessionStore().root):
        launcher.claim(session, SessionStore().root)


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
