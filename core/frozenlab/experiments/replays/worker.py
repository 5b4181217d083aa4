"""The worker of a replay: asks for the answers that are missing.

Asked to stop, it ends after the present answer. However it ends, the answers so far are kept, and nobody is asked for them again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from frozenlab.experiments.replays.store import Replay, write_answers
from frozenlab.jobs.answers import keep_all
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone


def main(folder: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Completes the replay in ``folder``; returns the exit status. ``on_progress`` gets the number of answers so far, and of how many."""
    return work_alone(Replay(folder), partial(work, on_progress=on_progress), JobRecorder)


def work(recorder: JobRecorder[Replay], on_progress: Callable[[int, int], None]) -> None:
    from frozenlab.experiments.replays.asking import (
        replay as ask_again,  # imports torch, which takes seconds: the replay is seen running before
    )

    replay = recorder.job
    answers = replay.answers()
    new = ask_again(replay.task, replay.session, {(known.arm, known.sample) for known in answers})
    keep_all(new, answers, replay.task.total, partial(write_answers, replay.dir), recorder, on_progress)
