"""The loop: train, validate, describe, propose, guard, and again (Figure 1 of Chen et al. 2026).

Every part writes what it made to the session folder at once and reads it from there if it is already done, so the same loop starts a
session and resumes one. Importing this module imports torch: only the worker process and the command line do.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.base.errors import GenerationError
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers.human import Decision
from frozenlab.engineer.protocol import Engineer
from frozenlab.engineer.schema import Context, GuardReport, ProposalRecord
from frozenlab.engineer.sections import describe
from frozenlab.jobs.disk import check_room, size_of
from frozenlab.jobs.machine import THREADS
from frozenlab.models.evaluation import evaluate
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Progress
from frozenlab.models.settings import WarmStart
from frozenlab.models.training.checkpoints import drop_resume_files
from frozenlab.models.training.methods import BY_NAME
from frozenlab.models.training.runs.language_grpo import LanguageGRPORun
from frozenlab.models.training.stage_run import StageRun, train_stage
from frozenlab.models.training.warm_start import Progress as WarmStartProgress
from frozenlab.models.training.warm_start import warm_start
from frozenlab.session.footprint import checkpoints
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import GIVEN_FILE, EnvironmentRecord, Session, SessionError, SuiteName, stages_to_train
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import Phase
from frozenlab.tasks.task import Task


def work(recorder: Recorder) -> None:
    """Run the whole session from where it stands. Raises Stopped if it is asked to stop, AwaitsProposal if a person has to decide."""
    torch.set_num_threads(THREADS)
    session, spec = recorder.job, recorder.job.spec
    policy = load_policy(spec.policy, spec.language, spec.seed, spec.tasks, to_train=True)
    suite, test = suites_of(spec)
    training = make_training(policy, session)
    engineer = spec.engineer.build(spec.models(policy))
    config = spec.initial_config
    lacking = stages_to_train(session)
    measure(policy, "validation", suite, None, recorder)
    measure(policy, "test", test, None, recorder)
    if spec.ask_first:
        draw_boards(config, suite + test, None, recorder)
        context = describe(session.measurements(None), spec.sections, spec.layouts)
        config = propose(engineer, context, config, recorder).config_after
    for stage in range(spec.stages):
        try:
            boards = draw_boards(config, suite + test, stage, recorder)
        except GenerationError as reason:
            config = keep_config(stage, reason, recorder)
            boards = draw_boards(config, suite + test, stage, recorder)
        train(training, boards, stage, lacking, recorder)
        measure(policy, "validation", suite, stage, recorder)
        measure(policy, "test", test, stage, recorder)
        if "person" in spec.engineer.needs and stage + 1 == spec.stages:
            break  # no stage would train on what a person thinks of here
        context = describe(session.measurements(stage), spec.sections, spec.layouts)
        config = propose(engineer, context, config, recorder).config_after
    if spec.heavy:
        drop_resume_files(session.stage_dir(spec.stages - 1) / "policy")


def suites_of(spec: SessionSpec) -> tuple[list[Task], list[Task]]:
    """The validation boards and the test boards; no board is in both, nor its rotation or reflection."""
    suite = spec.tasks.suite(spec.suite, spec.initial_config)
    return suite, spec.tasks.suite(spec.test, spec.initial_config, suite) if spec.test else []


def boards_of(config: Config, kept_out: list[Task], spec: SessionSpec, seed: int) -> list[Task]:
    """The boards that a stage trains on, none of them in ``kept_out`` or a named suite; ``seed`` is the stage's own, which its
    ``environment.json`` keeps."""
    return spec.tasks.draw(config, spec.training.steps * spec.training.boards_per_step, seed, kept_out)


def draw_boards(config: Config, kept_out: list[Task], stage: int | None, recorder: Recorder) -> list[Task]:
    """The stage's boards, the same again after a resume. Stage None: the boards of the first stage if the initial config is kept, for the
    engineer's context."""
    recorder.phase("asking" if stage is None else "generating", stage)
    session, number = recorder.job, stage or 0
    known, seed = session.environment(stage), seeds.derive(session.spec.seed, "stage/boards", number)
    if known is not None and known.seed in (seed, session.spec.seed * 1000 + number):
        seed = known.seed  # an older version drew by the second
    else:
        known = None
    boards = boards_of(config, kept_out, session.spec, seed)
    if known is None:
        if (session.stage_dir(stage) / "environment.json").exists():
            what = "environment.json of the baseline" if stage is None else f"environment.json of stage {stage + 1}"
            recorder.event("damaged", stage=stage, what=what, then="it is written again")
        record = EnvironmentRecord(stage=stage, seed=seed, config=config, realised=dict(session.spec.tasks.realised(boards)))
        recorder.write_model(stage, "environment.json", record)
        if stage is not None:
            recorder.event("stage", stage=stage, boards=len(boards))
    return boards


def keep_config(stage: int, reason: GenerationError, recorder: Recorder) -> Config:
    """The config before the proposal, if the proposed one cannot be drawn; the proposal's record then says so.
    Raises the reason if there is no such proposal, or it changed nothing.

    The guard refuses what it sees to be undrawable; it does not draw a whole stage.
    """
    record = recorder.job.proposal(stage - 1 if stage else None)
    if record is None or not record.changes:
        raise reason
    why = f"its boards cannot be drawn: {reason}"
    refused = {
        "proposal": None,
        "guard": GuardReport(rejected=why),
        "config_after": record.config_before,
        "changes": (),
        "kept_because": why,
    }
    kept = record.model_copy(update=refused)
    recorder.write_model(record.stage, "proposal.json", kept)
    recorder.proposed(kept)
    return kept.config_after


def make_training(policy: Policy, session: Session) -> StageRun:
    """What trains the policy by the session's method; for a language model with its vLLM engine, which writes from then on."""
    spec = session.spec
    training = BY_NAME[spec.training.method].run(policy, spec.training, stages=spec.stages, seed=spec.seed)
    training.learns_at_once = spec.schema_version > 2
    if isinstance(training, LanguageGRPORun):
        training.checkpoints = checkpoints(spec)
        training.start_engine(session.dir)
    return training


def train(training: StageRun, boards: list[Task], stage: int, lacking: dict[int, str | None], recorder: Recorder) -> None:
    """Trains on the boards if the stage is among those that are ``lacking``; one that is trained is loaded instead."""
    session = recorder.job
    folder = session.stage_dir(stage)
    trained = folder / "policy"
    if stage not in lacking:
        training.policy.take_weights(trained)
        shutil.rmtree(folder / "trainer", ignore_errors=True)  # what a worker left that was killed while it cleared up
        return
    if lacking[stage]:
        recorder.event("damaged", stage=stage, what=lacking[stage], then=f"stage {stage + 1} is trained again")
    recorder.phase("training", stage)
    check_room(session.dir, training.room() - size_of(folder / "trainer"), f"stage {stage + 1}")
    previous = session.stage_dir(stage - 1) / "policy" if stage else None
    train_stage(
        training,
        boards,
        stage=stage,
        folder=folder,
        previous=previous,
        recorded=session.recorded_steps(stage),
        report=lambda figures, rows, saving: recorder.step(stage, figures, rows, saving),
        stopping=recorder.stopping,
    )
    if previous and session.spec.heavy:
        drop_resume_files(previous)


def measure(policy: Policy, suite: SuiteName, boards: list[Task], stage: int | None, recorder: Recorder) -> None:
    """Plans for every board of a suite; stage None is the base, before training. Those for test boards are for results only and never part
    of a context."""

    def progress(done: int) -> None:
        recorder.fraction(done / len(boards))
        recorder.stop_if_asked()

    if agreed(not is_whole(recorder.job.answers(suite, stage), boards), recorder.job.spec):
        phase: Phase = "validating" if suite == "validation" else "testing"
        recorder.phase("baseline" if stage is None else phase, stage)
        recorder.measured(suite, stage, answers(policy, boards, recorder.job.spec, progress))


def is_whole(table: pd.DataFrame | None, boards: list[Task]) -> bool:
    """Whether a table holds all these boards: one that lacks some is no measurement."""
    return not boards or (table is not None and table["board_id"].nunique() == len(boards))


def propose(engineer: Engineer, context: Context, config: Config, recorder: Recorder) -> ProposalRecord:
    """The engineer's answer to the context, after the guard. Context and answer are written before the session acts on them.

    A person's proposal for this stage takes precedence over the engineer. Raises AwaitsProposal if a person is to be asked.
    """
    session, spec = recorder.job, recorder.job.spec
    record, given = session.proposal(context.stage), session.given(context.stage)
    if record is None and given is None and (session.stage_dir(context.stage) / GIVEN_FILE).exists():
        raise SessionError(f"{session.problems[-1]}. Mend or delete it, then resume")
    engineer, known = Decision(given=given) if given else engineer, session.context(context.stage)
    if record is not None and known is not None:
        return record
    if record is None:
        recorder.phase("asking" if context.stage is None else "proposing", context.stage)
    shown = context.model_copy(update={"prompt": engineer.prompt(context)})
    if known is None:
        recorder.write_model(context.stage, "context.json", shown)  # so that people see what it is asked
    if record is None:
        draws = seeds.derive(spec.seed, "stage/proposal", -1 if context.stage is None else context.stage)
        record = ask(engineer, context, config, spec.guard, seed=draws)
        check_trained_on(record, session)
        if known is not None:
            recorder.write_model(context.stage, "context.json", shown)  # what stood there may be of another engineer
        recorder.write_model(context.stage, "proposal.json", record)
        recorder.proposed(record)
    return record


def check_trained_on(record: ProposalRecord, session: Session) -> None:
    """Raises SessionError if the next stage has boards of another config than this answer gives. So the engineer was asked before and its
    answer is lost, and now it answers otherwise: an API's model, or the engineer of a fork in the place of its parent's."""
    stage = 0 if record.stage is None else record.stage + 1
    drawn = session.environment(stage)
    if drawn is not None and drawn.config != record.config_after:
        lost, later = (session.stage_dir(each).relative_to(session.dir) for each in (record.stage, stage))
        raise SessionError(
            f"{lost}/proposal.json is lost, and the engineer, asked again, chooses another config than stage {stage + 1} was given. "
            f"Put the file back, or delete {later} and what follows it, then resume"
        )


def shared(spec: SessionSpec) -> bool:
    """Whether several processes train together, and so answer together."""
    return spec.language is not None and spec.language.launcher.processes > 1


def agreed(lacking: bool, spec: SessionSpec) -> bool:
    """What the first of the session's processes says: it alone keeps the tables, so it knows whether a measurement is lacking."""
    if not shared(spec):
        return lacking
    [said] = broadcast_object_list([lacking])
    return said


def answers(policy: Policy, tasks: list[Task], spec: SessionSpec, on_progress: Progress | None = None) -> pd.DataFrame:
    """One answer to each task, one row each, in their order; where answers are drawn, by the same seed at every stage.

    Of N processes each answers every N-th task, so that each gets some of every size; all of them get the whole table.
    ``on_progress`` is called with how many of all tasks are done, as far as this process knows.
    """
    if not shared(spec):
        return evaluate(policy, tasks, policy.sampling(seeds.derive(spec.seed, "stage/measured")), on_progress)
    processes = PartialState()
    number, of = processes.process_index, processes.num_processes
    own = evaluate(
        policy,
        tasks[number::of],
        policy.sampling(seeds.derive(spec.seed, "stage/measured by several", number)),
        None if on_progress is None else lambda done: on_progress(min(len(tasks), done * of)),
    )
    parts: list[pd.DataFrame] = gather_object([own])
    return pd.concat([parts[i % of].iloc[[i // of]] for i in range(len(tasks))], ignore_index=True)


def warmed_up(
    spec: SessionSpec, settings: WarmStart, on_progress: WarmStartProgress = lambda *_: None, folder: Path | None = None
) -> HFPolicy:
    """The spec's language model after it has learnt worked answers to tasks of the first config; those that the session measures are not
    among them. ``folder`` is that of the warm start's checkpoint, if it keeps one.

    Raises:
        DiskFullError: the folder has no room for checkpoints.
        WarmStartError: the family shows no answers, or one is longer than the spec lets an answer be.
        GenerationError: the config's tasks cannot be drawn.
    """
    assert spec.language is not None, "a lab model has had its warm start"
    policy = HFPolicy.load(spec.policy, spec.language, spec.seed, spec.tasks, to_train=True)
    warm_start(policy, shown_before(spec, settings.examples), settings, spec.seed, on_progress, folder)
    return policy


def shown_before(spec: SessionSpec, examples: int) -> list[Task]:
    """The tasks of a warm start. Raises GenerationError."""
    suite, test = suites_of(spec)
    return spec.tasks.draw(spec.initial_config, examples, seeds.derive(spec.seed, "warm-start/tasks"), suite + test)
