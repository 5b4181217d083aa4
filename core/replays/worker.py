"""The replay worker: one process that asks what a replay asks, outliving the page and the server that started it.

Run as ``python -m frozenlab.replays.worker FOLDER``, the folder of a :class:`frozenlab.replays.task.Replay`. Once it is asked to stop, it
ends after the present answer. What was answered is kept, however it ends, and not asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER
from frozenlab.jobs.worker import Tell, detached, run_job
from frozenlab.replays.task import Replay, spec_of, write_answers

EVERY = 1.0
"""Seconds of answers that a kill may cost at the most."""


def main(folder: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Asks for the answers that are missing; returns the exit status: 0 done, 3 stopped, 1 failed. ``on_progress`` is told the answers
    there are, and of how many."""
    replay = Replay(folder)

    def work(tell: Tell) -> None:
        from frozenlab.replays.asking import replay as ask_anew  # imports torch, which takes seconds: the replay is seen running before

        answers, total = replay.answers(), replay.task.total
        at_first, began, written = len(answers), time.monotonic(), 0.0
        try:
            for answer in ask_anew(replay.task, replay.session, {(known.arm, known.sample) for known in answers}):
                answers.append(answer)
                if time.monotonic() - written > EVERY:
                    write_answers(folder, answers)
                    written = time.monotonic()
                on_progress(len(answers), total)
                tell(len(answers) / total, (time.monotonic() - began) * (total - len(answers)) / (len(answers) - at_first))
        finally:
            if len(answers) > at_first:
                write_answers(folder, answers)

    return run_job(folder, work, patience=patience_of(replay))


def patience_of(replay: Replay) -> float:
    """Seconds without an answer that mean nothing: language models take their time, here or behind an API."""
    specs = [spec_of(arm, replay.session) for arm in replay.task.arms]
    slow = any(spec.api is not None or (spec.language is not None and spec.engineer in ("policy", "base")) for spec in specs)
    return SLOW_STALLED_AFTER if slow else STALLED_AFTER


if __name__ == "__main__":
    detached(main)
