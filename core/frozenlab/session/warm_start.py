"""The warm start that a session's model may have before the session."""

from __future__ import annotations

from frozenlab.base import seeds
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import WarmStart
from frozenlab.models.training.warm_start import Progress, warm_start
from frozenlab.session.loop import suites_of
from frozenlab.session.spec import SessionSpec


def warmed_up(spec: SessionSpec, settings: WarmStart, on_progress: Progress = lambda *_: None) -> HFPolicy:
    """The spec's language model after it has learnt worked answers to tasks of the first config; those that the session measures are not
    among them.

    Raises:
        WarmStartError: the family shows no answers, or one is longer than the spec lets an answer be.
        GenerationError: the config's tasks cannot be drawn.
    """
    assert spec.language is not None, "a lab model has had its warm start"
    policy = HFPolicy.load(spec.policy, spec.language, spec.seed, spec.tasks, to_train=True)
    suite, test = suites_of(spec)
    tasks = spec.tasks.draw(spec.initial_config, settings.examples, seeds.derive(spec.seed, "warm-start/tasks"), suite + test)
    warm_start(policy, tasks, settings, spec.seed, on_progress)
    return policy
