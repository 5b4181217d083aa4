"""``frozenlab app`` and ``doctor``: opening the lab, and checking what this machine can run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.cli.common import Command, no_options, print_json

if TYPE_CHECKING:
    import subprocess


def add_app(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8501, help="port of the server (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="start the server without opening a browser")
    parser.add_argument("--sessions", type=Path, help="folder of the sessions (default: FROZENLAB_SESSIONS, else sessions/)")


def run_app(options: argparse.Namespace) -> int:
    import os
    import subprocess
    import webbrowser

    from frozenlab import places
    from frozenlab.tasks import background

    background.start()
    environment = os.environ | ({"FROZENLAB_SESSIONS": str(options.sessions.resolve())} if options.sessions else {})
    url = f"http://127.0.0.1:{options.port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(places.ROOT / "streamlit_app.py"), "--server.port", str(options.port)],
        cwd=places.workplace(),
        env=environment,
    )
    try:
        if wait_until_up(server, url):
            print(f"FrozenLab is open at {url}  (Ctrl+C closes it; running sessions go on)", flush=True)
            if not options.no_browser:
                webbrowser.open(url)
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        return 0


def wait_until_up(server: subprocess.Popen[bytes], url: str) -> bool:
    """Wait for the server to answer; False if it ended instead."""
    import time
    from urllib.error import URLError
    from urllib.request import urlopen

    while server.poll() is None:
        try:
            with urlopen(f"{url}/_stcore/health", timeout=1):
                return True
        except (URLError, OSError):
            time.sleep(0.2)
    return False


def run_doctor(options: argparse.Namespace) -> None:
    from frozenlab.doctor import examine

    report = examine()
    if options.json:
        print_json(report)
        return
    for check in report["checks"]:
        print(f"{'yes' if check['ok'] else ' no'}  {check['what']}: {check['found']}" + (f"; {check['advice']}" if check["advice"] else ""))
    print("\nsessions that are ready to run (frozenlab run --preset NAME):")
    for name, reason in report["presets"].items():
        print(f"{' no' if reason else 'yes'}  {name}" + (f": {reason}" if reason else ""))
    for card in report["cards"]:
        print(f"\n{card['gpu']}, {card['GiB']} GiB (estimates; hours are right to a factor of two or three):")
        for name, needs in card["presets"].items():
            hours = "" if needs["hours"] is None else f", about {needs['hours']:g} h of training"
            print(f"     {name}: {needs['GiB']:g} GiB{hours}")


COMMANDS = (
    Command("app", "open the lab in a browser", add_app, run_app),
    Command("doctor", "check what this machine can run and what is missing for the rest", no_options, run_doctor),
)
