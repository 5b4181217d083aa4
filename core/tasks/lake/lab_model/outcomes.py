"""Outcomes: the measured gains of proposals from the same evidence, and an engineer that learns from them.

    python -m frozenlab.tasks.lake.lab_model.outcomes collect OUT           # triples of evidence, proposal and measured gain
    python -m frozenlab.tasks.lake.lab_model.outcomes teach OUT --to MODEL   # teach the lab model from them
    python -m frozenlab.tasks.lake.lab_model.outcomes compare OUT --taught MODEL   # use it as engineer in new sessions

An *evidence* is a session that has trained its first stage on a random config and now waits for a proposal. Each proposal is
measured by a fork that trains the second stage with it. Forks of one evidence share policy, seeds and held-out boards, so their differences
come from the proposals or from chance in training. To measure the part of chance, the proposals of some evidences are measured twice,
the second time with other seeds in the second stage. Everything can be killed and started again. Importing this module imports torch.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, count
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd
import torch
from scipy import stats

from frozenlab import seeds
from frozenlab.engineer.ask import attempt_seed
from frozenlab.engineer.dialects.lab import ProposalGrammar, parse_proposal, render_context, render_proposal
from frozenlab.engineer.engineers import HumanEngineer, RandomEngineer, rules
from frozenlab.engineer.evidence import describe
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.own_model import LAB_TEMPERATURE
from frozenlab.engineer.schema import Context
from frozenlab.files import write_parquet, write_text
from frozenlab.jobs.environment import THREADS
from frozenlab.jobs.worker import run_job
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind
from frozenlab.lake.presets import random_config
from frozenlab.lake.suites import SuiteSpec
from frozenlab.loop.forks import fork
from frozenlab.loop.loop import proposal_seed
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session, SessionError
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import SessionStore
from frozenlab.loop.worker import work
from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.policy.loading import load_policy
from frozenlab.studies.effects import CLEAR, contrast
from frozenlab.tasks.lake.dialects.vocabulary import CONFIG
from frozenlab.tasks.lake.lab_model.teaching import FEATURES, TeachSettings, centred, fit, teach, worded
from frozenlab.training.schedule import Schedule
from frozenlab.training.settings import TrainingSettings

ENGINEERS = ("taught", "policy", "rules", "kept")
"""The engineers to compare: the taught model, the session's own checkpoint, the rules, and none."""
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


# --- evidences -------------------------------------------------------------------------------------------------------


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


# --- measuring -------------------------------------------------------------------------------------------------------


def measure(parent: Session, completion: str, store: SessionStore, name: str, replicate: int = 0) -> dict[str, Any]:
    """Train the second stage of an evidence with a proposal, in a fork that is deleted afterwards.

    Args:
        replicate: 0 for the seed of the evidence; otherwise another seed: other boards from the same config, and other plans.

    Returns:
        The proposal's part of a row of the table of :func:`collect`.

    Raises:
        SessionError: the fork fails.
        ProposalError: the completion is not a proposal.
    """
    context, config = seen(parent)
    folder = store.root / name
    given = parse_proposal(context, config, completion)
    forked = Session(folder) if folder.is_dir() else fork(parent, 0, store, name, given=given)
    if replicate and forked.spec.seed == parent.spec.seed:
        other = seeds.derive(parent.spec.seed, "evidence/replicate", replicate)
        spec = forked.spec.changed(seed=other)  # a fork in the app may not do that: its first stage had another seed
        write_text(folder / "session.json", spec.model_dump_json(indent=2))
        forked = Session(folder)
    if run_job(Recorder(forked), work):
        raise SessionError(f"{name} did not end: {forked.state().error}")
    drawn, before, after = forked.environment(1), parent.validation(0), forked.validation(1)
    assert drawn is not None and before is not None and after is not None
    shutil.rmtree(folder)
    return {
        "prompt": render_context(context),
        "completion": completion,
        "before": config.model_dump_json(),
        "after": drawn.config.model_dump_json(),
        "sizes": json.dumps(after["size"].tolist()),
        "answers_before": "".join("01"[valid] for valid in before["valid"]),
        "answers": "".join("01"[valid] for valid in after["valid"]),
        "gain": cell_mean(after) - cell_mean(before),
    }


def cell_mean(validation: pd.DataFrame) -> float:
    """The mean over map sizes of the valid rate, 0..1."""
    return float(validation.groupby("size")["valid"].mean().mean())


KEY = ["evidence", "author", "number", "replicate"]
"""The columns that identify a row of a table of outcomes."""


class Table:
    """A table of outcomes that is written to disk after every row: one row per measured proposal, with the columns of KEY and of
    :func:`measure`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = pd.read_parquet(path).to_dict("records") if path.exists() else []

    def has(self, **key: Any) -> bool:
        return any(all(row[name] == value for name, value in key.items()) for row in self.rows)

    def same(self, evidence: int, replicate: int, completion: str) -> dict[str, Any] | None:
        """The row of the same config by another author, which need not be measured again."""
        for row in self.rows:
            if (row["evidence"], row["replicate"]) == (evidence, replicate) and config_words(row["completion"]) == config_words(completion):
                return row | {"completion": completion}
        return None

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        write_parquet(self.path, self.frame())
        print(*(row[name] for name in KEY), f"{100 * row['gain']:+.2f} points", flush=True)

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows)


def add_outcomes(table: Table, parent: Session, written: Sequence[Written], store: SessionStore, replicates: int) -> None:
    """Measure the proposals of an evidence that the table lacks, each ``replicates`` times."""
    for replicate in range(replicates):
        numbers: dict[str, Iterator[int]] = defaultdict(count)
        for author, completion in written:
            number = next(numbers[author])
            key = {"evidence": parent.spec.seed, "author": author, "number": number, "replicate": replicate}
            if table.has(**key):
                continue
            measured = table.same(parent.spec.seed, replicate, completion) or measure(
                parent, completion, store, f"fork-{parent.spec.seed}-{author}-{number}-{replicate}", replicate
            )
            table.add(measured | key)


# --- statistics -------------------------------------------------------------------------------------------------------


def reliability(table: pd.DataFrame) -> dict[str, Any]:
    """How much of the differences between proposals of one evidence comes from the proposals, and how much from chance.

    Returns:
        ``spread``: the standard deviation of gains within evidences (of one measurement); ``board_noise``: the part of it that other
        held-out boards would change; and, for the evidences measured twice (``twice``): ``noise``, the standard deviation between two
        measurements of one proposal, and ``reliability``, the share of the variance that is not noise (the intraclass correlation, with its
        95 % interval by the F distribution). Standard deviations are rates; unknown values are None.
    """
    gains = centred(table)
    groups = table.groupby(["evidence", "replicate"])
    spread = float(np.sqrt((gains**2).sum() / (len(table) - groups.ngroups)))
    board_noise = float(np.sqrt(np.mean([board_variance(rows) for _, rows in groups])))
    result: dict[str, Any] = {"n": len(table), "evidences": int(table["evidence"].nunique()), "spread": spread, "board_noise": board_noise}
    pairs = table.pivot(index=KEY[:-1], columns="replicate", values="gain").dropna()
    pairs -= pairs.groupby("evidence").transform("mean")
    twice = pairs.index.get_level_values("evidence").nunique() if pairs.shape[1] > 1 else 0
    freedom = len(pairs) - twice
    if not twice or not pairs.to_numpy().any():
        return result | {"twice": twice, "noise": None, "reliability": None, "low": None, "high": None}
    between = float(((pairs[0] + pairs[1]) ** 2).sum() / 2 / freedom)
    within = float(((pairs[0] - pairs[1]) ** 2).sum() / 2 / freedom)
    critical = float(stats.f.isf(CLEAR / 2, freedom, freedom))
    alike, low, high = ((between - within * by) / (between + within * by) for by in (1, critical, 1 / critical))
    return result | {"twice": twice, "noise": float(np.sqrt(within)), "reliability": alike, "low": low, "high": high}


def board_variance(rows: pd.DataFrame) -> float:
    """The variance of a proposal's gain, relative to the others of its evidence, over other held-out boards of the same sizes."""
    answers = np.array([[answer == "1" for answer in row] for row in rows["answers"]], dtype=float)
    apart = pd.DataFrame(answers - answers.mean(axis=0)).T.groupby(json.loads(rows["sizes"].iloc[0]))
    cells = apart.var() / apart.count()
    return float((cells.sum() / len(cells) ** 2).sum() / (len(rows) - 1))


def compared(table: pd.DataFrame) -> dict[str, Any]:
    """Gains by engineer over the sessions that have all of them, and the differences of each two, paired by session: means with 95 % t
    intervals, as rates."""
    outcomes = table.rename(columns={"evidence": "seed", "author": "arm", "gain": "value"})[["seed", "arm", "value"]]
    arms = [arm for arm in ENGINEERS if arm in set(outcomes["arm"])]
    gains = outcomes.pivot(index="seed", columns="arm", values="value")[arms].dropna()
    return {
        "sessions": len(gains),
        "gains": {arm: {"mean": float(gains[arm].mean()), "sd": float(gains[arm].std())} for arm in arms},
        "differences": {f"{plus} - {minus}": asdict(contrast(outcomes, [plus], [minus])) for plus, minus in combinations(arms, 2)},
    }


# --- the three commands ----------------------------------------------------------------------------------------------


def collect(out: Path, seeds: Sequence[int], setting: Setting, *, samples: int, randoms: int, temperature: float, replicated: int) -> None:
    """Add the outcomes of one evidence per seed to ``out/triples.parquet``; the first ``replicated`` are measured twice."""
    table, store = Table(out / "triples.parquet"), SessionStore(out / "sessions")
    for place, seed in enumerate(seeds):
        parent = evidence(seed, setting, store)
        written = list(proposals(parent, samples, randoms, temperature))
        add_outcomes(table, parent, written, store, 2 if place < replicated else 1)


def learn(out: Path, to: Path, settings: TeachSettings) -> None:
    """Teach the shipped lab model from ``out/triples.parquet``; write it to ``to`` and the figures to ``out/taught.json``.

    Raises FileNotFoundError if nothing has been collected, FileExistsError if ``to`` exists.
    """
    if to.exists():
        raise FileExistsError(f"{to} exists already: name a new folder")
    table = pd.read_parquet(out / "triples.parquet")
    outcome = fit(table)
    figures = {
        "reliability": reliability(table),
        "outcome_model": {
            "slopes": dict(zip(FEATURES, outcome.slopes.tolist(), strict=True)), "penalty": outcome.penalty, "skill": outcome.skill,
        },
        "settings": asdict(settings),
    }  # fmt: skip
    print(json.dumps(figures, indent=2), flush=True)
    policy = load_policy("lab-model")
    assert isinstance(policy, LabPolicy)
    teach(policy, table, outcome, settings, lambda progress: print(progress, flush=True))
    policy.save(to)
    write_text(out / "taught.json", json.dumps(figures, indent=2))


def compare(out: Path, taught: Path, seeds: Sequence[int], setting: Setting, engineers: Collection[str] = ENGINEERS) -> None:
    """Add the outcomes of these ENGINEERS in sessions of these seeds to ``out/compared.parquet``, and write ``out/compared.json``.

    The checkpoint (``policy``) and the taught model (as it was taught) are asked as a session asks its engineer, with the same draws.
    """
    table, store, model = Table(out / "compared.parquet"), SessionStore(out / "sessions"), LabPolicy.load(taught)
    for seed in seeds:
        parent = evidence(seed, setting, store)
        context, draw = seen(parent)[0], attempt_seed(proposal_seed(parent.spec, 0), 0)
        asked = {"taught": model, "policy": LabPolicy.load(parent.stage_dir(0) / "policy")}
        candidates = [
            Written(name, each.complete_constrained(render_context(context), ProposalGrammar(context), LAB_TEMPERATURE, draw))
            for name, each in asked.items()
        ]
        candidates += proposals(parent, 0, 0, 0.0)
        add_outcomes(table, parent, [written for written in candidates if written.author in engineers], store, 1)
        write_text(out / "compared.json", json.dumps(compared(table.frame()), indent=2))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect", help="measure proposals, many from each evidence")
    collecting.add_argument("--evidences", type=int, default=8)
    collecting.add_argument("--first-seed", type=int, default=1000)
    collecting.add_argument("--samples", type=int, default=2, help="samples of the checkpoint from each evidence")
    collecting.add_argument("--randoms", type=int, default=3, help="random proposals from each evidence")
    collecting.add_argument("--temperature", type=float, default=1.5, help="temperature of the checkpoint's samples")
    collecting.add_argument("--replicated", type=int, default=2, help="number of evidences with proposals that are measured twice")
    learning = commands.add_parser("teach", help="teach the shipped lab model from them")
    learning.add_argument("out", type=Path, help="the folder of collect")
    learning.add_argument("--to", type=Path, required=True, help="checkpoint folder to write")
    for field in fields(TeachSettings):
        learning.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    comparing = commands.add_parser(
        "compare", help="let it propose in other sessions, and compare it with the checkpoint, the rules and the unchanged config"
    )
    comparing.add_argument("--taught", type=Path, required=True, help="the checkpoint folder of teach")
    comparing.add_argument("--engineers", nargs="+", choices=ENGINEERS, default=ENGINEERS, help="the others can be added later")
    comparing.add_argument("--sessions", type=int, default=12)
    comparing.add_argument("--first-seed", type=int, default=5000)
    defaults = Setting()
    for command in (collecting, comparing):
        command.add_argument("out", type=Path)
        command.add_argument("--agents", type=int, default=defaults.agents)
        command.add_argument("--sizes", type=int, nargs="+", default=defaults.sizes)
        command.add_argument("--steps", type=int, default=defaults.steps, help="training steps of each of the two stages")
        command.add_argument("--boards-per-step", type=int, default=defaults.boards_per_step)
        command.add_argument("--schedule", choices=get_args(Schedule), default=defaults.schedule, help="of the learning rate")
        command.add_argument("--boards-per-cell", type=int, default=defaults.boards_per_cell, help="held-out boards per map size")
    options = vars(parser.parse_args(arguments))
    command, out = options.pop("command"), options.pop("out")
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(THREADS)
    if command == "teach":
        learn(out, options.pop("to"), TeachSettings(**options))
        return
    setting = Setting(**{field.name: options.pop(field.name) for field in fields(Setting)})
    first = options.pop("first_seed")
    if command == "collect":
        collect(out, range(first, first + options.pop("evidences")), setting, **options)
    else:
        compare(out, options["taught"], range(first, first + options["sessions"]), setting, options["engineers"])


if __name__ == "__main__":
    main()
