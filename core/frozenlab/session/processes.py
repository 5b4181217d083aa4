"""The other processes of a session with several: they train and answer boards together with the first, and wait for what it writes in
between."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from frozenlab.base.errors import Stopped
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.worker import outlive_terminal, work_on
from frozenlab.models.loading import load_policy
from frozenlab.models.training.stage_run import train_stage
from frozenlab.session.loop import agreed, answers, boards_of, make_training, suites_of
from frozenlab.session.session import Session, stages_to_train

POLL = 0.5
"""Seconds between checks of the session folder."""

Written = TypeVar("Written")


def follow(session: Session) -> int:
    """Take part in every stage; return the exit status, as the worker does: 0 done, 3 stopped."""
    torch.set_num_threads(THREADS)
    spec = session.spec
    policy = load_policy(spec.policy, spec.language, spec.seed, spec.tasks, to_train=True)
    suite, test = suites_of(spec)
    training = make_training(policy, session)
    lacking = stages_to_train(session)

    def measure() -> None:
        """Take part where the first process has no validation or no test of this moment."""
        for boards in (suite, test):
            if agreed(False, spec):
                answers(policy, boards, spec)

    measure()
    for stage in range(spec.stages):
        environment = awaited(partial(session.environment, stage))
        folder = session.stage_dir(stage)
        if stage not in lacking:
            policy.take_weights(folder / "policy")
        else:
            try:
                train_stage(
                    training,
                    boards_of(environment.config, suite + test, spec, environment.seed),
                    stage=stage,
                    folder=folder,
                    previous=session.stage_dir(stage - 1) / "policy" if stage else None,
                    recorded=session.recorded_steps(stage),
                    report=lambda *_: None,
                    stopping=lambda: False,
                )
            except Stopped:
                return 3
        measure()
    return 0


def awaited(look: Callable[[], Written | None]) -> Written:
    """Wait until ``look`` finds something, and return it. If it never comes, the launcher ends this process with the first."""
    while (result := look()) is None:
        time.sleep(POLL)
    return result


if __name__ == "__main__":
    outlive_terminal()
    session = Session(Path(sys.argv[1]).resolve())
    sys.exit(follow(session) if int(os.environ["RANK"]) else work_on(session))
