"""The worker: one process that runs one session, outliving the page and the server that started it.

Run as ``python -m core.sessions.worker FOLDER``. It ends by itself, or at the next training step once it is asked to: by the stop file,
or by SIGTERM. Ctrl+C and a closed terminal in front of the server do not reach it. Where several processes train together, each of them
is run as this; the first writes the session, the others follow it.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path

from core.engineer.human import AwaitsProposal
from core.sessions.recorder import Recorder
from core.sessions.store import STOP_FILE, Session
from core.training.settings import StageStopped


def main(folder: Path) -> int:
    """Runs or resumes the session in ``folder``; returns the exit status."""
    session = Session(folder)
    if int(os.environ.get("RANK", "0")):
        from core.sessions.follower import follow

        return follow(session)
    recorder = Recorder(session)
    signal.signal(signal.SIGTERM, lambda *_: (folder / STOP_FILE).touch())
    return run_recorded(session, recorder)


def run_recorded(session: Session, recorder: Recorder) -> int:
    """The loop with its end written down, however it ends: 0 done, 3 stopped, 4 waiting for a person's proposal, 1 failed."""
    try:
        from core.sessions.loop import run  # imports torch, which takes seconds: the session is seen running before

        run(session, recorder)
    except StageStopped:
        recorder.stopped()
        return 3
    except AwaitsProposal:
        recorder.waiting()
        return 4
    except Exception as error:  # whatever it is belongs in the session's record
        traceback.print_exc()
        recorder.failed(f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    os.nice(5)  # the page stays quick
    sys.exit(main(Path(sys.argv[1]).resolve()))
