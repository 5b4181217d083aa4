"""``frozenlab present``: a session as one HTML file, for a talk without a server."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.base.files import write_text
from frozenlab.cli.common import show
from frozenlab.cli.session import find_session
from frozenlab.session.store import SessionStore


def add_present(parser: argparse.ArgumentParser) -> None:
    from frozenlab.app.present.scenes import PARTS

    parser.add_argument("session", help="id of a session, one of its stages followed by another")
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    parser.add_argument(
        "--scenes", metavar="A,B,...", help=f"scenes in their order, of {', '.join(part.name for part in PARTS)} (default: as prepared)"
    )


def run_present(options: argparse.Namespace) -> None:
    from frozenlab.app.present.deck import html_file, talk
    from frozenlab.app.present.scenes import chosen, prepared, scenes_for

    session = find_session(options.session)
    preparation = prepared(session, SessionStore())
    names = list(preparation.scenes) if options.scenes is None else [name.strip() for name in options.scenes.split(",")]
    scenes = chosen(scenes_for(session, preparation), names)
    text = html_file(session.spec.tasks, talk(session, scenes, preparation.notes))
    write_text(options.out, text)
    size = len(text.encode())
    words = f"{options.out}: {len(scenes)} scenes, {size / 1000:.0f} kB; open it in a browser, N shows your notes"
    show(options.json, {"file": str(options.out), "bytes": size, "scenes": [scene["name"] for scene in scenes]}, words)
