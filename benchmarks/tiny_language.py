"""The whole way of a language model on a processor: random weights, warm start, GRPO; how many plans are valid after each.

    python -m benchmarks.tiny_language FOLDER [--examples 8000] [--stages 2] [--steps 20]

A Qwen3 of a million random weights (:mod:`benchmarks.tiny_qwen3`) learns worked answers on boards of 3x3 and 4x4, then a session trains it
by GRPO with itself as engineer. Everything stays in FOLDER: ``base``, ``warm`` and the session; run again, it goes on where it was stopped.
Printed are valid rates on the same held-out boards with Wilson intervals, and how many of the engineer's answers could be used.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.tiny_qwen3 import build
from frozenlab.engineer.engineers import PolicyEngineer
from frozenlab.intervals import wilson
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.loop.launch import claim
from frozenlab.loop.loop import run
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import SessionStore
from frozenlab.loop.warm_start import warmed_up
from frozenlab.policy.evaluation import evaluate
from frozenlab.policy.language.policy import HFPolicy
from frozenlab.policy.settings import LanguageSettings
from frozenlab.training.settings import TrainingSettings
from frozenlab.training.warm_start import WarmStart

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.2, wait_ratio=0.2)
LANGUAGE = LanguageSettings(dtype="float32", device="cpu", lora=None, vllm=None, rows=16, max_tokens=600, context=16_384)


def spec_of(model: Path, options: argparse.Namespace) -> SessionSpec:
    return SessionSpec(
        title="Tiny language model",
        policy=str(model),
        language=LANGUAGE,
        engineer=PolicyEngineer(max_tokens=2000),
        stages=options.stages,
        initial_config=CONFIG,
        training=TrainingSettings(
            steps=options.steps,
            boards_per_step=8,
            completions_per_board=8,
            learning_rate=options.rate,
            temperature=1.0,
            schedule="constant",
        ),
        suite=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=options.boards, seed=1),
        seed=options.seed,
    )


def told(name: str, rows: pd.DataFrame) -> None:
    """One line: the valid and optimal plans of each size."""
    sizes = []
    for size, of_size in rows.groupby("size"):
        valid, n = int(of_size["valid"].sum()), len(of_size)
        low, high = wilson(valid, n)
        sizes.append(f"{size}x{size}: {valid} of {n} valid ({low:.0%} to {high:.0%}), {int(of_size['optimal'].sum())} optimal")
    print(f"{name:<22} {'; '.join(sizes)}", flush=True)


def session_in(folder: Path, spec: SessionSpec) -> Session:
    """The session, run to its end."""
    store = SessionStore(folder)
    session = store.open("grpo") if (folder / "grpo").exists() else claim(spec, store, "grpo")
    run(session, Recorder(session))
    return session


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--examples", type=int, default=8000, help="worked answers of the warm start")
    parser.add_argument("--stages", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20, help="of a stage")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate of GRPO")
    parser.add_argument("--boards", type=int, default=100, help="held-out boards of each size")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    base, warm = folder / "base", folder / "warm"
    if not base.exists():
        build(base, CONFIG, options.seed)
    began = time.time()
    suite = spec_of(base, options).tasks.suite(spec_of(base, options).suite, CONFIG)
    told("random weights", evaluate(HFPolicy.load(str(base), LANGUAGE), suite))
    if not warm.exists():
        warmed_up(spec_of(base, options), WarmStart(examples=options.examples, batch=16, learning_rate=5e-3)).save(warm)
    session = session_in(folder / "sessions", spec_of(warm, options))
    told("after the warm start", table(session, None))
    asked = usable = 0
    for stage in range(options.stages):
        told(f"after stage {stage + 1} of GRPO", table(session, stage))
        record = session.proposal(stage)
        assert record is not None, "the session has run to its end"
        asked, usable = asked + len(record.attempts), usable + (record.proposal is not None)
    print(f"{usable} of the engineer's {asked} answers could be used; {time.time() - began:.0f} s")


def table(session: Session, stage: int | None) -> pd.DataFrame:
    found = session.validation(stage)
    assert found is not None, "the session has run to its end"
    return found


if __name__ == "__main__":
    main()
