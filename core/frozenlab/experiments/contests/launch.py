"""Beginning contests, and waking the worker of one whose queue is not empty."""

from __future__ import annotations

from frozenlab.base.roles import for_everybody, only_operators
from frozenlab.experiments.contests.store import Contest, create_contest
from frozenlab.experiments.contests.task import ContestTask
from frozenlab.jobs.launcher import launching, submit
from frozenlab.jobs.needs import Level
from frozenlab.session.store import SessionStore


def start(task: ContestTask, store: SessionStore) -> Contest:
    """Create a contest and queue it. Raises LaunchError if the disk is full."""
    with launching(store.root):
        contest = create_contest(task, store)
        submit(contest, Level.HIGH)  # people wait for it
    return contest


def wake(contest: Contest, store: SessionStore) -> None:
    """Queue it if there is work and nobody does it. Raises LaunchError if the disk is full.

    Viewers may wake the worker that ended because nobody waited. One that was stopped or failed is woken by operators only, who may have
    had a reason.
    """
    state = contest.state()
    if state.live or not contest.unfinished:
        return
    if state.status != "done":
        only_operators("let a contest go on that was stopped")
    with for_everybody(), launching(store.root):
        submit(contest, Level.HIGH)  # people wait for it
