"""What is taken out of files before others get them: paths of this machine, keys, and who runs a job.

A path is replaced by ``not/here/`` and its last part: people still see what was meant, no file is found there, and no model on the hub has
such a name. Only paths below a folder that machines have at their root count, so that words with a slash, which prompts are full of, stay.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from frozenlab.base import places
from frozenlab.base.files import json_line, json_value
from frozenlab.jobs.state import WorkerState, as_observed

ROOTS = (
    "Users", "Volumes", "bin", "boot", "content", "data", "dev", "etc", "gpfs", "home", "kaggle", "lib", "lustre", "media", "mnt", "nfs",
    "opt", "private", "proc", "root", "run", "sbin", "scratch", "snap", "srv", "storage", "sys", "tmp", "usr", "var", "work", "workspace",
)  # fmt: skip
"""Usual folders at the root of a file system; those of this machine are added."""
ELSEWHERE = "not/here/"
SHORTEST_KEY = 8
OF_THE_WORKER = ("pid", "create_time", "host", "heartbeat")
"""Fields of ``state.json`` that name a process and its machine."""


@cache
def _paths() -> re.Pattern[str]:
    here = {name for name in os.listdir("/") if name.isidentifier()}
    roots = "|".join(sorted({*ROOTS, *here}, key=lambda name: (-len(name), name)))
    part = r"""[^\s/\\"'`<>|:;,()\[\]{}\0]+"""
    unix = rf"(?<![\w.\-/~#<])(?:file://)?(?:~|/(?:{roots})(?=/))(?:/+{part})+/?"
    windows = rf"(?<![\w])[A-Za-z]:\\+(?:{part}\\+)*{part}"
    return re.compile(f"{unix}|{windows}")


def keys() -> dict[str, str]:
    """The keys and tokens in this process's environment: value -> name of the variable."""
    secret = re.compile(r"(_API_KEY|_TOKEN|_SECRET|_PASSWORD|_SECRET_ACCESS_KEY)$")
    return {value: name for name, value in os.environ.items() if secret.search(name) and len(value) >= SHORTEST_KEY}


def cleaned(text: str, known_keys: dict[str, str]) -> str:
    """The text without paths of a machine, and with the names of keys in their places.

    >>> cleaned("The disk is full, in /home/me/lab/sessions/demo. Make room", {})
    'The disk is full, in not/here/demo. Make room'
    """
    for value, name in known_keys.items():
        text = text.replace(value, f"[{name}]")
    if "/" in text or "\\" in text:
        if len(home := str(places.home())) > 1:
            text = text.replace(f"{home}/", "~/")  # a name of a person may have a space in it
        text = _paths().sub(_elsewhere, text)
    return text


def _elsewhere(found: re.Match[str]) -> str:
    path = found[0].rstrip("/.")
    return ELSEWHERE + last_part(path) + found[0][len(path) :]


def last_part(path: str) -> str:
    return re.split(r"[/\\]+", path.rstrip("/\\"))[-1]


def cleaned_json(value: Any, known_keys: dict[str, str]) -> Any:
    """The same for every string of a JSON value, keys of objects too."""
    if isinstance(value, str):
        return _whole_path(value) or cleaned(value, known_keys)
    if isinstance(value, list):
        return [cleaned_json(part, known_keys) for part in value]
    if isinstance(value, dict):
        return {cleaned(name, known_keys): cleaned_json(part, known_keys) for name, part in value.items()}
    return value


def _whole_path(text: str) -> str | None:
    """A string that is nothing but a path, which may have spaces in it and lie anywhere; None if it is something else."""
    is_path = "\n" not in text and len(text) < 4096 and re.match(r"/[^/]+/.|[A-Za-z]:\\", text)
    return ELSEWHERE + last_part(text) if is_path else None


def cleaned_state(state: dict[str, Any], known_keys: dict[str, str]) -> dict[str, Any]:
    """A job's ``state.json`` without its worker. What has crashed says so, since only this machine can look for the worker."""
    try:
        status = as_observed(WorkerState.model_validate(state)).status
    except ValueError:
        status = "failed"
    return cleaned_json({name: None if name in OF_THE_WORKER else value for name, value in state.items()} | {"status": status}, known_keys)


def cleaned_lines(text: str, known_keys: dict[str, str]) -> str:
    """Lines of JSON. A line that is none, as the torn end of a file, is left out."""
    kept = []
    for line in text.splitlines(keepends=True):
        try:
            value = json_value(line)
        except ValueError:
            continue
        clean = cleaned_json(value, known_keys)
        kept.append(line if clean == value and line.endswith("\n") else json_line(clean))
    return "".join(kept)
