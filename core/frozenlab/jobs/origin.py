"""Where the numbers of a job come from: commit, machine and versions of the worker that began it (``origin.json``)."""

from __future__ import annotations

import platform
import subprocess
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from frozenlab.base import places
from frozenlab.base.files import write_text
from frozenlab.jobs.machine import cores, gpus, memory
from frozenlab.jobs.state import Moment

ORIGIN_FILE = "origin.json"
PACKAGES = ("frozenlab", "torch", "trl", "transformers", "peft", "vllm", "numpy", "numba", "pydantic")
"""The packages that numbers depend on."""


class Origin(BaseModel):
    """``origin.json``. It names no user, host or folder, so that what it is about can be given to others."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    time: Moment
    """When the worker began (unix seconds)."""
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """Of the code; None where FrozenLab is installed without a git checkout."""
    changed: bool = False
    """Whether tracked files differed from the commit."""
    system: str
    """``Linux x86_64``."""
    processor: str
    cores: int
    memory: int
    """Bytes."""
    gpus: tuple[str, ...] = ()
    python: str
    versions: dict[str, str]
    """Of the installed PACKAGES."""

    @property
    def code(self) -> str:
        """``commit 4b4a77a06d1e, with changes``."""
        if self.commit is None:
            return f"FrozenLab {self.versions.get('frozenlab', '')}, installed without git".replace(" ,", ",")
        return f"commit {self.commit[:12]}" + (", with changes" if self.changed else "")

    @property
    def machine(self) -> str:
        """``AMD EPYC 9V74, 2 cores, 8 GB, Linux x86_64``."""
        return ", ".join([self.processor, f"{self.cores} cores", f"{self.memory / 1e9:.0f} GB", *self.gpus, self.system])


def origin_here() -> Origin:
    """The origin of what begins now, in this process."""
    commit = _git("rev-parse", "HEAD")
    return Origin(
        time=time.time(),
        commit=commit or None,
        changed=bool(commit) and bool(_git("status", "--porcelain", "--untracked-files=no")),
        system=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        cores=cores(),
        memory=memory().total,
        gpus=tuple(gpu.name for gpu in gpus()),
        python=platform.python_version(),
        versions={name: found for name in PACKAGES if (found := _version(name)) is not None},
    )


def keep_origin(folder: Path) -> None:
    """Write down where the numbers of this folder come from, unless it is known already."""
    if not (folder / ORIGIN_FILE).exists():
        write_text(folder / ORIGIN_FILE, origin_here().model_dump_json(indent=2))


def _git(*words: str) -> str:
    """What git says about the checkout; empty where there is none."""
    if places.CHECKOUT is None or not (places.CHECKOUT / ".git").exists():
        return ""
    try:
        done = subprocess.run(["git", *words], cwd=places.CHECKOUT, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
