"""The worker of a session."""

from __future__ import annotations

import os
from pathlib import Path

from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.worker import work_alone
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session


def main(folder: Path) -> int:
    """Run or resume the session in ``folder``; return the exit status. One that trains in several processes becomes their launcher."""
    session = Session(folder)
    if session.spec.processes > 1 and "RANK" not in os.environ:
        command = session.command()
        os.execvpe(command[0], command, worker_environment(session.online))
    return work_alone(session, work, Recorder)


def work(recorder: Recorder) -> None:
    """Run the loop. Raises Stopped and AwaitsProposal."""
    from frozenlab.session.loop import run  # imports torch, which takes seconds: the session is seen running before

    run(recorder.job, recorder)
