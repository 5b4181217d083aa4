"""The recorder of a session: everything that a running session writes goes through here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from frozenlab.base.files import append_line, json_line, sync, write_parquet, write_text
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.queue.notify import notify_alarm
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.state import Alarm, Status, own_process
from frozenlab.session.health.alerts import Alert, of_machine, of_results, of_steps, of_suite
from frozenlab.session.reading import columns_of
from frozenlab.session.session import Session, SuiteName
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import BEFORE_TRAINING, Phase, State, ValidRate
from frozenlab.session.tracking import Tracking

COMPLETIONS_EVERY = 5
"""Steps between rewrites of the completions table."""
LANGUAGE_PLAN = 3.0
"""Answers to held-out tasks that take as long as one plan of a language model in training: it is written, read and learnt."""


def parts_of(spec: SessionSpec) -> tuple[float, float, dict[Phase, tuple[float, float]]]:
    """For the progress bar: which part of the session the measurements before training are, which part of these is validation, and begin
    and end of each phase as parts of a stage. Counted in answers, so that a long test after little training takes its part."""
    validation, test = spec.held_out
    plans = spec.training.plans_per_stage * (LANGUAGE_PLAN if spec.language else 1.0)
    work: dict[Phase, float] = {
        "generating": 0.02 * plans, "training": plans, "validating": validation, "testing": test, "proposing": 0.01 * plans,
    }  # fmt: skip
    ends = [done / sum(work.values()) for done in accumulate(work.values())]
    base = validation + test
    of_stage = dict(zip(work, pairwise([0.0, *ends]), strict=True))
    return base / (base + spec.stages * sum(work.values())), validation / base, of_stage


class Recorder(JobRecorder[Session]):
    """Writes a session's state, events and tables as they come, and checks whether it should stop."""

    state: State

    def __init__(self, session: Session) -> None:
        self.completions: list[dict[str, Any]] | None = None
        """Completions of the stage in training; None until its first step."""
        self.learnt: list[dict[str, float]] = []
        """Figures of the steps of the stage in training that this worker did."""
        self.alerts: list[Alert] = []
        """What is wrong with the newest results, or with the boards that give them."""
        self.alarmed: set[str] = set()
        """Rules that have given an alarm: each gives one event a session."""
        self.base, self.validation, self.share_of_stage = parts_of(session.spec)
        self.tracking = Tracking(session, lambda why: self.event("tracking", why=why))
        super().__init__(session)

    def fresh_state(self) -> State:
        return State(
            status="running",
            **own_process(),
            patience=self.job.patience,
            started=self.job.state().started or time.time(),
            steps=self.job.spec.training.steps,
            phase_since=time.time(),
        )

    @property
    def under_way(self) -> bool:
        """What comes before the first step has another pace than the rest."""
        return self.state.phase == "training" and bool(self.state.step)

    # --- called by the loop ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin: the worker holds the session. Figures come from the tables, whatever ``state.json`` says."""
        session, spec = self.job, self.job.spec
        super().begin()
        self.state.rates, self.state.answers = session.rates(), session.usable_answers()
        earlier = session.events()
        kind = "resumed" if earlier else "started"
        self.alarmed = {str(event.get("rule")) for event in earlier if event.get("kind") == "alarm"}
        self.event(kind, method=spec.training.method, engineer=spec.engineer.kind, stages=spec.stages)
        self.tracking.begin()
        self.write()

    def phase(self, phase: Phase, stage: int | None) -> None:
        """Record that a phase begins; stage None is the time before training. Raises Stopped if the session was asked to stop."""
        self.stop_if_asked()
        self.state.phase, self.state.stage, self.state.phase_since = phase, stage or 0, time.time()
        if phase == "training":
            self.completions, self.learnt = None, []
            self.alerts = [*of_results(self.job, self.state.stage), *of_suite(self.job, self.state.stage)]
        else:
            self.state.step = 0
        self.fraction(0.0)

    def fraction(self, done: float) -> None:
        """Record how much of the current phase is done, 0..1."""
        state, stages = self.state, self.job.spec.stages
        state.phase_done = done
        if state.phase in BEFORE_TRAINING:
            validated = (self.job.stage_dir(None) / "validation.parquet").exists()
            begin, end = (1.0, 1.0) if state.phase == "asking" else (self.validation, 1.0) if validated else (0.0, self.validation)
            state.progress = self.base * (begin + (end - begin) * done)
        elif state.phase != "done":
            begin, end = self.share_of_stage[state.phase]
            state.progress = self.base + (1 - self.base) * (state.stage + begin + (end - begin) * done) / stages
        self.write()

    def step(self, stage: int, figures: dict[str, float], rows: list[dict[str, Any]], saving: bool) -> None:
        """Record one training step: its metrics line and sampled completions. They reach the disk before the next checkpoint does."""
        self.state.step = int(figures["step"])
        if self.completions is None:
            self.completions = self._recorded_before(stage, self.state.step)
        append_line(self._stage_dir(stage) / "metrics.jsonl", figures)
        self.completions += rows
        if saving or self.state.step % COMPLETIONS_EVERY == 0:
            columns = columns_of(self.job.spec.tasks, trained=True)
            table = pd.DataFrame(self.completions, columns=list(columns)).astype(columns)
            write_parquet(self._stage_dir(stage) / "completions.parquet", table)
            sync(self._stage_dir(stage) / "metrics.jsonl")
        shown = {name: figures[name] for name in ("reward", "loss", "valid") if name in figures}
        self.event("step", stage=stage, step=self.state.step, **shown)
        self.tracking.step(stage, figures)
        self.learnt.append(figures)
        self.look_after(of_steps(pd.DataFrame(self.learnt)))
        self.fraction(self.state.step / self.state.steps)

    def measured(self, suite: SuiteName, stage: int | None, rows: pd.DataFrame) -> None:
        """Record the plans on the boards of a suite."""
        write_parquet(self._stage_dir(stage) / f"{suite}.parquet", rows)
        if suite == "test" and self.job.suite == "validation":
            self.event("tested", stage=stage)  # a person, who may still decide, reads the log
        else:
            self._tell(suite, stage, rows, shown=suite == self.job.suite)
        if suite == "validation" and stage is not None:
            results, self.alerts = [*of_results(self.job, stage)], [*of_suite(self.job, stage)]
            self.look_after(results)
            self.alerts += results
            self.write()

    def look_after(self, new: Sequence[Alert]) -> None:
        """Note what is wrong now, record an event for each rule once, and ask the session to stop, as a person would, if its spec names one
        of those that are ``new``."""
        found = [*new, *self.alerts, *of_machine(self.job)]
        self.state.alarms = [Alarm(rule=alert.rule, evidence=alert.evidence) for alert in found]
        stopping = self.stopping()  # a step may follow the one that asked
        stops = None if stopping else next((alert for alert in new if alert.rule in self.job.spec.stop_if), None)
        for alert, alarm in zip(found, self.state.alarms, strict=True):
            if alert.rule not in self.alarmed or alert is stops:
                self.event("alarm", stage=self.state.stage, **alarm.model_dump(), stops=alert is stops)
            if alert.rule not in self.alarmed:
                self.alarmed.add(alert.rule)
                notify_alarm(self.job.dir, self.job.kind, self.job.title, alarm, alert.helps)
        if stops is not None:
            (self.job.dir / STOP_FILE).touch()

    def _tell(self, suite: SuiteName, stage: int | None, rows: pd.DataFrame, shown: bool) -> None:
        """Record the rates of a table, which are the session's results if ``shown``."""
        rate = ValidRate.of(stage, rows)
        if shown:
            others = [other for other in self.state.rates if other.stage != stage]
            self.state.rates = sorted([*others, rate], key=lambda other: -1 if other.stage is None else other.stage)
            self.write()
        self.event("tested" if suite == "test" else "baseline" if stage is None else "validated", **rate.model_dump())
        self.tracking.measured(suite, stage, rows)

    def proposed(self, record: ProposalRecord) -> None:
        """Record what the engineer proposed, which is written already."""
        self.event("proposed", stage=record.stage, changes=len(record.changes), kept_because=record.kept_because)
        self.tracking.proposed(record)
        self.state.answers = self.job.usable_answers()

    def write_model(self, stage: int | None, name: str, model: BaseModel) -> None:
        write_text(self._stage_dir(stage) / name, model.model_dump_json(indent=2))

    def event(self, kind: str, **fields: Any) -> None:
        """Add a line to the event log, and call ``on_event``."""
        event = {"time": time.time(), "kind": kind} | fields
        append_line(self.job.dir / "events.jsonl", event)
        if self.on_event:
            self.on_event(event)

    # --- how it ends ---------------------------------------------------------------------------------------------

    def end(self, status: Status) -> None:
        """``waiting``: for a person's proposal. The worker ends, and another takes the session up when there is one."""
        fields: dict[str, Any] = {}
        if status == "done":
            self._show_sealed_rates()
            self.state.phase = "done"
        elif status == "waiting":
            fields["stage"] = self.state.stage
        elif status == "failed":
            fields["error"] = self.state.error
        super().end(status)
        self.event(status, **fields)
        self.tracking.end(status)

    def _show_sealed_rates(self) -> None:
        """Results of a person's session come from its test boards once there is nothing left to decide."""
        if self.job.spec.test is not None and "person" in self.job.spec.engineer.needs:
            for stage in (None, *range(self.job.spec.stages)):
                if (rows := self.job.test(stage)) is not None:
                    self._tell("test", stage, rows, shown=True)

    # --- writing -------------------------------------------------------------------------------------------------

    def _stage_dir(self, stage: int | None) -> Path:
        folder = self.job.stage_dir(stage)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _recorded_before(self, stage: int, step: int) -> list[dict[str, Any]]:
        """The stage's completions before this step, its first since the worker took it up. Steps from here on that are recorded already
        were done by a worker that died before it saved them: they come again."""
        earlier = {figures["step"]: figures for figures in self.job.figures(stage) if figures["step"] < step}
        write_text(self._stage_dir(stage) / "metrics.jsonl", "".join(map(json_line, earlier.values())))
        table = self.job.completions(stage)
        return [] if table is None else table[table["training_step"] < step].to_dict("records")
