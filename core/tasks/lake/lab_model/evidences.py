"""Evidences: sessions that have trained their first stage on a random config and wait for a proposal, and proposals for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from frozenlab import seeds
from frozenlab.engineer.dialects.lab import ProposalGrammar, render_context, render_proposal
from frozenlab.engineer.engineers import HumanEngineer, RandomEngineer, rules
from frozenlab.engineer.evidence import describe
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.schema import Context
from frozenlab.jobs.worker import run_job
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind
from frozenlab.lake.presets import random_config
from frozenlab.lake.suites import SuiteSpec
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session, SessionError
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import SessionStore
from frozenlab.loop.worker import work
from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.tasks.lake.dialects.vocabulary import CONFIG
from frozenlab.tasks.lake.lab_model.teaching import worded
from frozenlab.training.schedule import Schedule
from frozenlab.training.settings import TrainingSettings

TRIES = 20
"""Most samples to draw in search of different configs."""


@dataclass(frozen=True)
class Setting:
    """Settings of the short sessions that measure proposals."""

    agents: int = 3
    sizes: tuple[int, ...] = (3, 4, 5, 6, 7, 8)
    steps: int = 15
    boards_per_step: int = 32
    schedule: Schedule = "constant"
    """Constant: with a rate that falls over two stages, the second learns so little that proposals differ by less than the boards can
    show."""
    boards_per_cell: int = 200
    """Held-out boards per map size."""


class Written(NamedTuple):
    """A proposal in the lab dialect, and its author: ``kept`` leaves the config as it is."""

    author: str
    completion: str


def evidence(seed: int, setting: Setting, store: SessionStore) -> Session:
    """A session that has trained one stage and waits for a proposal; resumed if it exists. Config, boards and suite follow from the seed.

    Raises SessionError if it fails.
    """
    name, limits = f"evidence-{seed}", GuardSettings()
    drawn = random_config([BoardKind(setting.agents, size) for size in setting.sizes], seeds.rng(seed, "evidence/config"))
    spec = SessionSpec(
        title=f"Evidence {seed}",
        engineer=HumanEngineer(),  # it waits after the first stage; its forks end with the last
        stages=2,
        # Floored like every proposal, so that keeping it changes nothing.
        initial_config=guard(drawn, drawn, limits)[0],
        training=TrainingSettings(steps=setting.steps, boards_per_step=setting.boards_per_step, schedule=setting.schedule),
        suite=SuiteSpec(agents=(setting.agents,), sizes=setting.sizes, boards_per_cell=setting.boards_per_cell, seed=seed),
        guard=limits,
        seed=seed,
    )
    session = Session(store.root / name) if (store.root / name).is_dir() else store.create(spec, name)
    if session.spec != spec:
        raise SessionError(f"{session.dir} is an evidence of another setting: name another folder")
    if session.validation(0) is None and run_job(Recorder(session), work) == 1:
        raise SessionError(f"{name} failed: {session.state().error}")
    return session


def seen(session: Session) -> tuple[Context, EnvironmentConfig]:
    """What the engineer of an evidence sees, and the config that it may change."""
    measured = session.measurements(0)
    assert isinstance(measured.config, EnvironmentConfig)
    return describe(measured, session.spec.sections), measured.config


def config_words(completion: str) -> str:
    """The part of a completion that decides the training."""
    return completion.split(CONFIG)[-1]


def proposals(session: Session, samples: int, randoms: int, temperature: float) -> Iterator[Written]:
    """The unchanged config, the rules' proposal, ``samples`` of the checkpoint at ``temperature``, and ``randoms`` random ones within the
    guard. No config occurs twice."""
    context, config = seen(session)
    limits = session.spec.guard
    fixed = [Written("kept", worded(context, config, config)), Written("rules", render_proposal(context, rules.propose(context, config)))]
    configs = [config_words(written.completion) for written in fixed]
    yield from fixed

    def new(author: str, completions: Iterator[str], wanted: int) -> Iterator[Written]:
        while wanted and (completion := next(completions, None)):
            if config_words(completion) not in configs:
                configs.append(config_words(completion))
                wanted -= 1
                yield Written(author, completion)

    model, grammar = LabPolicy.load(session.stage_dir(0) / "policy"), ProposalGrammar(context)
    draws = [seeds.derive(session.spec.seed, "evidence/proposals", place) for place in range(TRIES)]
    yield from new("policy", (model.complete_constrained(render_context(context), grammar, temperature, draw) for draw in draws), samples)
    anyhow = (RandomEngineer().propose(context, config, draw).config for draw in draws)
    allowed = (guard(drawn, config, limits)[0] for drawn in anyhow)
    yield from new("random", (worded(context, config, drawn) for drawn in allowed if isinstance(drawn, EnvironmentConfig)), randoms)
