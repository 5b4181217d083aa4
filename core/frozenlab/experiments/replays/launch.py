"""Starting and resuming replays, in a worker process."""

from __future__ import annotations

from frozenlab.engineer import hosts
from frozenlab.experiments.replays.store import Replay, create_replay
from frozenlab.experiments.replays.task import ReplayTask, servers, session_of
from frozenlab.jobs.launcher import launching, submit
from frozenlab.session.store import SessionStore


def start(task: ReplayTask, store: SessionStore) -> Replay:
    """Create a replay and queue it. Raises LaunchError if the disk is full, HostError if an engineer's
    server is not allowed on this machine."""
    hosts.check(servers(task, session_of(task, store)))
    with launching(store.root):
        replay = create_replay(task, store)
        submit(replay)
    return replay


def resume(replay: Replay, store: SessionStore) -> None:
    """Queue it: a worker then asks for the missing answers of a replay. Raises what :func:`start` raises, and SessionError if the stage
    is gone."""
    hosts.check(servers(replay.task, replay.session))
    with launching(store.root):
        replay.session.measurements(replay.task.stage)  # before the replay is called queued
        submit(replay)
