"""Does training on plans wear away how a model reads evidence? The same evidence, asked of the base and of every checkpoint of a session.

python -m benchmarks.reading SESSION ... [--contexts 200] [--out assets/reading.csv]

A session is a folder whose stages kept their weights. The evidence is drawn as for the warm start, with failures shown, four cells or more,
and a cell to which the tutor gives at least a tenth of the boards more than it has. A checkpoint has found it if its answer gives that cell
the largest rise.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.base.files import as_csv, write_text
from frozenlab.base.numbers import MANY, percent
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers import tutor
from frozenlab.engineer.engineers.own_model import PolicyEngineer
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.schema import Context
from frozenlab.experiments.diagnosis.asking import WIDE_OPEN, shares
from frozenlab.experiments.diagnosis.report import score
from frozenlab.experiments.studies.statistics import mean_of
from frozenlab.models.loading import load_policy
from frozenlab.session.session import Session
from recipes.lab_model.proposals import draw_context

CONTEXTS, CELLS, RISE = 200, 4, 0.1


class Case(NamedTuple):
    """Evidence, the config that it is about, and the cell that the tutor gives most."""

    context: Context
    config: Config
    cell: str


def cases(seed: int = 0) -> Iterator[Case]:
    """Evidence without end, the same for the same seed."""
    rng = seeds.rng(seed, "reading")
    while True:
        context, config = draw_context(rng)
        before = shares(config)
        rise = {cell: share - before[cell] for cell, share in shares(tutor.propose(context, config).config).items()}
        cell = max(rise, key=lambda name: rise[name])
        if "failures" in context.sections and len(before) >= CELLS and rise[cell] >= RISE:
            yield Case(context, config, cell)


def found(folder: Path, given: Sequence[Case]) -> list[float]:
    """Of each case, 1 where the model's answer gives its cell the largest rise, a part where cells tie, 0 without a usable answer."""
    policy, hits = load_policy(str(folder)), []
    for number, case in enumerate(given):
        engineer = PolicyEngineer().build(Models(str(folder), None, policy, case.config))
        asked = ask(engineer, case.context, case.config, WIDE_OPEN, seed=seeds.derive(0, "reading/answer", number))
        hits.append(score(shares(case.config), shares(asked.proposal.config), {case.cell}).hit if asked.proposal else 0.0)
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    parser.add_argument("--contexts", type=int, default=CONTEXTS)
    parser.add_argument("--out", type=Path, help="a table of all answers: session, steps, case, hit")
    options = parser.parse_args()
    torch.set_num_threads(1)
    given = list(islice(cases(), options.contexts))
    print(f"{len(given)} cases, chance {percent(mean_of([1 / len(case.config.cells) for case in given]).mean)}")
    changes, rows = defaultdict[int, list[float]](list), list[dict[str, float | str]]()
    for folder in options.sessions:
        session, base = Session(folder), None
        for checkpoint in session.checkpoints():
            hits = found(checkpoint.path, given)
            base = base or hits
            change = mean_of([now - before for now, before in zip(hits, base, strict=True)])
            steps = 0 if checkpoint.stage is None else (checkpoint.stage + 1) * session.spec.training.steps
            changes[steps].append(change.mean)
            rows += [{"session": session.id, "steps": steps, "case": case, "hit": hit} for case, hit in enumerate(hits)]
            print(f"{session.id}, {steps} steps: {percent(mean_of(hits).mean, MANY)}, {change.change} from the base", flush=True)
    for steps, means in changes.items():
        if len(means) > 1:
            print(f"{steps} steps, over {len(means)} sessions: {mean_of(means).change}")
    if options.out:
        write_text(options.out, as_csv(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
