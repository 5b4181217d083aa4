"""A real language model learns to plan, then to be its own engineer: what ships as ``smollm2-planner`` and as ``example-smollm2``.

    frozenlab fetch-model smollm2
    python -m recipes.record_smollm2 FOLDER [--until adapters]

SmolLM2-135M-Instruct, on a processor in some twelve core hours. The plan, its predictions and what came: ``docs/smollm2.md``. Everything
stays in FOLDER; run again, it goes on where it was stopped.

1. ``warm``: a warm start of all weights on worked answers.
2. ``adapters``: LoRA adapters as near to it as their rank allows (:mod:`recipes.low_rank`).
3. ``planner``: they learn proposals of the ``tutor`` in plain words, and worked answers so that none are forgotten.
4. ``example-smollm2``: a session trains them by GRPO, and ``rules`` write its configs. It ships with its last adapters, and beside a twin
   that keeps its config: ``example-smollm2-fixed``.
5. ``measured.json``: valid plans before, between and after; what the engineer's answers are worth.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_file, save_file

from frozenlab.base import places, seeds
from frozenlab.base.cells import Config, evenly
from frozenlab.base.files import write_text
from frozenlab.base.numbers import wilson
from frozenlab.engineer.dialects.plain import LanguageEngineer, answer_schema, conversation, percent_key, render_request
from frozenlab.engineer.engineers import FixedEngineer, PolicyEngineer, RulesEngineer, tutor
from frozenlab.engineer.schema import Context, Evidence, Proposal
from frozenlab.engineer.sections import behaviour
from frozenlab.jobs.worker import run_job
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.hashes import canonical_hash, canonical_hashes
from frozenlab.lake.rules import walk
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.evaluation import evaluate
from frozenlab.models.folders import ADAPTER, ADAPTER_CONFIG, PLANNER, QUESTION, policy_folder
from frozenlab.models.language.policy import HFPolicy, lora_config, user
from frozenlab.models.language.writers import TransformersWriter
from frozenlab.models.settings import LanguageSettings, Lora, WarmStart
from frozenlab.models.training.checkpoints import seal
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.warm_start import as_row, learn, learnt
from frozenlab.session.launch import start
from frozenlab.session.loop import shown_before, suites_of, warmed_up, work
from frozenlab.session.presets import preset_spec
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from recipes.lab_model.proposals import draw_lines, draw_rates
from recipes.low_rank import low_rank
from recipes.record import Recording, ship_sessions

BASE, SESSION, TWIN = "smollm2", "example-smollm2", "example-smollm2-fixed"
CONFIG = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.2, wait_ratio=0.2)
ADAPTERS = Lora(rank=16, alpha=32)
LANGUAGE = LanguageSettings(lora=ADAPTERS, question="compact", max_tokens=240, context=8192, rows=4, vllm=None)
SECTIONS = ("behaviour", "failures", "statistics", "preserved", "history")
RATED = ("behaviour", "failures", "preserved", "history")
"""The sections of which a line may state a valid rate."""
USUAL = {"3": 0.85, "4": 0.87}
"""Size -> valid rate of this model after its warm start."""
CALIBRATION = 128
"""Worked answers on which the adapters come near to the warm start."""
ENGINEER = PolicyEngineer(max_tokens=600, temperature=0.3)
"""As which the model is measured."""
BATCH = 8
FALLEN = 0.3
"""By how much the rate of the fallen cell lies below the usual one, at least, where the engineer is measured."""
TOGETHER = 100
"""Answers that are written together where the engineer is measured."""
CLEAR = 0.05
"""A share that is larger by less is not the larger one."""


def spec_of(policy: str, options: argparse.Namespace, **changes: Any) -> SessionSpec:
    fields: dict[str, Any] = dict(
        title="SmolLM2, a real language model",
        policy=policy,
        language=LANGUAGE,
        engineer=RulesEngineer(),  # as its own engineer it is noise
        stages=options.stages,
        initial_config=CONFIG,
        training=TrainingSettings(
            steps=options.steps,
            boards_per_step=options.boards_per_step,
            completions_per_board=8,
            learning_rate=options.rate,
            temperature=1.0,
            optimality=0.3,
            scale_rewards="none",  # else a group in which nothing is solved weighs as much by its small change as one of 0 and 1
            credit="nearer",
        ),
        suite=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=options.held_out // 4, seed=1),
        test=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=options.held_out, seed=20260617),
        seed=options.seed,
    )
    return SessionSpec(**fields | changes)


# --- requests, and the tutor's answers -----------------------------------------------------------------------------------


def usual(cell: Any) -> float:
    return USUAL[cell.name]


def contexts(n: int, seed: int) -> Iterator[tuple[Context, Config]]:
    """Evidence as after a stage on boards of a config, and that config; half the time all sections, else any part of them."""
    rng = seeds.rng(seed, "record-smollm2/requests")
    boards = generate(CONFIG, 200, seed=seeds.derive(seed, "record-smollm2/cases"))
    for _ in range(n):
        config = drawn_config(rng)
        context = drawn_context(config, draw_rates(config.described(), rng, usual), boards, rng)
        chosen = SECTIONS if rng.random() < 0.5 else [name for name in SECTIONS if rng.random() < 0.5]
        yield showing(context, chosen), config


def drawn_config(rng: np.random.Generator) -> Config:
    """Shares and ratios as sessions come to have them."""
    share = float(rng.integers(4, 17) / 20)
    shares = dict(zip(CONFIG.cells, (share, 1 - share), strict=True))
    settings = {
        name: {"share": shares[name], "hole_ratio": rng.integers(0, 10) / 20, "wait_ratio": rng.integers(0, 15) / 20}
        for name in CONFIG.cells
    }
    return CONFIG.with_cells({name: own.model_copy(update=settings[name]) for name, own in CONFIG.cells.items()})


def drawn_context(config: Config, rates: Sequence[float], boards: Sequence[Any], rng: np.random.Generator) -> Context:
    """The evidence of a stage that never was, after which the cells have these valid rates, with boards on which a plan failed."""
    lines: dict[str, list[Evidence]] = {name: [] for name in SECTIONS}
    lines["behaviour"].append(behaviour.whole_line(rng.random(), rng.normal(0, 0.05), rng.uniform(0.02, 0.8), rng.uniform(40, 90)))
    later = rng.random() < 0.6
    for cell, rate in zip(config.described(), rates, strict=True):
        for line in draw_lines(rng, cell, config, 100, round(rate, 2), later):
            case = line.section == "failures" and "step" in line.numbers
            lines[line.section].append(shown_case(line, boards, rng) if case else line)
    return Context(stage=int(rng.integers(0, 3)), cells=config.described(), sections={name: tuple(own) for name, own in lines.items()})


def showing(context: Context, sections: Sequence[str]) -> Context:
    return context.model_copy(update={"sections": {name: own for name, own in context.sections.items() if name in sections}})


def shown_case(line: Evidence, boards: Sequence[Any], rng: np.random.Generator) -> Evidence:
    """A worked case with a board of its cell; whose plan it is does not matter to the tutor."""
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
    told = " ".join(claim.text.rpartition(" [")[0] + "." if " [" in claim.text else claim.text for claim in proposal.claims)
    claims = [
        {
            "cell": claim.cell,
            "knob": claim.knob,
            "evidence": list(claim.evidence)[:4],
            "expected_valid_percent": round(100 * (USUAL[claim.cell] if claim.expected is None else claim.expected)),
        }
        for claim in proposal.claims
    ]
    cells = {
        name: {percent_key(knob): round(100 * own.settings()[knob]) for knob in context.tasks.knobs}
        for name, own in proposal.config.cells.items()
    }
    preserved = list(proposal.preserved)
    return json.dumps(
        {"rationale": told, "claims": claims, "preserved": preserved, "cells": cells}, separators=(",", ":"), ensure_ascii=False
    )


# --- the steps -----------------------------------------------------------------------------------------------------------


def warm(folder: Path, options: argparse.Namespace) -> None:
    """All weights learn worked answers."""
    warmed_up(warm_spec(options), WarmStart(examples=options.boards, batch=16, learning_rate=3e-4), progress, kept(folder)).save(folder)


def kept(folder: Path) -> Path:
    """Where what makes ``folder`` keeps a checkpoint, from which it goes on."""
    place = folder.with_name(f"{folder.name}.unfinished")
    place.mkdir(exist_ok=True)
    return place


def warm_spec(options: argparse.Namespace) -> SessionSpec:
    """The warm start ran with the held-out boards of the preset, which are fewer."""
    return preset_spec("smollm2", seed=options.seed).changed(policy=BASE, language=LANGUAGE.model_copy(update={"lora": None}))


def unseen(rows: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """The rows of boards that the warm start has not learnt, nor a rotation or reflection of them."""
    learnt_ones = {f"{known:016x}" for known in canonical_hashes([task.board for task in shown_before(warm_spec(options), options.boards)])}  # type: ignore[attr-defined]
    boards = [Board.from_dict(json.loads(board)) for board in rows["board"]]
    return rows[[canonical_hash(board) not in learnt_ones for board in boards]]


def adapters(folder: Path, options: argparse.Namespace) -> None:
    """The warm start as adapters of the published model."""
    whole = LANGUAGE.model_copy(update={"lora": None, "dtype": "float32"})
    tuned, base = HFPolicy.load(str(folder.parent / "warm"), whole), HFPolicy.load(BASE, whole.model_copy(update={"question": "full"}))
    tasks = generate(CONFIG, CALIBRATION, seed=seeds.derive(options.seed, "record-smollm2/calibration"))
    texts = [row["input_ids"] for row in learnt(tuned, tasks)]
    base.model, base.settings = low_rank(base.model, tuned.model, texts, lora_config(LANGUAGE)), LANGUAGE
    base.save(folder)
    lighten(folder)


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """The adapters learn proposals and worked answers, mixed batch by batch: a proposal is ten times as long."""
    policy = HFPolicy.load(str(folder.parent / "adapters"), LANGUAGE.model_copy(update={"rows": 2}), to_train=True)
    tasks = generate(CONFIG, options.repeated, seed=seeds.derive(options.seed, "record-smollm2/boards"))
    plans = list(learnt(policy, tasks))
    asked = [
        as_row(
            policy,
            policy.prompt_ids([user(render_request(context))], thinking=False),
            answer(context, tutor.propose(context, config, usual)),
        )
        for context, config in contexts(options.proposals, options.seed)
    ]
    batches = [rows[first : first + BATCH] for rows in (plans, asked) for first in range(0, len(rows), BATCH)]
    order = seeds.rng(options.seed, "record-smollm2/order").permutation(len(batches))
    rows = [row for i in order for row in batches[i]]
    learn(policy, rows, WarmStart(examples=len(rows), batch=BATCH, learning_rate=3e-4), options.seed, progress, kept(folder))
    policy.save(folder)
    lighten(folder)


def lighten(folder: Path) -> None:
    """Leaves of a folder what adapters need, in bfloat16: the words are those of their base."""
    for path in folder.iterdir():
        if path.name not in (ADAPTER, ADAPTER_CONFIG, QUESTION):
            path.unlink()
    weights = {name: weight.to(torch.bfloat16) for name, weight in load_file(folder / ADAPTER).items()}
    save_file(weights, folder / ADAPTER, metadata={"format": "pt"})


def session_of(options: argparse.Namespace, name: str = SESSION, **changes: Any) -> Session:
    """The session, run to its end."""
    store = SessionStore(Path.cwd())
    begun = (store.root / name).exists()
    session = store.open(name) if begun else start(spec_of(PLANNER, options, **changes), store, name, here=True)
    if session.state().status != "done":
        run_job(Recorder(session), work)
    return session


def ship(options: argparse.Namespace) -> None:
    """The session replaces what shipped before; its last adapters are as light as those of ``planner``, and sealed anew."""
    last = options.stages - 1
    ship_sessions(Path.cwd(), [Recording(SESSION, "", (), (last,)), Recording(TWIN, "", (), ())])
    policy = Session(places.SESSIONS / SESSION).stage_dir(last) / "policy"
    lighten(policy)
    seal(policy)


# --- what came ----------------------------------------------------------------------------------------------------------


def planned(rows: pd.DataFrame) -> dict[str, Any]:
    """Valid and optimal plans of each size and in all, with Wilson intervals, and the faults."""
    found = {"all": rows} | {f"{size}x{size}": own for size, own in rows.groupby("size")}
    rates = {
        name: {"n": len(own)} | {kind: [int(own[kind].sum()), *wilson(int(own[kind].sum()), len(own))] for kind in ("valid", "optimal")}
        for name, own in found.items()
    }
    return rates | {"faults": rows.loc[~rows["valid"].astype(bool), "fault"].value_counts().to_dict()}


def in_one_cell(n: int, seed: int) -> Iterator[tuple[Context, Config, str]]:
    """Requests in which one cell has fallen and the other does as usual, their even config, and the fallen cell; in turn."""
    rng = seeds.rng(seed, "record-smollm2/fallen")
    boards = generate(CONFIG, 200, seed=seeds.derive(seed, "record-smollm2/fallen-cases"))
    for i in range(n):
        weak = list(CONFIG.cells)[i % 2]
        config = evenly(drawn_config(rng))
        rates = [rng.uniform(0, USUAL[name] - FALLEN) if name == weak else usual_now(rng, name) for name in config.cells]
        yield drawn_context(config, rates, boards, rng), config, weak


def usual_now(rng: np.random.Generator, cell: str) -> float:
    return float(np.clip(USUAL[cell] + rng.normal(0, 0.06), 0, 1))


def pairs(n: int, seed: int) -> Iterator[tuple[Context, Context, Config, str]]:
    """Two requests, all draws of which are the same but for which cell has fallen; their even config, and the cell of the first."""
    for i in range(n):
        own = seeds.derive(seed, "record-smollm2/pairs", i)
        config = evenly(drawn_config(seeds.rng(own, "config")))
        boards = generate(CONFIG, 40, seed=seeds.derive(own, "cases"))
        made = []
        for weak in config.cells:
            rates = [USUAL[name] - FALLEN - 0.1 if name == weak else USUAL[name] for name in config.cells]
            made.append(drawn_context(config, rates, boards, seeds.rng(own, "evidence")))
        yield made[0], made[1], config, next(iter(config.cells))


class Asked(NamedTuple):
    """A request, and the config that it is about."""

    context: Context
    config: Config


def answers(policy: HFPolicy, asked: Sequence[Asked], options: argparse.Namespace) -> list[Proposal | None]:
    """The first answer to each request, written together under each its own schema; None: one that cannot be used."""
    engineer = ENGINEER.build(spec_of(PLANNER, options).models(policy))
    assert isinstance(engineer, LanguageEngineer) and isinstance(policy.writer, TransformersWriter)
    draw = policy.sampling(seeds.derive(options.seed, "record-smollm2/answers"))
    draw = replace(draw, temperature=ENGINEER.temperature or 0.0)
    found: list[Proposal | None] = []
    for first in range(0, len(asked), TOGETHER):
        some = asked[first : first + TOGETHER]
        ids = [policy.prompt_ids(conversation(engineer.prompt(own.context)), thinking=False) for own in some]
        schemas = [answer_schema(own.context, engineer.bounds) for own in some]
        texts = policy.writer.write_together(ids, first, ENGINEER.max_tokens, draw, schemas, policy.ends)
        for own, text in zip(some, texts, strict=True):
            try:
                found.append(engineer.read(own.context, own.config, policy.completion(text.ids).text, 0))
            except ValueError:
                found.append(None)
    return found


def share(proposal: Proposal | None, config: Config, cell: str) -> float:
    return (proposal.config if proposal else config).cells[cell].share


def as_engineer(policy: HFPolicy, options: argparse.Namespace) -> dict[str, Any]:
    """What the engineer's answers to requests that it has never read are worth: counts of so many."""
    seed, n = options.seed + 1, options.asked
    open_ones = [Asked(context, config) for context, config in contexts(n, seed)]
    read = answers(policy, open_ones, options)
    told = [true_sentences(proposal, own.context) for proposal, own in zip(read, open_ones, strict=True) if proposal]
    found: dict[str, Any] = {
        "usable": [sum(proposal is not None for proposal in read), n],
        "true sentences": [sum(true for true, _ in told), sum(stated for _, stated in told)],
    }
    for name, sections in (("shown", SECTIONS), ("withheld", [name for name in SECTIONS if name not in RATED])):
        drawn = list(in_one_cell(n, seed))
        read = answers(policy, [Asked(showing(context, sections), config) for context, config, _ in drawn], options)
        larger = [share(own, config, weak) - 1 / len(config.cells) for own, (_, config, weak) in zip(read, drawn, strict=True) if own]
        found[f"diagnosis, {name}"] = [sum(0.5 if abs(more) < 0.005 else float(more > 0) for more in larger), n]
    two = list(pairs(n // 2, seed))
    ones = answers(policy, [Asked(one, config) for one, _, config, _ in two], options)
    others = answers(policy, [Asked(other, config) for _, other, config, _ in two], options)
    right = [
        share(one, config, weak) - share(other, config, weak) >= CLEAR
        for one, other, (_, _, config, weak) in zip(ones, others, two, strict=True)
    ]
    return found | {"pairs": [sum(right), n // 2]}


SENTENCE = re.compile(r"Size (\w+): [^.]*?(?:0\.\d\d[^.]*?)*because it is (\d+)% valid")
"""A sentence of the rationale that states a valid rate."""


def true_sentences(proposal: Proposal, context: Context) -> tuple[int, int]:
    """How many sentences of a rationale state a valid rate which a line of evidence on that cell states, and how many state one."""
    stated = SENTENCE.findall(proposal.summary)
    lines = [(line.cell, round(100 * line.numbers["valid"])) for line in context.lines if "valid" in line.numbers]
    return sum((cell, int(rate)) in lines for cell, rate in stated), len(stated)


def measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of the experiment."""
    spec = spec_of(PLANNER, options)
    test = suites_of(spec)[1]
    plans: dict[str, Any] = {}
    for name in ("warm", "adapters"):
        settings = LANGUAGE.model_copy(update={"lora": None}) if name == "warm" else LANGUAGE
        plans[name] = planned(unseen(evaluate(HFPolicy.load(str(folder / name), settings), test), options))
    session = session_of(options)
    for stage in (None, *range(options.stages)):
        rows = session.results(stage)
        assert rows is not None, "the session has run to its end"
        plans[PLANNER if stage is None else f"stage {stage + 1}"] = planned(unseen(rows, options))
    last = str(session.stage_dir(options.stages - 1) / "policy")
    published = HFPolicy.load(BASE, LANGUAGE.model_copy(update={"question": "full"}))
    models = {"published": published, PLANNER: HFPolicy.load(PLANNER, LANGUAGE), "last": HFPolicy.load(last, LANGUAGE)}
    return {"plans": plans, "engineer": {name: as_engineer(model, options) for name, model in models.items()}}


def progress(done: int, of: int, loss: float) -> None:
    if done % 10 == 0 or done == of:
        print(f"step {done} of {of}, loss {loss:.3f}", flush=True)


STEPS = {"warm": warm, "adapters": adapters, "planner": lessons}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--until", choices=[*STEPS, SESSION], help="the last step; none: to the end")
    parser.add_argument("--boards", type=int, default=8000, help="worked answers of the warm start")
    parser.add_argument("--repeated", type=int, default=1200, help="worked answers among the proposals")
    parser.add_argument("--proposals", type=int, default=600)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--steps", type=int, default=25, help="of a stage")
    parser.add_argument("--boards-per-step", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-5, help="learning rate of GRPO")
    parser.add_argument("--held-out", type=int, default=220, help="test boards of each size; a quarter as many for validation")
    parser.add_argument("--asked", type=int, default=100, help="requests by which the engineer is measured")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # what is recorded names no folder of this machine
    for name, make in STEPS.items():
        if not (folder / name).exists():
            scratch = folder / f".{name}"
            shutil.rmtree(scratch, ignore_errors=True)
            make(scratch, options)
            scratch.rename(folder / name)
            shutil.rmtree(folder / f".{name}.unfinished", ignore_errors=True)
        if options.until == name:
            return
    shutil.copytree(folder / "planner", policy_folder(PLANNER), dirs_exist_ok=True)
    session_of(options)
    session_of(options, TWIN, engineer=FixedEngineer(), title="SmolLM2, config kept")
    ship(options)
    if options.until is None:
        write_text(folder / "measured.json", json.dumps(measured(folder, options), indent=1))


if __name__ == "__main__":
    main()
