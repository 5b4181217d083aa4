"""What this process may use of its machine, and what jobs take of it.

In a container or a batch job that is often less than all: on Linux, affinity and the limits of cgroups (v2) say how much.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


class Memory(NamedTuple):
    """Bytes."""

    total: int
    available: int


@cache
def cores() -> int:
    """Processor cores, at least one."""
    allowed = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    for group in groups():
        quota, _, period = said(group, "cpu.max").partition(" ")
        if quota.isdigit() and period.isdigit():
            allowed = min(allowed, int(quota) / int(period))
    return max(1, int(allowed))


def memory() -> Memory:
    machine = psutil.virtual_memory()
    total, available = machine.total, machine.available
    for group in groups():
        most, used = said(group, "memory.max"), said(group, "memory.current")
        if most.isdigit() and used.isdigit():
            total, available = min(total, int(most)), min(available, max(0, int(most) - int(used)))
    return Memory(total, available)


def groups() -> list[Path]:
    """The cgroup of this process and those around it; none on other systems."""
    lines = said(MEMBERSHIP.parent, MEMBERSHIP.name).splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if own is None:
        return []
    folder = CGROUPS / own
    return [group for group in (folder, *folder.parents) if group.is_relative_to(CGROUPS)]


def said(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text().strip()
    except OSError:
        return ""


# --- GPUs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gpu:
    name: str
    memory: int
    """Bytes."""


@cache
def gpus() -> tuple[Gpu, ...]:
    """The NVIDIA GPUs of this machine, as its driver lists them."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        listed = subprocess.run(query, capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [line.rsplit(",", 1) for line in listed.splitlines() if "," in line]
    return tuple(Gpu(name.strip(), int(mib) * 2**20) for name, mib in rows if mib.strip().isdigit())


SPEEDS: dict[str, tuple[float, float]] = {
    "B200": (2250e12, 8.0e12),
    "H200": (989e12, 4.8e12),
    "H100": (989e12, 3.35e12),
    "A100": (312e12, 2.0e12),
    "L40S": (362e12, 0.86e12),
    "5090": (209e12, 1.79e12),
    "4090": (165e12, 1.01e12),
    "3090": (71e12, 0.94e12),
    "A10": (125e12, 0.6e12),
    "L40": (181e12, 0.86e12),
    "L4": (121e12, 0.3e12),
}
"""Word of the GPU's name -> published dense bfloat16 operations per second, and memory bandwidth in bytes per second."""


# --- jobs -------------------------------------------------------------------------------------------------------------


THREADS = max(1, cores() // 2)
"""For processes that import torch: half the cores. Torch's threads wait for each other by spinning: on two cores, with two threads and
anything else running, a training step of 2.5 s took 30; with one thread it takes 4, whatever runs at the same time."""


class Needs(NamedTuple):
    """What a job takes while it runs, or what a machine has."""

    cores: int = 0
    gpus: int = 0


LAB_MODEL = Needs(cores=THREADS)
"""A worker with a lab model."""
HAS_OTHERS_RUN = Needs()
"""A worker that has other jobs do the work: they take the cores."""


def language_model(cards: int = 1) -> Needs:
    """A worker with a language model, on so many GPUs if the machine has any."""
    return Needs(THREADS, cards if gpus() else 0)
