"""The route of the feeds: ``/live/<kind>/<id>``, a WebSocket, behind the same middleware as all else that the server answers.

Messages to the browser are JSON: ``{"beat": {...}}`` or ``{"draw": revision}``. What a browser sends is ignored.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from frozenlab.app.ui.live.beat import beat
from frozenlab.app.ui.live.feed import Feed, Seen, revision_of
from frozenlab.base.errors import LabError
from frozenlab.jobs.folders import find_folder
from frozenlab.jobs.job import KINDS, Job
from frozenlab.jobs.state import read_state
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore

PATH = "live"
MOST = 200
"""Feeds that are kept."""
UNKNOWN = 4404
"""The code with which a feed of no job is closed."""

_feeds: OrderedDict[Path, Feed] = OrderedDict()


def address(job: Job) -> str:
    """The address of a job's feed, as seen from a page."""
    return f"{PATH}/{job.kind}/{job.id}"


def revision(job: Job) -> str:
    """The present revision of a job, as its feed tells it."""
    state = job.state()
    return revision_of(job.dir, f"{state.status} {isinstance(job, Session) and job.stop_asked}")


def look_at(kind: str, job_id: str, root: Path) -> Callable[[], Seen]:
    """What looks at a job. Raises LabError if there is none of this kind and id in the sessions folder."""
    if kind == "session":
        session = SessionStore(root).open(job_id)

        def look() -> Seen:
            now = Session(session.dir)
            found = revision(now)
            return Seen(found, beat(now, now.state()))

        return look
    place = next((known.place for known in KINDS if known.name == kind), None)
    if place is None:
        raise LabError(f"there is no kind of job {kind!r}")
    folder = find_folder(root / place, job_id, kind=kind, error=LabError)
    return lambda: Seen(revision_of(folder, f"{read_state(folder).status} False"), None)


def feed_of(kind: str, job_id: str, root: Path) -> Feed:
    """The feed of a job, the same for all viewers. Raises LabError if there is no such job."""
    look, key = look_at(kind, job_id, root), root / kind / job_id
    if key not in _feeds:
        _feeds[key] = Feed(look)
        for old in [old for old, feed in _feeds.items() if not feed.viewers and old != key][: max(0, len(_feeds) - MOST)]:
            del _feeds[old]
    return _feeds[key]


async def tell(socket: WebSocket) -> None:
    """Tells one viewer of one job until it goes away."""
    await socket.accept()
    try:
        feed = feed_of(socket.path_params["kind"], socket.path_params["id"], SessionStore().root)
    except LabError:
        await socket.close(UNKNOWN)
        return
    telling = asyncio.create_task(_tell(socket, feed, socket.query_params.get("drawn", "")))
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    finally:
        telling.cancel()


async def _tell(socket: WebSocket, feed: Feed, drawn: str) -> None:
    try:
        async with aclosing(feed.follow(drawn)) as news:
            async for told in news:
                await socket.send_json({"draw": told.draw} if told.draw else {"beat": told.beat})
        await socket.close(UNKNOWN)
    except WebSocketDisconnect:
        pass


def routes() -> list[WebSocketRoute]:
    """The routes that the server needs beside Streamlit's own."""
    return [WebSocketRoute(f"/{PATH}/{{kind}}/{{id}}", tell)]
