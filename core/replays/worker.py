"""The worker of a replay: asks for the answers that are missing.

Asked to stop, it ends after the present answer. However it ends, the answers so far are kept, and nobody is asked for them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone
from frozenlab.replays.store import Replay, write_answers

EVERY = 1.0
"""Seconds of answers that a kill may cost at the most."""


def main(folder: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Completes the replay in ``folder``; returns the exit status. ``on_progress`` gets the number of answers so far, and of how many."""
    return work_alone(Replay(folder), partial(work, on_progress=on_progress), JobRecorder)


def work(recorder: JobRecorder[Replay], on_progress: Callable[[int, int], None]) -> None:
    from frozenlab.replays.asking import replay as ask_again  # imports torch, which takes seconds: the replay is seen running before

    replay = recorder.job
    answers, total = replay.answers(), replay.task.total
    at_first, began, written = len(answers), time.monotonic(), 0.0
    try:
        for answer in ask_again(replay.task, replay.session, {(known.arm, known.sample) for known in answers}):
            answers.append(answer)
            if time.monotonic() - written > EVERY:
                write_answers(replay.dir, answers)
                written = time.monotonic()
            on_progress(len(answers), total)
            recorder.tell(len(answers) / total, (time.monotonic() - began) * (total - len(answers)) / (len(answers) - at_first))
    finally:
        if len(answers) > at_first:
            write_answers(replay.dir, answers)
