"""What this process may use of its machine. In a container or a batch job that is often less than all: on Linux, affinity and the limits of
cgroups (v2) say how much."""

from __future__ import annotations

import os
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
