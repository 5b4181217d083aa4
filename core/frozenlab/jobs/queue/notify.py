"""Notifying the person that a job has ended or that something goes wrong in it, by a command of their own.

``notify.json`` in the person's config folder or ``FROZENLAB_NOTIFY_COMMAND`` names it; nothing in a sessions folder can. It gets the job as
JSON on its standard input. Its errors are written to the log of this process, which does not wait for it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import read_text
from frozenlab.jobs.queue.db import EndedJob
from frozenlab.jobs.state import Alarm

COMMAND = "FROZENLAB_NOTIFY_COMMAND"
WITHIN = 10.0
"""Seconds that the command may take."""


class NotifyError(LabError, ValueError):
    """``notify.json`` cannot be used; the message says why."""


class Settings(BaseModel):
    """``notify.json``."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    """A program and its arguments; no shell reads them."""


def settings_file() -> Path:
    return places.config_folder() / "notify.json"


def command() -> tuple[str, ...]:
    """The person's command; empty if there is none. Raises NotifyError."""
    path = settings_file()
    try:
        if given := os.environ.get(COMMAND):
            return Settings(command=tuple(shlex.split(given))).command
        return Settings.model_validate_json(read_text(path)).command if os.access(path, os.R_OK) else ()
    except (OSError, ValueError, ValidationError) as error:
        raise NotifyError(f"{path} or {COMMAND} cannot be used: {one_line(error)}") from None


def notify_end(job: EndedJob) -> None:
    notify(about(job.path, job.kind, job.title, job.status) | {"ended": job.ended, "seconds": round(job.seconds, 1)})


def notify_alarm(folder: Path, kind: str, title: str, alarm: Alarm, helps: str) -> None:
    """Notify that something goes wrong in a running job, and what helps."""
    notify(about(folder, kind, title, "alarm") | {"alarm": alarm.rule, "evidence": alarm.evidence, "helps": helps, "time": time.time()})


def about(folder: Path, kind: str, title: str, status: str) -> dict[str, Any]:
    return {"id": folder.name, "kind": kind, "title": title, "status": status, "folder": str(folder)}


def notify(message: dict[str, Any]) -> None:
    """Give the message to the person's command, without waiting for it."""
    try:
        chosen = command()
    except NotifyError as error:
        print(error, file=sys.stderr, flush=True)
        return
    if chosen:
        threading.Thread(target=run_command, args=(chosen, message), daemon=True).start()


def run_command(chosen: tuple[str, ...], message: dict[str, Any]) -> None:
    """Run the command; log its errors."""
    try:
        done = subprocess.run(chosen, input=json.dumps(message).encode(), capture_output=True, timeout=WITHIN, check=False)
        if done.returncode:
            print(f"notify command: status {done.returncode}: {done.stderr[-300:]!r}", file=sys.stderr, flush=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"notify command: {one_line(error)}", file=sys.stderr, flush=True)
