"""The GPUs of this machine, and the published speeds of common ones."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache


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
