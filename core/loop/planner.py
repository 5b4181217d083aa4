"""Asking a checkpoint to plan a board from the app, through a process of its own that stays warm."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from frozenlab import places
from frozenlab.errors import LabError
from frozenlab.jobs.environment import worker_environment
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths, Verdict
from frozenlab.policy.answer import Answer, judge_answer
from frozenlab.policy.settings import LanguageSettings


class PlannerError(LabError, RuntimeError):
    """The model could not be asked; the message says why."""


@dataclass(frozen=True)
class PlannedAnswer:
    """One answer of a checkpoint to a board."""

    completion: str
    paths: Paths | None
    """None where the completion could not be read as a plan."""
    verdict: Verdict


class Planner:
    """A planning process, started at the first request and again after it died. Requests queue up behind each other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    @staticmethod
    @cache
    def shared() -> Planner:
        """The one planner of this process."""
        planner = Planner()
        atexit.register(planner.close)
        return planner

    def plan(
        self,
        checkpoint: Path,
        board: Board,
        *,
        language: LanguageSettings | None = None,
        optimal_makespan: int | None = None,
        temperature: float = 0.0,
        completions: int = 1,
        seed: int = 0,
    ) -> list[PlannedAnswer]:
        """Lets the policy in ``checkpoint`` plan the board; takes seconds at the first call, then fractions of one.

        ``language`` says how a language model is asked; None: it is a lab model.

        Raises:
            PlannerError: the process could not be started or died, the checkpoint cannot be read, or the dialect has no words for the
            board.
        """
        request = {
            "checkpoint": str(checkpoint),
            "language": language and language.model_dump(),
            "board": board.to_dict(),
            "temperature": temperature,
            "completions": completions,
            "seed": seed,
        }
        reply = self._ask(request)
        if "error" in reply:
            raise PlannerError(reply["error"])
        answers = []
        for written in reply["completions"]:
            paths = written["paths"] and tuple(tuple((r, c) for r, c in path) for path in written["paths"])
            answer = Answer(paths, written["fault"])
            answers.append(PlannedAnswer(written["text"], answer.paths, judge_answer(board, answer, optimal_makespan)))
        return answers

    def warm_up(self, checkpoint: Path) -> None:
        """Starts the process, if there is none, and has it load a lab model, without waiting: the first request finds both ready."""
        if self._lock.acquire(blocking=False):  # else somebody plans: nothing is to be warmed up
            try:
                self._started(checkpoint)
            finally:
                self._lock.release()

    def close(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None

    def _started(self, checkpoint: Path | None = None) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "frozenlab.policy.serve", *([str(checkpoint)] if checkpoint else [])],
                cwd=places.workplace(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                env=worker_environment(),
            )
        return self._process

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                raise PlannerError(f"the planning process ended with status {process.wait()}; the next request starts a new one")
            return json.loads(line)
