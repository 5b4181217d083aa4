"""Telling the person that a job has ended, by a command or a webhook of their own.

Both are named in ``notify.json`` in the person's config folder, or in ``FROZENLAB_NOTIFY_COMMAND`` and ``FROZENLAB_NOTIFY_URL``; nothing in
a sessions folder can name one. The command gets the job as JSON on its standard input, the webhook as the body of a POST. What goes wrong
stands in the dispatcher's log, and nobody waits for it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from frozenlab import places
from frozenlab.errors import LabError, one_line
from frozenlab.jobs.queue.book import Ended

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


def tell_user(job: Ended) -> None:
    """Tell it in the ways that the person has chosen, without waiting."""
    try:
        chosen = ways()
    except NotifyError as error:
        print(error, file=sys.stderr, flush=True)
        return
    if chosen.command or chosen.url:
        threading.Thread(target=tell, args=(job, chosen), daemon=True).start()


def tell(job: Ended, chosen: Ways) -> None:
    """Run the command and call the webhook; log what goes wrong."""
    about = {"id": Path(job.folder).name, "kind": job.kind, "title": job.title, "status": job.status, "folder": job.folder}
    body = json.dumps(about | {"ended": job.ended, "seconds": round(job.seconds, 1)}).encode()
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
