"""What this process may use of its machine, and what jobs take of it.

In a container or a batch job that is often less than all: on Linux, affinity and the limits of cgroups (v1, v2) say how much.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP, CPUINFO = Path("/proc/self/cgroup"), Path("/proc/cpuinfo")
MOST_OPEN_FILES, OPEN_MAX = 2**16, 10_240
"""More than any server needs, and the most that macOS gives a process."""


class Memory(NamedTuple):
    """Bytes."""

    total: int
    available: int


@cache
def cores() -> int:
    """Processor cores, at least one."""
    allowed = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    for group in groups("cpu"):
        quota, period = [*said(group, "cpu.max").split(), "", ""][:2]
        if not quota:  # v1
            quota, period = said(group, "cpu.cfs_quota_us"), said(group, "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit():
            allowed = min(allowed, int(quota) / int(period))
    return max(1, int(allowed))


def memory() -> Memory:
    machine = psutil.virtual_memory()
    total, available = machine.total, machine.available
    for group in groups("memory"):
        most = said(group, "memory.max") or said(group, "memory.limit_in_bytes")
        used = said(group, "memory.current") or said(group, "memory.usage_in_bytes")
        if most.isdigit() and used.isdigit():
            kept = re.search(r"^inactive_file (\d+)$", said(group, "memory.stat"), re.MULTILINE)
            free = int(most) - int(used) + (int(kept[1]) if kept else 0)  # files that are kept make room when it is needed
            total, available = min(total, int(most)), min(available, max(0, free))
    return Memory(total, available)


MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
"""Of ``malloc.h``."""
LARGE_BLOCK = 2**21
PRODUCTS_KEPT = {"LRU_CACHE_CAPACITY": "64", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64"}
"""Of the 1,024 compiled products that torch and oneDNN each keep; a pass of a language model has about 30."""


def spare_memory() -> None:
    """Have this process, in which torch has computed nothing yet, take less memory.

    Of products in bfloat16 oneDNN compiles one for each number of tokens, and a few hundred took 1 to 1.5 GiB: only the last are kept.
    Where its C library is glibc, the process gives freed memory of large blocks back at once. Before version 2.38 it keeps that of
    tensors, which are aligned, as holes into which the next ones do not fit: a step of training took twice the memory that it used."""
    os.environ |= {name: kept for name, kept in PRODUCTS_KEPT.items() if name not in os.environ}
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(TRIM_THRESHOLD, 32 * LARGE_BLOCK)


def open_files() -> int:
    """How many files this process may have open at once, after its limit was raised as far as it may be, up to MOST_OPEN_FILES."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES), OPEN_MAX):
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with suppress(ValueError, OSError):  # above what the kernel of macOS allows
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                return wanted
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else soft


def groups(controller: str) -> list[Path]:
    """The cgroups that bound what this process has of cores (``cpu``) or memory: its own and those around it; none on other systems."""
    found: list[Path] = []
    for line in said(MEMBERSHIP.parent, MEMBERSHIP.name).splitlines():
        _, names, own = line.split(":", 2)
        if not names or controller in names.split(","):
            root = CGROUPS / controller if names else CGROUPS
            folder = root / own.removeprefix("/")
            found += [group for group in (folder, *folder.parents) if group.is_relative_to(root)]
    return found


def said(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text().strip()
    except OSError:
        return ""


@cache
def fast_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16 matrices; without them float32 is up to 20 times as fast."""
    return bool({"avx512_bf16", "amx_bf16"} & set(said(CPUINFO.parent, CPUINFO.name).split()))


@cache
def core_speed() -> float:
    """Floating-point operations of products of float32 matrices in a second of one core, as long as this process runs: the fastest of a few
    rounds, which take a hundredth of a second. The matrices are so small that one thread multiplies them: several threads would spin where
    other work has the cores, and of one processor that was measured as 40 and as 100 billion."""
    import numpy as np  # not for commands that only list something

    matrices = np.ones((200, 32, 32), np.float32)
    seconds = []
    for _ in range(50):
        began = time.process_time()
        matrices @ matrices
        seconds.append(time.process_time() - began)
    return 2 * matrices.size * matrices.shape[2] / max(min(seconds), 1e-6)


# --- GPUs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gpu:
    name: str
    memory: int
    """Bytes."""

    @property
    def bfloat16(self) -> bool:
        """Whether it computes in bfloat16, as those of Ampere and later do."""
        return re.search(r"\b(T4|[PV]100|P40?|K80|M60|TITAN|GTX|RTX 20\d\d|Quadro)\b", self.name) is None


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
    memory: int = 0
    """GiB of main memory, of a language model on a processor."""


LAB_MODEL = Needs(cores=THREADS)
"""A worker with a lab model."""
HAS_OTHERS_RUN = Needs()
"""A worker that has other jobs do the work: they take the cores."""


def language_model(cards: int = 1) -> Needs:
    """A worker with a language model, on so many GPUs if the machine has any."""
    return Needs(THREADS, cards if gpus() else 0)
