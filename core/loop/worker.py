"""The worker of a session."""

from __future__ import annotations

from pathlib import Path

from frozenlab.jobs.worker import work_alone
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session


def main(folder: Path) -> int:
    """Run or resume the session in ``folder``; return the exit status."""
    return work_alone(Session(folder), work, Recorder)


def work(recorder: Recorder) -> None:
    """Run the loop. Raises Stopped and AwaitsProposal."""
    from frozenlab.loop.loop import run  # imports torch, which takes seconds: the session is seen running before

    run(recorder.job, recorder)
