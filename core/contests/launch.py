"""Beginning contests, and waking the worker of one whose queue is not empty."""

from __future__ import annotations

from frozenlab.contests.store import Contest, create_contest
from frozenlab.contests.task import ContestTask
from frozenlab.jobs.launcher import launching, spawn
from frozenlab.loop.store import SessionStore


def start(task: ContestTask, store: SessionStore) -> Contest:
    """Create a contest and start its worker. Raises LaunchError while another job runs."""
    with launching(store.root):
        contest = create_contest(task, store)
        spawn(contest)
    return contest


def wake(contest: Contest, store: SessionStore) -> None:
    """Start a worker if there is work and nobody does it. Raises LaunchError while another job runs."""
    if contest.state().live or not contest.unfinished:
        return
    with launching(store.root):
        spawn(contest)
