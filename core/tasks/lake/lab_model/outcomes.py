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
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import get_args

import pandas as pd
import torch

from frozenlab.engineer.ask import attempt_seed
from frozenlab.engineer.dialects.lab import ProposalGrammar, render_context
from frozenlab.engineer.own_model import LAB_TEMPERATURE
from frozenlab.files import write_text
from frozenlab.jobs.environment import THREADS
from frozenlab.loop.loop import proposal_seed
from frozenlab.loop.store import SessionStore
from frozenlab.policy.lab.policy import LabPolicy
from frozenlab.policy.loading import load_policy
from frozenlab.tasks.lake.lab_model.evidences import Setting, Written, evidence, proposals, seen
from frozenlab.tasks.lake.lab_model.gains import ENGINEERS, compared, reliability
from frozenlab.tasks.lake.lab_model.measuring import Table, add_outcomes
from frozenlab.tasks.lake.lab_model.teaching import FEATURES, TeachSettings, fit, teach
from frozenlab.training.schedule import Schedule


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
