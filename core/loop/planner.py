"""Planning boards with a checkpoint from the app, through a separate process that stays warm."""

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
    """The model could not be used; the message gives the reason."""


@dataclass(frozen=True)
class PlannedAnswer:
    """One answer of a checkpoint to a board."""

    completion: str
    paths: Paths | None
    """The plan; None if the completion could not be parsed."""
    verdict: Verdict


class Planner:
    """A planning process, started at the first request and restarted if it died. Requests are queued."""

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
        """Plan the board with the policy in ``checkpoint``. Takes seconds at the first call, later a fraction of a second.

        ``language`` holds the settings of a language model; None for a lab model.

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
        """Start the process if there is none, and let it load a lab model, without waiting, so that both are ready at the first request."""
        if self._lock.acquire(blocking=False):  # otherwise somebody plans already, so nothing needs warming up
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
