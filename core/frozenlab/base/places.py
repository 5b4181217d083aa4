"""Paths of files that are not code: next to the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parents[1] if PACKAGE.parent.name == "core" else None
"""The checkout that this code runs from; None where it is installed as a package."""
ROOT = CHECKOUT or PACKAGE
"""Holds ``streamlit_app.py``, ``pages``, ``assets`` and the recorded ``sessions``."""
ASSETS = ROOT / "assets"
SESSIONS = ROOT / "sessions"
"""The recorded sessions that come with FrozenLab, read-only."""
TELL = "FROZENLAB_TELL"
"""Names the open file to which a server writes its scheme and the path that it is served below, for the process that has started it."""

LESSONS, TALKS, ANSWERS, API_ANSWERS, TRACKING, MODELS = BESIDE = ("lessons", "talks", "answers", "api-answers", "tracking", "models")
"""Folders among the sessions that hold no jobs."""


def workplace() -> Path:
    """The default folder for processes and new sessions: the checkout, else the current folder."""
    return CHECKOUT or Path.cwd()


def sessions_folder() -> Path:
    """The folder of the user's sessions, studies, students and results: ``FROZENLAB_SESSIONS``, else ``sessions`` in the workplace."""
    return Path(os.environ.get("FROZENLAB_SESSIONS") or workplace() / "sessions").resolve()


def home() -> Path:
    """The person's home folder; the root for a user who has neither ``HOME`` nor a name, as in containers, which set it likewise."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def config_folder() -> Path:
    """The folder of what a person has settled on this machine: ``frozenlab`` in ``XDG_CONFIG_HOME``, else in ``~/.config``."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or home() / ".config") / "frozenlab"
