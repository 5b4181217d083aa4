"""Frozen-evidence replay: engineers answer about the same stage many times, with different sections, without any training.

Importing this module imports torch: only worker processes and the command line do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

import torch

from frozenlab.base import seeds
from frozenlab.engineer.ask import ask
from frozenlab.engineer.faithfulness import check
from frozenlab.engineer.protocol import Engineer
from frozenlab.engineer.sections import describe
from frozenlab.experiments.replays.store import Answer, Replay, write_answers
from frozenlab.experiments.replays.task import ReplayError, ReplayTask, obstacle, spec_of
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy
from frozenlab.session.session import Session


def work(recorder: JobRecorder[Replay]) -> None:
    """Ask for the answers that are missing. However it ends, the answers so far are kept. Raises Stopped after the present answer."""
    job = recorder.job
    answers = job.answers()
    new = replay(job.spec, job.session, {known.key for known in answers})
    recorder.keep_all(new, answers, job.total, partial(write_answers, job.dir))


def replay(task: ReplayTask, session: Session, known: Collection[tuple[str, int]] = ()) -> Iterator[Answer]:
    """Ask every arm's engineer for the config after the task's stage, with the same draws for every arm. Proceeds round by round, so a
    stopped replay has equally many answers of each arm. The engineer ``policy`` is the checkpoint of that stage.

    Args:
        known: (arm, sample) of answers that exist already.

    Raises:
        SessionError: the stage has not been validated.
        ReplayError: an arm cannot be asked, for example because the stage's weights are missing.
        PolicyError: the weights cannot be read.
    """
    torch.set_num_threads(THREADS)
    measured = session.measurements(task.stage)
    asked = []
    engineers: dict[str, Engineer] = {}
    policy: Policy | None = None
    for arm in task.arms:
        spec = spec_of(arm, session)
        if reason := obstacle(session, task.stage, spec.engineer.kind):
            raise ReplayError(f"the arm {arm.name} cannot be asked: {reason}")
        if policy is None and spec.engineer.author.needs_weights(spec.language):
            policy = load_policy(str(session.stage_dir(task.stage) / "policy"), spec.language)
        settings = spec.engineer.model_dump_json()
        if settings not in engineers:  # one for all arms that ask it, as a base may be a large model
            engineers[settings] = spec.engineer.build(spec.models(policy))
        asked.append((arm.name, engineers[settings], describe(measured, spec.sections, spec.layouts), spec.guard))
    for sample in range(task.samples):
        draw = seeds.derive(task.seed, "replay/proposal", sample)
        for name, engineer, context, limits in asked:
            if (name, sample) not in known:
                record = ask(engineer, context, measured.config, limits, seed=draw)
                yield Answer(name, sample, record, check(record, context))
