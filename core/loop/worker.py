"""The worker of a session."""

from __future__ import annotations

from pathlib import Path

from frozenlab.jobs.worker import work_alone
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session


def main(folder: Path) -> int:
    """Runs or resumes the session in ``folder``; returns the exit status."""
    return work_alone(Session(folder), work, Recorder)


def work(recorder: Recorder) -> None:
    """The loop. Raises Stopped and AwaitsProposal as it does."""
    from frozenlab.loop.loop import run  # imports torch, which takes seconds: the session is seen running before

    run(recorder.job, recorder)
