"""Does a checkpoint know better than its base which held-out tasks the checkpoint solves? Area under the ROC curve (AUROC) of what each
says of itself.

python -m benchmarks.self_knowledge BASE CHECKPOINT               two checkpoint folders, on 2,400 boards of 3 and 4 agents
python -m benchmarks.self_knowledge BASE CHECKPOINT --students    on the five cells of the students
python -m benchmarks.self_knowledge --engineers SESSION ...       sessions of students: who finds the weakness after the first stage, the
                                                                  checkpoint or the base, with failures shown or withheld, each asking
                                                                  itself before it writes?
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from frozenlab.base import seeds
from frozenlab.base.cells import evenly
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers.own_model import ASKED, BaseEngineer, PolicyEngineer
from frozenlab.engineer.sections import describe
from frozenlab.experiments.diagnosis.asking import WIDE_OPEN, shares
from frozenlab.experiments.diagnosis.report import rate, score
from frozenlab.experiments.students.menu import usual_config
from frozenlab.experiments.students.store import Student
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.models.evaluation import evaluate
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.lab.self_assessment import assess
from frozenlab.models.loading import load_policy
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import family_of

SEED = 77
RESAMPLED = 1000
SAMPLES = 4
"""Answers of each engineer."""
SHOWN = {"shown": ("failures", "statistics"), "withheld": ("statistics",)}
Scores = NDArray[np.float64]


def auroc(scores: Scores, solved: NDArray[np.bool_]) -> float:
    """How often a solved task has the higher score of a solved and a failed one; ties count half.

    >>> auroc(np.array([0.9, 0.8, 0.3, 0.3]), np.array([True, False, True, False]))
    0.625
    """
    k, n = int(solved.sum()), len(solved)
    return float((rankdata(scores)[solved].sum() - k * (k + 1) / 2) / (k * (n - k)))


def within(scores: Scores, solved: NDArray[np.bool_], cells: NDArray[np.str_]) -> float:
    """The mean over cells, weighted by their pairs of a solved and a failed task: what the cell does not tell."""
    of_cell = [(scores[cells == cell], solved[cells == cell]) for cell in np.unique(cells)]
    both = [(own, right) for own, right in of_cell if 0 < right.sum() < len(right)]
    return float(np.average([auroc(*one) for one in both], weights=[right.sum() * (~right).sum() for _, right in both]))


def compare(base: Path, checkpoint: Path, of_students: bool) -> None:
    torch.set_num_threads(1)
    if of_students:
        config = evenly(usual_config())
        family = family_of(config.family)
        tasks = family.draw(config, 2000, seeds.derive(SEED, "benchmarks/self-knowledge"))
        before, after = (LabPolicy.load(path, family) for path in (base, checkpoint))
    else:
        tasks = build_suite(SuiteSpec(agents=(3, 4), sizes=tuple(range(3, 11)), boards_per_cell=150, seed=SEED), sum_of_costs=False)
        before, after = LabPolicy.load(base), LabPolicy.load(checkpoint)
    answers = evaluate(after, tasks)
    solved = answers["valid"].to_numpy(bool)
    names = answers["config_cell"] if of_students else answers["agents"].astype(str) + "@" + answers["size"].astype(str)
    cells = names.to_numpy(str)
    said = {"checkpoint": assess(after, tasks), "base": assess(before, tasks)}
    means = ", ".join(f"the {who} says {scores.mean():.3f}" for who, scores in said.items())
    print(f"{len(tasks)} tasks; the checkpoint solves {solved.mean():.3f}; {means}")
    show("over all tasks", lambda rows, scores: auroc(scores[rows], solved[rows]), said)
    show("within cells", lambda rows, scores: within(scores[rows], solved[rows], cells[rows]), said)


def show(name: str, measure: Callable[[NDArray[np.int_], Scores], float], said: dict[str, Scores]) -> None:
    """Both areas and their difference, with a bootstrap over tasks."""
    n = len(said["base"])
    rng = seeds.rng(SEED, "benchmarks/self-knowledge/bootstrap")
    found = {who: measure(np.arange(n), scores) for who, scores in said.items()}
    draws = [rng.integers(n, size=n) for _ in range(RESAMPLED)]
    low, high = np.quantile([measure(rows, said["checkpoint"]) - measure(rows, said["base"]) for rows in draws], [0.025, 0.975])
    difference = found["checkpoint"] - found["base"]
    print(
        f"{name}: checkpoint {found['checkpoint']:.3f}, base {found['base']:.3f}, difference {difference:+.3f} ({low:+.3f} to {high:+.3f})"
    )


def engineers(folders: Sequence[Path]) -> None:
    """The two-by-two, as rates of diagnosis with intervals clustered by student."""
    torch.set_num_threads(1)
    hits: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for folder in folders:
        session, store = Session(folder), SessionStore()
        weak = Student.open(session.spec.policy, store).recipe.weak
        measured = session.measurements(0)
        current = load_policy(str(session.stage_dir(0) / "policy"), family=session.spec.tasks)
        for spec in (PolicyEngineer(asks_itself=ASKED), BaseEngineer(asks_itself=ASKED)):
            engineer = spec.build(session.spec.models(current))
            for name, sections in SHOWN.items():
                context = describe(measured, sections)
                found = []
                for sample in range(SAMPLES):
                    record = ask(engineer, context, measured.config, WIDE_OPEN, seed=seeds.derive(SEED, "benchmarks/two-by-two", sample))
                    found.append(score(shares(record.config_before), shares(record.config_after), weak).hit if record.proposal else 0.0)
                hits[spec.kind, name].append(found)
                print(
                    f"{folder.name:20} {spec.kind:7} {name:9} {found} {record.proposal.summary[:160] if record.proposal else ''}",
                    flush=True,
                )
    for (kind, name), of_students in hits.items():
        one = rate(of_students)
        print(f"{kind:7} {name:9} {one.mean:.0%} ({one.low:.0%} to {one.high:.0%}; {one.n} answers, {one.students} students)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--students", action="store_true", help="on the five cells of the students")
    parser.add_argument("--engineers", action="store_true", help="the folders are sessions")
    options = parser.parse_args()
    if options.engineers:
        engineers(options.folders)
    else:
        base, checkpoint = options.folders
        compare(base, checkpoint, options.students)


if __name__ == "__main__":
    main()
