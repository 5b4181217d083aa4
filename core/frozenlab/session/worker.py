"""The work of a session."""

from __future__ import annotations

from frozenlab.session.recorder import Recorder


def work(recorder: Recorder) -> None:
    """Run the loop. Raises Stopped and AwaitsProposal."""
    from frozenlab.session.loop import run  # imports torch, which takes seconds: the session is seen running before

    run(recorder.job, recorder)
