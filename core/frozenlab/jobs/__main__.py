"""The one entry of all workers: ``python -m frozenlab.jobs KIND FOLDER``.

A worker ignores Ctrl+C and a closed terminal. The stop file or SIGTERM stops it soon.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from frozenlab.jobs.environment import NICENESS, worker_command, worker_environment
from frozenlab.jobs.job import KINDS
from frozenlab.jobs.worker import outlive_terminal, work_on

outlive_terminal()
name, folder = sys.argv[1:]
if name != "study":
    os.nice(int(os.environ.pop(NICENESS, "5")))  # so that pages stay responsive
job = KINDS[name].open(Path(folder).resolve())
command, environment = job.command(), worker_environment(job.online)
asks_hub_when_warm = "huggingface_hub" in sys.modules and "HF_HUB_OFFLINE" not in environment  # see frozenlab.jobs.warm
if command != worker_command(name, job.dir) or asks_hub_when_warm:  # the first: a session in several processes becomes their launcher
    os.execvpe(command[0], command, environment)
sys.exit(work_on(job))
