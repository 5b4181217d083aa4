"""One process of a session that trains in several: ``python -m frozenlab.session.processes FOLDER``, started by the spec's launcher.

The first runs the loop and writes the session; the others train with it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from frozenlab.jobs.environment import KEEPER
from frozenlab.jobs.worker import end_with, work_on
from frozenlab.session.follower import follow
from frozenlab.session.session import Session

if __name__ == "__main__":
    if KEEPER in os.environ:
        end_with(int(os.environ[KEEPER]))
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    folder = Path(sys.argv[1]).resolve()
    session = Session(folder)
    sys.exit(follow(session) if int(os.environ["RANK"]) else work_on(session))
