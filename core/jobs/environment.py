"""The environment variables and threads of processes that import torch."""

from __future__ import annotations

import os

THREADS = max(1, (os.cpu_count() or 1) // 2)
"""For processes that import torch: half the cores. Torch's threads wait for each other by spinning: on two cores, with two threads and
anything else running, a training step of 2.5 s took 30; with one thread it takes 4, whatever runs at the same time."""

NICENESS = "FROZENLAB_NICENESS"
"""Environment variable with the niceness of a worker. Without it a worker is nicer than the pages."""
KEEPER = "FROZENLAB_KEEPER"
"""Environment variable with the pid of a process that the worker must not outlive. Without it a worker outlives its starter."""
_AT_FIRST = dict(os.environ)


def dispatcher_environment() -> dict[str, str]:
    """The environment of a process that starts workers: this one's, without what makes this process a worker that asks no hub."""
    ours = {KEEPER, NICENESS, *({"HF_HUB_OFFLINE"} - _AT_FIRST.keys())}
    return {name: value for name, value in os.environ.items() if name not in ours}


def worker_environment(online: bool = False) -> dict[str, str]:
    """The environment of processes that import torch: no access to the Hugging Face hub (unless ``online``), no telemetry, and no TRL
    warning about the extension point that sampling uses."""
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "TRL_EXPERIMENTAL_SILENCE": "1"}
    return os.environ | quiet | ({} if online else {"HF_HUB_OFFLINE": "1"})
