"""The process of a dispatcher: ``python -m frozenlab.jobs.queue SESSIONS``. It ends at once if another one holds the queue."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from frozenlab.jobs.queue.watch import lock


def main(root: Path) -> None:
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    while True:
        with lock(root) as held:
            if held is None:
                return
            from frozenlab.jobs.queue.dispatcher import Dispatcher  # after the lock is taken: no other process starts one then

            dispatcher = Dispatcher(root)
            dispatcher.run()
        if not root.is_dir() or not dispatcher.db.jobs():  # one that was entered while the lock was held still has a dispatcher
            return


main(Path(sys.argv[1]).resolve())
