"""The student before training, measured once for all sides. Importing this module imports torch: only workers do."""

from __future__ import annotations

import torch

from frozenlab.engineer.sections import describe
from frozenlab.experiments.contests.store import BASE, Contest
from frozenlab.jobs.environment import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.models.loading import load_policy
from frozenlab.session.loop import draw_boards, measure, suites_of, validate
from frozenlab.session.recorder import Recorder


def measure_base(contest: Contest, worker: JobRecorder[Contest]) -> None:
    """Write ``sides/base``: greedy answers to all boards, and the evidence as its engineer would read it. Raises Stopped and LabError."""
    torch.set_num_threads(THREADS)
    spec = contest.spec.session
    base = contest.base or contest.sides.create(spec, BASE)
    recorder = Recorder(base)
    recorder.begin()
    policy = load_policy(spec.policy, spec.language, spec.seed, spec.tasks)
    worker.stop_if_asked()
    suite, test = suites_of(spec)
    validate(policy, suite, None, base, recorder)
    worker.stop_if_asked()
    measure(policy, test, None, base, recorder)
    worker.stop_if_asked()
    draw_boards(spec.initial_config, suite + test, None, base, recorder)
    recorder.write_model(None, "context.json", describe(base.measurements(None), spec.sections, spec.layouts))
    recorder.end("stopped")
