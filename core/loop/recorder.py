"""The worker's pen: everything a running session writes goes through here."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from frozenlab.errors import Stopped
from frozenlab.files import append_line, json_line, sweep, sync, write_parquet, write_text
from frozenlab.jobs.disk import free_reserve, in_words, reserve
from frozenlab.jobs.state import BEFORE_TRAINING, SLOW_STALLED_AFTER, STALLED_AFTER, Phase, State, ValidRate, own_process
from frozenlab.loop.store import COMPLETION_COLUMNS, Session

COMPLETIONS_EVERY = 5
"""Steps between rewrites of the completions table."""
SHARE_OF_STAGE: dict[Phase, tuple[float, float]] = {
    "generating": (0.0, 0.02),
    "training": (0.02, 0.88),
    "validating": (0.88, 0.94),
    "testing": (0.94, 0.99),
    "proposing": (0.99, 1.0),
}
"""Where the phases of a stage begin and end, as parts of it: rough, for the progress bar."""
BASELINE_SHARE = 0.04
"""Part of the session that loading and the first validation take."""


class Recorder:
    """Writes a session's state, events and tables as they come; knows when it should stop."""

    def __init__(self, session: Session, on_event: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.session = session
        self.on_event = on_event
        self.state = State(
            status="running",
            **own_process(),
            patience=SLOW_STALLED_AFTER if session.spec.language else STALLED_AFTER,
            started=session.state().started or time.time(),
            steps=session.spec.training.steps,
            phase_since=time.time(),
        )
        self.completions: list[dict[str, Any]] | None = None
        """Of the stage in training; None until its first step."""
        self.began = time.time()
        self.began_at: float | None = None
        """Progress when this worker took over, from which the time left is told."""

    # --- what the loop tells -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The worker has the session to itself. Figures are taken from the tables, whatever became of ``state.json``."""
        session, spec = self.session, self.session.spec
        reserve(session.dir)
        sweep(session.dir)
        self.state.rates = session.rates()
        kind = "resumed" if session.events()[0] else "started"
        self.event(kind, method=spec.training.method, engineer=spec.engineer, stages=spec.stages)
        self._write()

    def phase(self, phase: Phase, stage: int | None) -> None:
        """A new phase begins; stage None is the time before training. Raises Stopped if the session was asked to stop."""
        self.stop_if_asked()
        self.state.phase, self.state.stage, self.state.phase_since = phase, stage or 0, time.time()
        if phase == "training":
            self.completions = None
        else:
            self.state.step = 0
        self.fraction(0.0)

    def fraction(self, done: float) -> None:
        """How much of the present phase is done, 0..1."""
        state, stages = self.state, self.session.spec.stages
        state.phase_done = done
        if state.phase in BEFORE_TRAINING:
            state.progress = BASELINE_SHARE * done
        elif state.phase != "done":
            begin, end = SHARE_OF_STAGE[state.phase]
            state.progress = BASELINE_SHARE + (1 - BASELINE_SHARE) * (state.stage + begin + (end - begin) * done) / stages
        self._write()

    def step(self, stage: int, figures: dict[str, float], rows: list[dict[str, Any]], saving: bool) -> None:
        """One training step: its metrics line, and the completions kept from it. What was told before a checkpoint is on the disk first."""
        self.state.step = int(figures["step"])
        if self.completions is None:
            self.completions = self._recorded_before(stage, self.state.step)
        append_line(self._stage_dir(stage) / "metrics.jsonl", figures)
        self.completions += rows
        if saving or self.state.step % COMPLETIONS_EVERY == 0:
            table = pd.DataFrame(self.completions, columns=list(COMPLETION_COLUMNS)).astype(COMPLETION_COLUMNS)
            write_parquet(self._stage_dir(stage) / "completions.parquet", table)
            sync(self._stage_dir(stage) / "metrics.jsonl")
        told = {name: figures[name] for name in ("reward", "loss", "valid") if name in figures}
        self.event("step", stage=stage, step=self.state.step, **told)
        self.fraction(self.state.step / self.state.steps)

    def validated(self, stage: int | None, rows: pd.DataFrame) -> None:
        """The plans on the validation boards."""
        write_parquet(self._stage_dir(stage) / "validation.parquet", rows)
        self.event("baseline" if stage is None else "validated", **self._rate(stage, rows, shown=not self.session.sealed))

    def tested(self, stage: int | None, rows: pd.DataFrame) -> None:
        """The plans on the test boards."""
        write_parquet(self._stage_dir(stage) / "test.parquet", rows)
        self.event("tested", **self._rate(stage, rows, shown=self.session.sealed))

    def _rate(self, stage: int | None, rows: pd.DataFrame, shown: bool) -> dict[str, Any]:
        """The rates of a table, which are the session's results if ``shown``."""
        rate = ValidRate.of(stage, rows)
        if shown:
            others = [known for known in self.state.rates if known.stage != stage]
            self.state.rates = sorted([*others, rate], key=lambda known: -1 if known.stage is None else known.stage)
            self._write()
        return rate.model_dump()

    def write_model(self, stage: int | None, name: str, model: BaseModel) -> None:
        write_text(self._stage_dir(stage) / name, model.model_dump_json(indent=2))

    def event(self, kind: str, **fields: Any) -> None:
        """Adds a line to the event log; also tells ``on_event``, for a terminal that follows along."""
        event = {"time": time.time(), "kind": kind} | fields
        append_line(self.session.dir / "events.jsonl", event)
        if self.on_event:
            self.on_event(event)

    # --- how it ends ---------------------------------------------------------------------------------------------

    def done(self) -> None:
        if self.session.spec.test is not None and self.session.spec.engineer == "human":  # nobody decides any more
            for stage in (None, *range(self.session.spec.stages)):
                if (rows := self.session.test(stage)) is not None:
                    self._rate(stage, rows, shown=True)
        self.state.phase, self.state.progress = "done", 1.0
        self._end("done")

    def waiting(self) -> None:
        """For a person's proposal: the worker ends, and another takes the session up when there is one."""
        self._end("waiting", stage=self.state.stage)

    def stopped(self) -> None:
        self._end("stopped")

    def failed(self, error: Exception) -> None:
        """Written down as far as that is still possible: the state first, from which pages tell it."""
        self.state.error = in_words(error, self.session.dir)
        try:
            self._end("failed", error=self.state.error)
        except OSError as unwritten:
            print(f"that it failed could not be written down: {unwritten}", file=sys.stderr)

    def stop_if_asked(self) -> None:
        if self.stopping():
            raise Stopped

    def stopping(self) -> bool:
        return self.session.stop_asked

    def _end(self, status: Any, **fields: Any) -> None:
        self.state.status, self.state.finished, self.state.seconds_left = status, time.time(), None
        free_reserve(self.session.dir)
        self._write()
        self.event(status, **fields)

    # --- writing -------------------------------------------------------------------------------------------------

    def _stage_dir(self, stage: int | None) -> Path:
        folder = self.session.stage_dir(stage)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _recorded_before(self, stage: int, step: int) -> list[dict[str, Any]]:
        """The stage's completions before this step, its first since the worker took it up. Steps from here on that are recorded already
        were done by a worker that died before it saved them: they come again."""
        known = {figures["step"]: figures for figures in self.session.figures(stage) if figures["step"] < step}
        write_text(self._stage_dir(stage) / "metrics.jsonl", "".join(map(json_line, known.values())))
        table = self.session.completions(stage)
        return [] if table is None else table[table["training_step"] < step].to_dict("records")

    def _write(self) -> None:
        """Replaces ``state.json``; every write is a heartbeat."""
        state = self.state
        state.heartbeat = time.time()
        if self.began_at is None and state.phase == "training" and state.step:
            self.began, self.began_at = time.time(), state.progress
        elif self.began_at is not None and state.progress > self.began_at and state.status == "running":
            state.seconds_left = (time.time() - self.began) * (1 - state.progress) / (state.progress - self.began_at)
        write_text(self.session.dir / "state.json", state.model_dump_json(indent=2))
