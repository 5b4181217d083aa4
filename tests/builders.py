"""Builds small test data: a complete session folder without training, on real boards and judged by the real rules."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from frozenlab.base.files import append_line, write_parquet, write_text
from frozenlab.engineer.ask import ask
from frozenlab.engineer.dialects.lab import render_context, render_proposal
from frozenlab.engineer.engineers.rules import propose
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Attempt, Context, GuardReport, Proposal, ProposalRecord, Written
from frozenlab.engineer.sections import describe
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.benchmark.report import Measured
from frozenlab.experiments.benchmark.results import Result, results_folder, save_result
from frozenlab.jobs.state import Status
from frozenlab.lake.board import MOVES
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig
from frozenlab.lake.draw.generator import generate, realised
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.evaluation import answer_row, frame
from frozenlab.models.policy import Completion
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.session import EnvironmentRecord, Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State, ValidRate
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.dialects import parse_plan, render_plan
from frozenlab.tasks.lake.family import LAKE

BEGAN = 1_780_000_000.0
"""When built sessions began (unix seconds)."""


def small_spec(
    stages: int = 3,
    sizes: tuple[int, ...] = (3, 4, 5, 6),
    sections: tuple[str, ...] = ("behaviour", "failures", "statistics", "preserved"),
    boards_per_size: int = 12,
    **fields: Any,
) -> SessionSpec:
    """A spec whose session could be run in a minute; the history section is off."""
    return SessionSpec(
        title=fields.pop("title", "Built session"),
        stages=stages,
        sections=sections,
        initial_config=EnvironmentConfig.uniform(sizes, agents=2),
        training=TrainingSettings(steps=8, boards_per_step=8, completions_per_board=4),
        suite=SuiteSpec(agents=(2,), sizes=sizes, boards_per_cell=boards_per_size, seed=7),
        **fields,
    )


def short_spec(engineer: Any = "policy", seed: int = 3, steps: int = 3, **fields: Any) -> SessionSpec:
    """A spec whose session is trained in a few seconds: two stages of a few steps."""
    usual = {
        "title": "small",
        "stages": 2,
        "initial_config": EnvironmentConfig.uniform((3, 4), agents=2),
        "training": TrainingSettings(steps=steps, boards_per_step=4, completions_per_board=4),
        "suite": SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=5, seed=1),
    }
    return SessionSpec(engineer=engineer, seed=seed, **(usual | fields))


SEALED = {"test": SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=6, seed=1), "ask_first": True}
"""Test boards that no engineer sees, and an engineer that is asked before the first stage."""


def build_session(
    root: Path,
    spec: SessionSpec | None = None,
    session_id: str = "built",
    *,
    status: Status = "done",
    finished_stages: int | None = None,
    broken_stage: int | None = None,
) -> Session:
    """A session folder in ``root`` as a worker would have left it. It is built once in a test process, and then copied.

    Args:
        finished_stages: stages that are complete; the one after them is in the middle of its training. Default: all.
        broken_stage: after this stage no answer of the engineer could be used.
    """
    spec = spec or small_spec()
    asked = (spec.model_dump_json(), status, finished_stages, broken_stage)
    if asked not in _built:
        name = f"built-{len(_built)}"
        _built[asked] = _build(Path(_shelf.name), spec, name, status, finished_stages, broken_stage).dir
    return Session(Path(shutil.copytree(_built[asked], root.resolve() / session_id, copy_function=shutil.copy)))  # with a time of its own


_shelf = tempfile.TemporaryDirectory(prefix="built-sessions-")
_built: dict[tuple[str, Status, int | None, int | None], Path] = {}


def _build(
    root: Path, spec: SessionSpec, session_id: str, status: Status, finished_stages: int | None, broken_stage: int | None
) -> Session:
    session = SessionStore(root).create(spec, session_id)
    finished = spec.stages if finished_stages is None else finished_stages
    suite, test = (
        generate(spec.initial_config, of.boards_per_cell * len(of.sizes), seed=number + of.seed, sum_of_costs=True) if of else []
        for number, of in enumerate((spec.suite, spec.test))
    )
    events = [{"kind": "started", "method": spec.training.method, "engineer": spec.engineer.kind, "stages": spec.stages}]
    rates: list[ValidRate] = []

    def validated(stage: int | None, skill: float) -> pd.DataFrame:
        folder = session.stage_dir(stage)
        folder.mkdir(parents=True, exist_ok=True)
        measured = {"validation": answers(suite, skill, seed=spec.seed)} | (
            {"test": answers(test, skill, seed=spec.seed + 1)} if test else {}
        )
        for name, table in measured.items():
            write_parquet(folder / f"{name}.parquet", table)
            rate = ValidRate(stage=stage, valid=table["valid"].mean(), optimal=table["optimal"].mean(), n=len(table))
            kind = "tested" if name == "test" else "baseline" if stage is None else "validated"
            events.append({"kind": kind, **rate.model_dump()})
        rates.append(rate)
        return measured["validation"]

    def proposed(measured: StageMeasurements) -> ProposalRecord:
        context = describe(measured, spec.sections)
        context = context.model_copy(update={"prompt": render_context(context)})
        broken = measured.stage is not None and measured.stage == broken_stage
        record = _broken(spec, context, config) if broken else _proposed(spec, context, config)
        write_text(session.stage_dir(measured.stage) / "context.json", context.model_dump_json())
        write_text(session.stage_dir(measured.stage) / "proposal.json", record.model_dump_json())
        events.append({"kind": "proposed", "stage": measured.stage, "changes": len(record.changes), "kept_because": record.kept_because})
        return record

    before = validated(None, 0.0)
    config, last = spec.initial_config, None
    if spec.ask_first:
        boards = generate(config, spec.training.steps * spec.training.boards_per_step, seed=0)
        record = EnvironmentRecord(stage=None, seed=0, config=config, realised=realised(boards))
        write_text(session.stage_dir(None) / "environment.json", record.model_dump_json())
        last = proposed(session.measurements(None))
        config = last.config_after
    for stage in range(min(finished + 1, spec.stages)):
        complete = stage < finished
        folder = session.stage_dir(stage)
        folder.mkdir(parents=True, exist_ok=True)
        boards = generate(config, spec.training.steps * spec.training.boards_per_step, seed=stage)
        record = EnvironmentRecord(stage=stage, seed=stage, config=config, realised=realised(boards))
        write_text(folder / "environment.json", record.model_dump_json())
        events.append({"kind": "stage", "stage": stage, "boards": len(boards)})
        _train(session, boards, stage, spec.training.steps if complete else spec.training.steps // 2)
        if not complete:
            break
        after = validated(stage, (stage + 1) / spec.stages)
        measured = stage, config, record.realised, session.metrics(stage), after, before, last, spec.training.method
        last = proposed(StageMeasurements(*measured))
        config, before = last.config_after, after
    done = status == "done"
    running = status in ("running", "queued", "stalled")
    state = State(
        status=status, phase="done" if done else "training", stage=min(finished, spec.stages - 1),
        step=spec.training.steps // (1 if done else 2),
        steps=spec.training.steps, progress=1.0 if done else (finished + 0.5) / spec.stages, seconds_left=90.0 if running else None,
        heartbeat=BEGAN + 300, started=BEGAN, finished=None if running else BEGAN + 300, rates=rates,
    )  # fmt: skip
    write_text(session.dir / "state.json", state.model_dump_json())
    if not running:
        events.append({"kind": status})
    for i, event in enumerate(events):
        append_line(session.dir / "events.jsonl", {"time": BEGAN + 10 * i} | event)
    return Session(session.dir)


def answers(suite: list[Instance], skill: float, seed: int) -> pd.DataFrame:
    """A validation table of an imagined policy: small boards are easy, and ``skill`` (0..1) helps. What it gets right stays right."""
    return frame([_answer(instance, skill, random.Random(f"{seed}-{i}")) for i, instance in enumerate(suite)], LAKE)


def _answer(instance: Instance, skill: float, rng: random.Random) -> dict[str, Any]:
    """One row: right with a chance that falls with the board's size and rises with ``skill``."""
    paths = _plan(instance, rng.random() < 1.15 - 0.13 * instance.board.size + 0.45 * skill, rng)
    text = render_plan(paths)
    completion = Completion(text, len(text.split()) + 1, finished=True)
    return answer_row(LAKE, instance, completion, parse_plan(instance.board, text, finished=True))


def _plan(instance: Instance, good: bool, rng: random.Random) -> Paths:
    """The optimal plan, or one with a few moves of one agent replaced."""
    plan = list(instance.solution.plan or ())
    if not good:
        agent = rng.randrange(len(plan))
        moves = list(plan[agent])
        for _ in range(2):
            moves[rng.randrange(len(moves))] = rng.choice([letter for letter in MOVES])
        plan[agent] = "".join(moves)
    return walk(instance.board, tuple(plan))


def _train(session: Session, boards: list[Instance], stage: int, steps: int) -> None:
    """Metrics and sampled completions of the first ``steps`` steps."""
    training, rng, kept = session.spec.training, random.Random(stage), []
    for step in range(1, steps + 1):
        drawn = boards[(step - 1) * training.boards_per_step :][: training.boards_per_step]
        skill = (stage + step / training.steps) / session.spec.stages
        rows = [_answer(board, skill, rng) for board in drawn]
        table = pd.DataFrame(rows)
        figures: dict[str, float] = {
            "step": step, "reward": float(table["valid"].mean() * 0.8 + 0.1), "reward_std": 0.2,
            "valid": float(table["valid"].mean()), "optimal": float(table["optimal"].mean()),
            "entropy": 0.3 - 0.02 * step, "length": float(table["tokens"].mean()),
            "learning_rate": training.learning_rate, "grad_norm": 1.0, "seconds": 2.0,
        }  # fmt: skip
        if training.method != "grpo":
            figures |= {"loss": 0.5 - 0.02 * step, "learnt": len(rows)}
        for cell, part in table.groupby("config_cell"):
            figures |= {f"valid_{cell}": float(part["valid"].mean()), f"optimal_{cell}": float(part["optimal"].mean())}
        append_line(session.stage_dir(stage) / "metrics.jsonl", figures)
        kept += [row | {"training_step": step, "reward": 1.0 if row["valid"] else 0.1} for row in rows]
    write_parquet(session.stage_dir(stage) / "completions.parquet", pd.DataFrame(kept).astype(LAKE.columns))


class _SaysTheRules:
    """An engineer that says what the rules say, in the lab dialect, as the lab model does."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def prompt(self, context: Context) -> str | None:
        return render_context(context)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        share = 1 / len(context.cells)
        even = EnvironmentConfig.of(CellConfig.model_validate(cell.place | {"share": share}) for cell in context.cells)
        text = render_proposal(context, propose(context, even))
        return Written(text, tokens=len(text.split()))

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        return propose(context, config)


def _proposed(spec: SessionSpec, context: Context, config: EnvironmentConfig) -> ProposalRecord:
    engineer = spec.engineer if isinstance(spec.engineer, Scripted) and not spec.engineer.needs else _SaysTheRules(spec.engineer.kind)
    return ask(engineer, context, config, GuardSettings(max_step=0.05, min_share=spec.guard.min_share), seed=0)


def _broken(spec: SessionSpec, context: Context, config: EnvironmentConfig) -> ProposalRecord:
    attempts = tuple(
        Attempt(raw="size3 size3 ![x](http://example.com/x)", error="word 2 is 'size3', expected now", tokens=3, seconds=0.1)
        for _ in range(2)
    )
    return ProposalRecord(
        stage=context.stage, engineer=spec.engineer.kind, attempts=attempts, proposal=None, guard=GuardReport(rejected=attempts[-1].error),
        config_before=config, config_after=config, changes=(),
        kept_because=f"no answer could be used after 2 attempts: {attempts[-1].error}",
    )  # fmt: skip


def build_result(
    root: Path, result_id: str, boards: list[Instance], skill: float, *, spec: SuiteSpec | None = None, seed: int = 0, **measured: Any
) -> Result:
    """A result in the sessions folder ``root``: ``boards`` answered by an imagined policy of this ``skill``."""
    rows = answers(boards, skill, seed)
    measured_task = Measured(**({"title": result_id, "model": "lab model", "suite": "paper"} | measured))
    folder = results_folder(SessionStore(root)) / result_id
    report = LakeReport.of(rows, measured_task, id=result_id, checkpoint_sha256="a" * 64, suite_spec=spec, created=BEGAN, seconds=9.0)
    save_result(folder, report, rows)
    return Result(folder)
