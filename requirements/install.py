"""``pip install`` in a few lines: ``python requirements/install.py PIP_ARGUMENTS``. Large downloads and their sizes, then how far it is.

Without it pip says either nothing for minutes or four hundred lines. If pip fails, its own words follow in full.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path

FETCHED = re.compile(r"(?:Downloading|Using cached) ([\w.]+)-([\w.]+?)(?:\+\w+)?-\S*(?:\.whl|\.tar\.gz)(?:\.metadata)? \(([\d.]+) MB\)")
INSTALLS = "Installing collected packages: "
LARGE = 10.0
"""Megabytes from which a download has a line."""
EVERY = 10.0
"""Seconds between two lines while packages are installed."""


def words(line: str) -> str | None:
    """What of a line of pip's is worth saying."""
    if (found := FETCHED.search(line)) and float(found[3]) >= LARGE:
        return f"{found[1]} {found[2]}, {float(found[3]):.0f} MB"
    return f"installing {packages(line)} packages" if INSTALLS in line else None


def packages(line: str) -> int:
    return len(line.partition(INSTALLS)[2].split(", "))


def installed() -> int:
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def main(arguments: list[str]) -> int:
    began = time.monotonic()

    def say(told: str) -> None:
        print(f"  {time.monotonic() - began:4.0f} s  {told}", flush=True)

    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    heard, over = [], threading.Event()
    for line in process.stdout:
        heard.append(line)
        if (told := words(line)) is not None:
            say(told)
        if INSTALLS in line:
            threading.Thread(target=count, args=(say, installed(), packages(line), over), daemon=True).start()
    over.set()
    if process.wait():
        print("".join(heard), file=sys.stderr)
    else:
        say("done")
    return process.returncode


def count(say: Callable[[str], None], before: int, of: int, over: threading.Event) -> None:
    """Says now and then how many packages are in place."""
    while not over.wait(EVERY):
        say(f"{min(installed() - before, of)} of {of}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
