"""Pages that follow a running job: ``/live/<kind>/<id>`` is the WebSocket of its feed, and a component joins a page to it.

A feed looks at the job's folder once for all viewers and sends two kinds of messages, as JSON. ``{"beat": {...}}``, what changes with every
step, is computed once a change and goes to every viewer at once. ``{"draw": revision}`` asks for a run of the page's fragment, which costs
the server time for each viewer. So it goes to all in a round, one after the other; the more are watching, the more time is between two
rounds. The route is behind the same middleware as all else that the server answers. What a browser sends is ignored.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import asdict
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config

from frozenlab.app.ui import sessions
from frozenlab.app.ui.components import registered, text_of
from frozenlab.app.ui.components.timeline import marks
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import percent
from frozenlab.jobs.folders import find_folder
from frozenlab.jobs.job import KINDS, Job
from frozenlab.jobs.state import read_state
from frozenlab.session.session import Session
from frozenlab.session.state import BEFORE_TRAINING, PHASE_WORDS, State
from frozenlab.session.store import SessionStore

PATH = "live"
MOST = 200
"""Feeds that are kept."""
UNKNOWN = 4404
"""The code with which a feed of no job is closed."""

_feeds: OrderedDict[Path, Feed] = OrderedDict()
LATEST = 5
"""Training steps over which the newest figures are averaged."""
LOOK = 0.2
"""Seconds between looks at a folder, at least; a look takes at most one part in SHARE of the time."""
SHARE = 20
DRAWS_A_SECOND = 4.0
"""Runs of pages that all feeds of this server ask for, at most."""
DRAW = 2.0
"""Seconds between two runs of one viewer's page, at least."""
GAP = 0.04
"""Seconds between the turns of two viewers in a round."""
DEPTH = 5
"""Levels of a job's folder that are looked at."""
UNSEEN = {"policy", "report", "evidence"}
"""Folders of a job that no page shows while it runs."""
JS = text_of(__file__, "live.js")

_current = registered("current", js=JS)
_beat = registered(
    "beat",
    html='<div class="beat"><div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100"><i></i></div>'
    '<p class="words"></p><p class="note"></p></div>',
    css=text_of(__file__, "live.css"),
    js=JS,
)


def keep_current(job: Job, *, every: float | None = None) -> None:
    """Keep the fragment that calls this up to date while the job runs. Called before the fragment reads the job's files.

    Args:
        every: run again after this many seconds without a change, too.
    """
    with st.container(key=f"live-feed-{job.kind}-{job.id}"):
        data = {"feed": address(job), "revision": revision(job), "beat": None, "every": every}
        _current(key=f"live-{job.kind}-{job.id}", data=data, on_changed_change=_nothing)


def live_beat(job: Job, drawn: str, beat: dict[str, Any], *, live: bool, every: float | None = None) -> None:
    """The bar and the words of a session that runs (:func:`beat`), changed by its feed: no page runs.

    Args:
        drawn: the revision of the session from before the fragment read its files.
        live: join the feed; otherwise nothing changes.
        every: as for :func:`keep_current`.
    """
    data = {"feed": address(job) if live else None, "revision": drawn, "beat": beat, "every": every}
    _beat(key=f"beat-{job.id}", data=data, on_changed_change=_nothing, height="content")


def _nothing() -> None:
    """Streamlit asks for a function; the run of the fragment is all that is wanted."""


def address(job: Job) -> str:
    """The address of a job's feed, as seen from a page."""
    return f"{PATH}/{job.kind}/{job.address}"


def revision(job: Job) -> str:
    """The present revision of a job, as its feed sends it."""
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
    if kind not in KINDS:
        raise LabError(f"there is no kind of job {kind!r}")
    folder = find_folder(root / KINDS[kind].place, job_id, kind=kind, error=LabError)
    return lambda: Seen(revision_of(folder, f"{read_state(folder).status} False"), None)


def feed_of(kind: str, job_id: str, root: Path) -> Feed:
    """The feed of a job, the same for all viewers. Raises LabError if there is no such job."""
    look, key = look_at(kind, job_id, root), root / kind / job_id
    if key not in _feeds:
        _feeds[key] = Feed(look)
        for old in [old for old, feed in _feeds.items() if not feed.viewers and old != key][: max(0, len(_feeds) - MOST)]:
            del _feeds[old]
    return _feeds[key]


async def serve(socket: WebSocket) -> None:
    """Send one viewer the updates of one job until it goes away."""
    await socket.accept()
    try:
        feed = feed_of(socket.path_params["kind"], socket.path_params["id"], SessionStore().root)
    except LabError:
        await socket.close(UNKNOWN)
        return
    sending = asyncio.create_task(_send(socket, feed, socket.query_params.get("drawn", "")))
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    finally:
        sending.cancel()


async def _send(socket: WebSocket, feed: Feed, drawn: str) -> None:
    with suppress(WebSocketDisconnect):
        async with aclosing(feed.follow(drawn)) as updates:
            async for update in updates:
                await socket.send_json(update)
        await socket.close(UNKNOWN)


def routes() -> list[WebSocketRoute]:
    """The routes that the server needs beside Streamlit's own, below the same path (``server.baseUrlPath``)."""
    base = (config.get_option("server.baseUrlPath") or "").strip("/")
    return [WebSocketRoute(f"/{base}/{PATH}/{{kind}}/{{id:path}}".replace("//", "/"), serve)]


def beat(session: Session, state: State) -> dict[str, Any]:
    """``{"progress": 0..1, "words", "began", "age", "marks"}``: the bar and the words below it, seconds since the session began and since
    its worker last reported (None: never), and the marks of the timeline."""
    now = time.time()
    return {
        "progress": min(max(state.progress, 0.0), 1.0),
        "words": words(session, state),
        "began": now - session.created,
        "age": None if state.heartbeat is None else max(0.0, now - state.heartbeat),
        "marks": [asdict(mark) for mark in marks(session, state)],
    }


def words(session: Session, state: State) -> str:
    """``Stage 1 of 3: training, step 7 of 40 · about 3 min left · 62 % of the newest plans valid · 12 % of the session``."""
    return f"{at_work(session, state)} · {percent(state.progress)} of the session"


def at_work(session: Session, state: State) -> str:
    """The words without the share of the session, for those who see its curve."""
    now = PHASE_WORDS[state.phase]
    where = f"Stage {state.stage + 1} of {session.spec.stages}: {now}" if state.phase not in BEFORE_TRAINING else now.capitalize()
    parts = []
    if state.phase == "training":
        where += f", step {state.step} of {state.steps}"
        valid = [figures["valid"] for figures in session.figures(state.stage)[-LATEST:] if figures.get("valid") is not None]
        if valid:
            parts.append(f"{percent(sum(valid) / len(valid))} of the newest plans valid")
    if state.live and session.stop_asked:
        where = f"Stopping after this step. {where}"
    left = []  # before what a narrow screen may cut
    if state.seconds_left is not None and state.status == "running" and not session.stop_asked:
        left = [f"about {sessions.duration(state.seconds_left)} left"]
    return " · ".join([where, *left, *parts])


class Seen(NamedTuple):
    """What a look at a job found."""

    revision: str
    """Another one means that a page may look different now."""
    beat: dict[str, Any] | None
    """Updates for every viewer at once, for jobs that have them."""


def files_of(folder: Path, depth: int = DEPTH) -> Iterator[tuple[str, int, int]]:
    """Path, time of the last change and size of each file of a job that a page may show."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    found = entry.stat()
                    yield entry.path, found.st_mtime_ns, found.st_size
                elif depth > 1 and entry.name not in UNSEEN and not entry.name.startswith((".", "checkpoint")):
                    yield from files_of(Path(entry.path), depth - 1)


def revision_of(folder: Path, status: str) -> str:
    """The revision of a job whose state reads ``status``."""
    return sha256(repr((sorted(files_of(folder)), status)).encode()).hexdigest()[:16]


class Crowd:
    """How many are watching, of all feeds of this server together."""

    def __init__(self) -> None:
        self.size = 0

    @property
    def pace(self) -> float:
        """Seconds between two runs of a viewer's page: the more are watching, the longer."""
        return max(DRAW, self.size / DRAWS_A_SECOND)


CROWD = Crowd()


class Feed:
    """The updates of one job for its viewers. It looks at the folder while there are any."""

    def __init__(self, look: Callable[[], Seen], crowd: Crowd = CROWD) -> None:
        self._look, self._crowd = look, crowd
        self._seen: Seen | None = None
        self._beats = 0
        self._round, self._round_began = 0, -inf
        """All viewers draw in rounds, so that what their pages share is computed for few revisions."""
        self._gone = False
        self._changed = asyncio.Condition()
        self._watching: asyncio.Task[None] | None = None
        self.viewers = 0

    async def follow(self, drawn: str) -> AsyncGenerator[dict[str, Any]]:
        """The messages to a viewer whose page was drawn for the revision ``drawn``, for as long as it listens and the job exists."""
        place = self.viewers
        self.viewers += 1
        self._crowd.size += 1
        if self._watching is None or self._watching.done():
            self._gone = False
            self._watching = asyncio.create_task(self._watch())
        sent = drawn_in = known = 0
        try:
            while True:
                await self._wait(known, self._until_turn(place, drawn_in))
                if self._gone:
                    return
                known = self._changes
                assert self._seen is not None
                if not sent and drawn == self._seen.revision:
                    drawn_in = self._round
                if sent != self._beats:
                    sent = self._beats
                    if self._seen.beat is not None:
                        yield {"beat": self._seen.beat}
                if self._until_turn(place, drawn_in) <= 0:
                    drawn_in = self._round
                    yield {"draw": self._seen.revision}
        finally:
            self.viewers -= 1
            self._crowd.size -= 1
            if not self.viewers and self._watching is not None:
                self._watching.cancel()
                self._watching, self._seen, self._beats, self._round = None, None, 0, 0

    @property
    def _changes(self) -> int:
        return self._beats + self._round + self._gone

    def _until_turn(self, place: int, drawn_in: int) -> float:
        """Seconds until a viewer's turn in the present round; infinite if it has had it."""
        return self._round_began + place * GAP - time.monotonic() if drawn_in < self._round else inf

    async def _wait(self, known: int, seconds: float) -> None:
        """Until there are more changes than the viewer knows, or the seconds are over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds == inf else max(0.0, seconds)), self._changed:
                await self._changed.wait_for(lambda: self._changes != known)

    async def _watch(self) -> None:
        drawn = ""
        while True:
            began = time.monotonic()
            try:
                seen = await asyncio.to_thread(self._look)
            except (LabError, OSError):  # the folder is not there any more
                async with self._changed:
                    self._gone = True
                    self._changed.notify_all()
                return
            async with self._changed:
                if self._seen is None or seen.revision != self._seen.revision:
                    self._beats += 1
                self._seen = seen
                if seen.revision != drawn and began - self._round_began >= self._crowd.pace:
                    self._round, self._round_began, drawn = self._round + 1, began, seen.revision
                self._changed.notify_all()
            await asyncio.sleep(max(LOOK, SHARE * (time.monotonic() - began)))
