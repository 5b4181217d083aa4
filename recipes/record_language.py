"""A language model from random weights to its own engineer, on a processor.

    python -m recipes.record_language FOLDER [--boards 14000] [--proposals 1200] [--stages 3] [--steps 15]

A Qwen3 of a million random weights (:mod:`recipes.tiny_qwen3`) gets a warm start: worked answers on boards of 3x3 and 4x4, and, because
it knows no English, proposals of the engineer ``rules`` in the form that a language model is asked for. Then a session trains it by GRPO,
and it writes its own configs. Everything stays in FOLDER: two models and the session; run again, it goes on where it was stopped.
Printed are valid rates on the same held-out boards with Wilson intervals, and how many of the engineer's answers could be used.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.base.numbers import wilson
from frozenlab.engineer.ask import ask
from frozenlab.engineer.dialects.plain import percent_key, render_request
from frozenlab.engineer.engineers import PolicyEngineer, RulesEngineer
from frozenlab.engineer.schema import Context, Evidence, Proposal
from frozenlab.engineer.sections import behaviour
from frozenlab.jobs.worker import run_job
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.rules import walk
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.evaluation import evaluate
from frozenlab.models.language.policy import HFPolicy, user
from frozenlab.models.settings import Decoding, LanguageSettings, WarmStart
from frozenlab.models.training.settings import TrainingSettings
from frozenlab.models.training.warm_start import Row, as_row, learn, learnt
from frozenlab.session.launch import start
from frozenlab.session.loop import suites_of, work
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from recipes.lab_model.proposals import draw_lines
from recipes.tiny_qwen3 import build

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.2, wait_ratio=0.2)
LANGUAGE = LanguageSettings(dtype="float32", device="cpu", lora=None, vllm=None, rows=16, max_tokens=600, context=16_384)
DRAWN = LANGUAGE.model_copy(update={"decoding": Decoding(temperature=1.0, top_p=1.0, top_k=0)})
"""As the session measures it: drawn as it is while it learns."""
BATCH = 8
SECTIONS = ("behaviour", "failures", "statistics", "preserved", "history")


def spec_of(model: Path, options: argparse.Namespace) -> SessionSpec:
    return SessionSpec(
        title="A tiny language model",
        policy=str(model),
        language=DRAWN,
        engineer=PolicyEngineer(max_tokens=1500, temperature=0.3),
        stages=options.stages,
        initial_config=CONFIG,
        training=TrainingSettings(
            steps=options.steps,
            boards_per_step=12,
            completions_per_board=8,
            learning_rate=options.rate,
            temperature=1.0,
            schedule="constant",
            scale_rewards="none",  # else a group in which nothing is solved weighs as much by its small change as one of 0 and 1
        ),
        suite=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=options.held_out // 2, seed=1),
        test=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=options.held_out, seed=2),
        seed=options.seed,
    )


# --- what it learns before ---------------------------------------------------------------------------------------------


def proposals(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Requests as after a stage on these boards, and the rules' answers to them in the form asked for."""
    for context, config in contexts(n, seed):
        yield render_request(context), answer(context, RulesEngineer().propose(context, config, 0))


def contexts(n: int, seed: int) -> Iterator[tuple[Context, Config]]:
    """Evidence as after a stage on boards of a config, and that config."""
    rng = seeds.rng(seed, "record-language/proposals")
    boards = generate(CONFIG, 200, seed=seeds.derive(seed, "record-language/cases"))
    for _ in range(n):
        ratios = {cell: {"hole_ratio": rng.integers(0, 10) / 20, "wait_ratio": rng.integers(0, 15) / 20} for cell in CONFIG.cells}
        share = float(rng.integers(4, 17) / 20)
        shares = dict(zip(CONFIG.cells, (share, 1 - share), strict=True))
        config = CONFIG.with_cells(
            {name: own.model_copy(update=ratios[name] | {"share": shares[name]}) for name, own in CONFIG.cells.items()}
        )
        yield drawn_context(config, boards, rng), config


def drawn_context(config: Config, boards: Sequence[Any], rng: Any) -> Context:
    """The evidence of a stage that never was, with boards on which a plan failed."""
    lines: dict[str, list[Evidence]] = {name: [] for name in SECTIONS}
    lines["behaviour"].append(behaviour.whole_line(rng.random(), rng.normal(0, 0.05), rng.uniform(0.02, 0.8), rng.uniform(100, 250)))
    later = rng.random() < 0.6
    for cell in config.described():
        for line in draw_lines(rng, cell, config, 100, float(rng.random()), later):
            case = line.section == "failures" and "step" in line.numbers
            lines[line.section].append(shown_case(line, boards, rng) if case else line)
    sections = {name: tuple(found) for name, found in lines.items()}
    return Context(stage=int(rng.integers(0, 3)), cells=config.described(), sections=sections)


def shown_case(line: Evidence, boards: Sequence[Any], rng: Any) -> Evidence:
    """A worked case with a board of its cell; whose plan it is does not matter to the rules."""
    own = [task for task in boards if task.cell == line.cell]
    task = own[int(rng.integers(len(own)))]
    fault = next(name for name in line.numbers if name != "step")
    row = {
        "board_id": f"2ag_{line.cell}x{line.cell}_000{rng.integers(100, 999)}", "agents": 2, "optimal_makespan": task.solution.makespan,
        "fault": fault, "step": line.numbers["step"], "fault_agents": "[]", "cell": None,
        "board": json.dumps(task.board.to_dict()), "paths": json.dumps(walk(task.board, task.solution.plan)),
    }  # fmt: skip
    return line.model_copy(update={"text": f"Size {line.cell}, {LAKE.case(row)[0]}.", "shown": LAKE.shown(row)})


def answer(context: Context, proposal: Proposal) -> str:
    """A proposal as a language model writes it: its claims' sentences, then the numbers."""
    config = proposal.config
    told = " ".join(claim.text.rpartition(" [")[0] + "." if " [" in claim.text else claim.text for claim in proposal.claims)
    claims = [
        {
            "cell": claim.cell,
            "knob": claim.knob,
            "evidence": list(claim.evidence)[:4],
            "expected_valid_percent": round(100 * (claim.expected or 0)),
        }
        for claim in proposal.claims
    ]
    cells = {
        name: {percent_key(knob): round(100 * own.settings()[knob]) for knob in context.tasks.knobs} for name, own in config.cells.items()
    }
    preserved = list(proposal.preserved)
    return json.dumps({"rationale": told, "claims": claims, "preserved": preserved, "cells": cells}, separators=(",", ":"))


def lessons(policy: HFPolicy, options: argparse.Namespace) -> list[Row]:
    """Worked answers and proposals, mixed batch by batch: a proposal is three times as long, and a batch is padded to its longest.

    Of a board the question is learnt too: it draws the map and then says where each agent is, so that the model learns to read a map.
    """
    tasks = generate(CONFIG, options.boards, seed=seeds.derive(options.seed, "record-language/boards"))
    answers = [row | {"completion_mask": [1] * len(row["input_ids"])} for row in learnt(policy, tasks)]
    asked = [
        as_row(policy, policy.prompt_ids([user(request)], thinking=False), text)
        for request, text in proposals(options.proposals, options.seed)
    ]
    batches = [rows[first : first + BATCH] for rows in (answers, asked) for first in range(0, len(rows), BATCH)]
    order = seeds.rng(options.seed, "record-language/order").permutation(len(batches))
    return [row for i in order for row in batches[i]]


# --- what came ----------------------------------------------------------------------------------------------------------


def told(name: str, rows: pd.DataFrame) -> None:
    """One line: the valid and optimal plans of each size."""
    sizes = []
    for size, of_size in rows.groupby("size"):
        valid, n = int(of_size["valid"].sum()), len(of_size)
        low, high = wilson(valid, n)
        sizes.append(f"{size}x{size}: {valid} of {n} valid ({low:.0%} to {high:.0%}), {int(of_size['optimal'].sum())} optimal")
    print(f"{name:<22} {'; '.join(sizes)}", flush=True)


def table(session: Session, stage: int | None) -> pd.DataFrame:
    found = session.results(stage)
    assert found is not None, "the session has run to its end"
    return found


def first_answers_used(policy: HFPolicy, spec: SessionSpec, asked: int, seed: int) -> int:
    """How many of the policy's answers to ``asked`` new requests are proposals, at the first attempt."""
    engineer = spec.engineer.build(spec.models(policy))
    records = (
        ask(engineer, context, config, spec.guard, seed=seeds.derive(seed, "record-language/asked", i))
        for i, (context, config) in enumerate(contexts(asked, seed))
    )
    return sum(record.attempts[0].error is None for record in records)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--boards", type=int, default=14_000, help="worked answers of the warm start")
    parser.add_argument("--proposals", type=int, default=1200, help="proposals of the warm start")
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--steps", type=int, default=15, help="of a stage")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate of GRPO")
    parser.add_argument("--held-out", type=int, default=200, help="test boards of each size; half as many for validation")
    parser.add_argument("--asked", type=int, default=100, help="new requests by which it is measured how many answers can be used")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(options.folder)  # what is recorded names no folder of this machine
    base, warm = Path("tiny-qwen3"), Path("tiny-qwen3-warm")
    if not base.exists():
        build(base, CONFIG, [text for pair in proposals(100, options.seed) for text in pair], options.seed)
    spec = spec_of(warm, options)
    if not warm.exists():
        policy = HFPolicy.load(str(base), LANGUAGE, to_train=True)
        told("random weights", evaluate(policy, suites_of(spec)[1]))
        began = time.time()
        rows = lessons(policy, options)
        learn(policy, rows, WarmStart(examples=len(rows), batch=BATCH, learning_rate=5e-3), options.seed, progress)
        policy.save(warm)
        print(f"warm start: {len(rows)} examples in {time.time() - began:.0f} s", flush=True)
    store = SessionStore(Path.cwd())
    session = (
        store.open("example-language") if (store.root / "example-language").exists() else start(spec, store, "example-language", here=True)
    )
    run_job(Recorder(session), work)
    told("after the warm start", table(session, None))
    test = suites_of(spec)[1]
    told("the same, greedily", evaluate(HFPolicy.load(str(warm), LANGUAGE), test))
    for stage in range(options.stages):
        told(f"after stage {stage + 1} of GRPO", table(session, stage))
    trained = HFPolicy.load(str(session.stage_dir(options.stages - 1) / "policy"), LANGUAGE)
    told("the same, greedily", evaluate(trained, test))
    usable = first_answers_used(trained, spec, options.asked, options.seed + 1)
    low, high = wilson(usable, options.asked)
    print(f"{usable} of {options.asked} first answers to requests that it had never read could be used ({low:.0%} to {high:.0%})")


def progress(done: int, of: int, loss: float) -> None:
    if done % 50 == 0 or done == of:
        print(f"step {done} of {of}, loss {loss:.3f}", flush=True)


if __name__ == "__main__":
    main()
