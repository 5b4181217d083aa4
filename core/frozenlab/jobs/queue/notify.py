"""Telling the person that a job has ended, or that something goes wrong in it, by a command or a webhook of their own.

Both are named in ``notify.json`` in the person's config folder, or in ``FROZENLAB_NOTIFY_COMMAND`` and ``FROZENLAB_NOTIFY_URL``; nothing in
a sessions folder can name one. The command gets the job as JSON on its standard input, the webhook as the body of a POST. What goes wrong
with them stands in the log of the process that tells, and nobody waits for it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.jobs.queue.book import Ended
from frozenlab.jobs.state import Alarm

COMMAND, URL = "FROZENLAB_NOTIFY_COMMAND", "FROZENLAB_NOTIFY_URL"
WITHIN = 10.0
"""Seconds that a command or a webhook may take."""


class NotifyError(LabError, ValueError):
    """``notify.json`` cannot be used; the message says why."""


class Ways(BaseModel):
    """``notify.json``."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    """A program and its arguments; no shell reads them."""
    url: HttpUrl | None = None


def settings_file() -> Path:
    return places.config_folder() / "notify.json"


def ways() -> Ways:
    """How this person wants to be told. Raises NotifyError."""
    path = settings_file()
    try:
        given: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        given |= {"command": tuple(shlex.split(command))} if (command := os.environ.get(COMMAND)) else {}
        given |= {"url": url} if (url := os.environ.get(URL)) else {}
        return Ways.model_validate(given)
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise NotifyError(f"{path}, {COMMAND} or {URL} cannot be used: {one_line(error)}") from None


def tell_ended(job: Ended) -> None:
    """Tell that a job has ended."""
    tell_user(about(Path(job.folder), job.kind, job.title, job.status) | {"ended": job.ended, "seconds": round(job.seconds, 1)})


def tell_alarm(folder: Path, kind: str, title: str, alarm: Alarm, helps: str) -> None:
    """Tell that something goes wrong in a job that runs, and what to do."""
    tell_user(about(folder, kind, title, "alarm") | {"alarm": alarm.rule, "evidence": alarm.evidence, "helps": helps, "time": time.time()})


def about(folder: Path, kind: str, title: str, status: str) -> dict[str, Any]:
    return {"id": folder.name, "kind": kind, "title": title, "status": status, "folder": str(folder)}


def tell_user(what: Mapping[str, Any]) -> None:
    """Tell it in the ways that the person has chosen, without waiting."""
    try:
        chosen = ways()
    except NotifyError as error:
        print(error, file=sys.stderr, flush=True)
        return
    if chosen.command or chosen.url:
        threading.Thread(target=tell, args=(what, chosen), daemon=True).start()


def tell(what: Mapping[str, Any], chosen: Ways) -> None:
    """Run the command and call the webhook; log what goes wrong."""
    body = json.dumps(dict(what)).encode()
    try:
        if chosen.command:
            done = subprocess.run(chosen.command, input=body, capture_output=True, timeout=WITHIN, check=False)
            if done.returncode:
                print(f"notify command: status {done.returncode}: {done.stderr[-300:]!r}", file=sys.stderr, flush=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"notify command: {one_line(error)}", file=sys.stderr, flush=True)
    try:
        if chosen.url:
            request = Request(str(chosen.url), data=body, headers={"Content-Type": "application/json"}, method="POST")
            with urlopen(request, timeout=WITHIN):
                pass
    except (URLError, OSError, ValueError) as error:
        print(f"notify webhook: {one_line(error)}", file=sys.stderr, flush=True)
