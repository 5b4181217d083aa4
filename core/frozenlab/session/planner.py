"""Asking a checkpoint from the app, through a separate process that stays warm."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.machine import gpus
from frozenlab.models.policy import GREEDY, Completion, Sampling
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.store import SessionStore


class PlannerError(LabError, RuntimeError):
    """The model could not be used; the message gives the reason."""


def refuse_beside_training(store: SessionStore) -> None:
    """A language model that is asked by a page would take the memory of the GPU on which one is trained. Raises PlannerError."""
    running = store.running() if gpus() else None
    if running is not None and running.spec.language is not None:
        raise PlannerError(f"{running.title} trains a language model on this machine's GPU; ask when it has ended")


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

    def answer(
        self, checkpoint: Path, prompt: str, limit: int, sampling: Sampling = GREEDY, *, language: LanguageSettings | None = None
    ) -> list[Completion]:
        """Have the policy in ``checkpoint`` answer a prompt. Takes seconds at the first call, later a fraction of a second.

        Args:
            limit: the most tokens that an answer may take.
            language: the settings of a language model; None for a lab model.

        Raises:
            PlannerError: the process could not be started or died, or the checkpoint cannot be read.
        """
        request = {
            "checkpoint": str(checkpoint),
            "language": language and language.model_dump(),
            "prompt": prompt,
            "limit": limit,
            "sampling": asdict(sampling),
        }
        reply = self._ask(request)
        if "error" in reply:
            raise PlannerError(reply["error"])
        return [Completion(**written) for written in reply["completions"]]

    def warm_up(self, checkpoint: Path) -> None:
        """Start the process if there is none, and let it load a lab model, without waiting, so that both are ready at the first request."""
        if self._lock.acquire(blocking=False):  # otherwise it plans already and is warm
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
                [sys.executable, "-m", "frozenlab.models.serve", *([str(checkpoint)] if checkpoint else [])],
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
