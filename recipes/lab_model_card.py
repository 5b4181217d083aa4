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
from frozenlab.base.numbers import rates, wilson
from frozenlab.engineer.dialects.lab import ProposalGrammar, render_context, render_proposal
from frozenlab.engineer.engineers import tutor
from frozenlab.lake.config import PAPER_SIZES
from frozenlab.lake.suites import SUITES, build_suite
from frozenlab.models.evaluation import evaluate
from frozenlab.models.folders import policy_folder
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.policy import Sampling
from frozenlab.tasks.vocabulary import CONFIG
from recipes.lab_model.proposals import draw_context

SAMPLED_SEED = 1
CONTEXTS = 500


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
    """How often the greedy proposal is the teacher's, whole and word for word, on contexts that were not among the demonstrations.

    Words that the grammar leaves no choice about are not counted; those after the config tag are counted separately from the rationale.
    """
    noise = seeds.rng(0, "lab-model-card/contexts")
    whole = 0
    hits: dict[str, list[bool]] = {"rationale": [], "config": []}
    for _ in range(CONTEXTS):
        context, config = draw_context(noise)
        grammar = ProposalGrammar(context)
        shown = render_proposal(context, tutor.propose(context, config)).split()
        written = policy.complete_constrained(render_context(context), grammar).split()
        whole += written == shown
        config_at = shown.index(CONFIG)
        for place, (a, b) in enumerate(zip(written, shown, strict=False)):
            if len(grammar.allowed(shown[:place])) > 1:
                hits["rationale" if place < config_at else "config"].append(a == b)
    print(
        f"### Engineer\n\nOn {CONTEXTS} fresh contexts, greedily: {percent(whole / CONTEXTS, *wilson(whole, CONTEXTS))} % of the proposals"
    )
    print("are the teacher's to the word. Words of free choice that are the teacher's:", end=" ")
    print("; ".join(f"{part} {percent(sum(of) / len(of), *wilson(sum(of), len(of)))} % of {len(of)}" for part, of in hits.items()) + ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkpoint", nargs="?", default="lab-model")
    policy = LabPolicy.load(policy_folder(parser.parse_args().checkpoint))
    torch.set_num_threads(1)
    boards = build_suite(SUITES["train-shape"]) + build_suite(SUITES["paper"])
    print_profile("Greedy", evaluate(policy, boards))
    print_profile("Sampled at temperature 1", evaluate(policy, boards, Sampling(1.0, seed=SAMPLED_SEED)))
    print_imitation(policy)


if __name__ == "__main__":
    main()
