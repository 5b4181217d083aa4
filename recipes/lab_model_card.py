"""Measures the lab model for its model card, as markdown: plans on held-out boards, and how well it imitates the engineer it was shown.

    python -m recipes.lab_model_card [CHECKPOINT]

Boards: the suites `train-shape` (2 agents) and `paper` (3, 4 and 5 agents), which no training of the lab sees.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable
from typing import Any

import pandas as pd
import torch

from frozenlab.base import seeds
from frozenlab.base.cells import evenly
from frozenlab.base.numbers import rates, wilson
from frozenlab.engineer.dialects.lab import ProposalGrammar, parse_proposal, render_context, render_proposal
from frozenlab.engineer.engineers import tutor
from frozenlab.engineer.engineers.own_model import LAB_TEMPERATURE
from frozenlab.experiments.diagnosis.asking import shares
from frozenlab.experiments.diagnosis.report import score
from frozenlab.experiments.students.menu import usual_config
from frozenlab.lake.config import PAPER_SIZES
from frozenlab.lake.suites import SUITES, build_suite
from frozenlab.models.evaluation import evaluate
from frozenlab.models.folders import policy_folder
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.policy import Sampling
from frozenlab.tasks.vocabulary import CONFIG
from recipes.lab_model.proposals import draw_context, draw_evidence

SAMPLED_SEED = 1
CONTEXTS, FALLEN = 500, 40
BLAMED = "faults to blame, of cells that have any"
DIAGNOSED = (
    ("failures", "statistics"), ("behaviour", "failures", "statistics"), ("behaviour", "statistics"), ("statistics",),
)  # fmt: skip
"""The sections with which the diagnosis is asked."""


def percent(rate: float, low: float, high: float) -> str:
    return f"{100 * rate:.1f} ({100 * low:.1f}..{100 * high:.1f})"


def print_profile(name: str, table: pd.DataFrame) -> None:
    """By team, the rates, their means over the sizes and the faults; by team and size, the valid and the optimal rate."""
    by_size = rates(table, ["agents", "size"])
    print(f"### {name}: all sizes\n")
    print("| agents | n | valid % | optimal % | mean over sizes: valid, optimal % | commonest faults, % of all answers |")
    print("|---|---|---|---|---|---|")
    for row in rates(table, ["agents"]).to_dict("records"):
        of_team = table[table["agents"] == row["agents"]]
        means = 100 * by_size.loc[by_size["agents"] == row["agents"], ["valid", "optimal"]].mean()
        faults = 100 * of_team["fault"].value_counts().head(4) / len(of_team)
        print(
            f"| {row['agents']} | {row['n']} | {interval(row, 'valid')} | {interval(row, 'optimal')} "
            f"| {means['valid']:.1f}, {means['optimal']:.1f} | {', '.join(f'{fault} {share:.0f}' for fault, share in faults.items())} |"
        )
    for metric in ("valid", "optimal"):
        print(f"\n### {name}: {metric} % by size\n")
        print("| agents | " + " | ".join(f"{size}x{size}" for size in PAPER_SIZES) + " |")
        print("|---" * (len(PAPER_SIZES) + 1) + "|")
        for agents, cells in by_size.groupby("agents"):
            texts = {row["size"]: f"{interval(row, metric)} n {row['n']}" for row in cells.to_dict("records")}
            print(f"| {agents} | " + " | ".join(texts.get(size, "") for size in PAPER_SIZES) + " |")
    print(flush=True)


def interval(row: dict[Hashable, Any], metric: str) -> str:
    return percent(row[metric], row[f"{metric}_low"], row[f"{metric}_high"])


def print_imitation(policy: LabPolicy) -> None:
    """How often the greedy proposal is the teacher's, whole and word for word, on contexts that were not among the demonstrations, and how
    often a cell whose failures are shown is blamed on the commonest of them.

    Words that the grammar leaves no choice about are not counted; those after the config tag are counted separately from the rationale.
    """
    noise = seeds.rng(0, "lab-model-card/contexts")
    whole = 0
    hits: dict[str, list[bool]] = {"rationale": [], "config": [], BLAMED: []}
    for _ in range(CONTEXTS):
        context, config = draw_context(noise)
        grammar = ProposalGrammar(context)
        shown = render_proposal(context, tutor.propose(context, config)).split()
        completion = policy.complete_constrained(render_context(context), grammar)
        written = completion.split()
        whole += written == shown
        causes = {claim.cell: claim.cause for claim in parse_proposal(context, config, completion).claims}
        hits[BLAMED] += [cause == fault for name, cause in causes.items() if (fault := tutor.commonest_fault(context, name))]
        config_at = shown.index(CONFIG)
        for place, (a, b) in enumerate(zip(written, shown, strict=False)):
            if len(grammar.allowed(shown[:place])) > 1:
                hits["rationale" if place < config_at else "config"].append(a == b)
    print(
        f"### Engineer\n\nOn {CONTEXTS} fresh contexts, greedily: {percent(whole / CONTEXTS, *wilson(whole, CONTEXTS))} % of the proposals"
    )
    print("are the teacher's to the word. Words of free choice that are the teacher's:", end=" ")
    print("; ".join(f"{part} {percent(sum(of) / len(of), *wilson(sum(of), len(of)))} % of {len(of)}" for part, of in hits.items()) + ".")


def print_diagnosis(policy: LabPolicy) -> None:
    """How often the largest share goes to the one cell of the usual students' config that has fallen, to between 5 and 50 % of its usual
    rate, by the sections shown; answers at temperature 0.5."""
    config = evenly(usual_config())
    usual = {cell.name: tutor.usual_rate(cell) or 0.0 for cell in config.described()}
    for sections in DIAGNOSED:
        rng, found = seeds.rng(0, "lab-model-card/diagnosis"), 0.0
        for number in range(FALLEN):
            weak = list(usual)[number % len(usual)]
            context = draw_evidence(config, sections, rng, usual | {weak: usual[weak] * rng.uniform(0.05, 0.5)})
            grammar = ProposalGrammar(context)
            completion = policy.complete_constrained(render_context(context), grammar, temperature=LAB_TEMPERATURE, seed=number)
            found += score(shares(config), shares(parse_proposal(context, config, completion).config), {weak}).hit
        print(
            f"With {', '.join(sections)}, the largest share goes to the fallen cell in {found:g} of {FALLEN} answers; a tie counts in part."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkpoint", nargs="?", default="lab-model")
    policy = LabPolicy.load(policy_folder(parser.parse_args().checkpoint))
    torch.set_num_threads(1)
    boards = build_suite(SUITES["train-shape"]) + build_suite(SUITES["paper"])
    print_profile("Greedy", evaluate(policy, boards))
    print_profile("Sampled at temperature 1", evaluate(policy, boards, Sampling(1.0, seed=SAMPLED_SEED)))
    print_imitation(policy)
    print_diagnosis(policy)


if __name__ == "__main__":
    main()
