"""A viewer without a browser: speaks Streamlit's protocol over a WebSocket as its page does, and notes when it was shown what.

It asks for the page, keeps the messages that the server may refer to later, runs fragments again when their timers say so, and joins the
feeds of live jobs as the page's own component does. It draws nothing, so that a machine can hold a hundred of them.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from contextlib import suppress
from urllib.parse import urlsplit

from streamlit.components.v2.bidi_component.main import _make_trigger_id as make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

STEP = re.compile(rb"step (\d+) of \d+")
LARGEST = 2**26
"""Bytes of a message."""


class LightClient:
    """One viewer of one page.

    Args:
        address: of the page, ``http://127.0.0.1:8501/train?session=live``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.steps: dict[int, float] = {}
        """Training step -> unix time at which this viewer was first shown it."""
        self.errors: list[str] = []
        self.runs: list[tuple[float, float]] = []
        """Of each run of the page or a fragment: when it was asked for and when it had ended, unix times."""
        self.complete: float | None = None
        """Seconds from the start of :meth:`watch` until the first run of the page had ended."""
        self.received = 0
        """Bytes."""
        self._kept: dict[str, ForwardMsg] = {}
        self._page_hash = ""
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._feeds: dict[str, asyncio.Task[None]] = {}
        self._parts = urlsplit(address)
        self._began = 0.0
        self._ready = asyncio.Event()
        self._live = ("", "")
        """Component and fragment of the page that is joined to a feed."""
        self._asked, self._wanted, self._asked_at = False, "", 0.0

    async def watch(self) -> None:
        """Opens the page and stays on it until cancelled."""
        self._began = time.perf_counter()
        try:
            async with self._connection("/_stcore/stream", ["streamlit"]) as self._socket:
                await self._ask()
                async for data in self._socket:
                    assert isinstance(data, bytes)
                    self.received += len(data)
                    await self._take(ForwardMsg.FromString(data), data)
        except (ConnectionClosed, OSError) as error:
            self.errors.append(f"connection: {error}")
        finally:
            for task in [*(task for _, task in self._timers.values()), *self._feeds.values()]:
                task.cancel()

    async def drawn(self) -> None:
        """Waits until the first run of the page has ended."""
        await self._ready.wait()

    def _connection(self, path: str, protocols: list[str] | None = None) -> connect:
        origin = f"{self._parts.scheme}://{self._parts.netloc}"
        return connect(
            f"ws://{self._parts.netloc}{path}",
            origin=origin,  # type: ignore[arg-type]
            subprotocols=protocols,  # type: ignore[arg-type]
            max_size=LARGEST,
            open_timeout=60,
            compression=None,  # Streamlit's server offers none
        )

    # --- what it is told -----------------------------------------------------------------------------------------

    async def _take(self, message: ForwardMsg, data: bytes) -> None:
        if message.WhichOneof("type") == "ref_hash":
            known = self._kept.get(message.ref_hash)
            if known is None:
                self.errors.append("a message is referred to that this viewer does not have")
                return
            message, data = known, known.SerializeToString()
        elif message.metadata.cacheable:
            self._kept[message.hash] = message
        self._note(data)
        match message.WhichOneof("type"):
            case "new_session":
                self._page_hash = message.new_session.page_script_hash
            case "auto_rerun":
                self._set_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                for name in message.stop_auto_rerun.fragment_ids:
                    self._end_timer(name)
            case "script_finished":
                self._finished(message.script_finished)
            case "delta":
                self._draw(message)

    def _finished(self, status: int) -> None:
        self.runs.append((self._asked_at, time.time()))
        if status not in (
            ForwardMsg.FINISHED_SUCCESSFULLY,
            ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
            ForwardMsg.FINISHED_EARLY_FOR_RERUN,
        ):
            self.errors.append(f"a run ended with status {status}")
        if self.complete is None and status == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.complete = time.perf_counter() - self._began
            self._ready.set()

    def _draw(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.HasField("exception"):
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif element.bidi_component.component_name.endswith(("frozenlab_beat", "frozenlab_current")):
            self._join(element.bidi_component, message.delta.fragment_id)

    def _join(self, component: BidiComponent, fragment: str) -> None:
        """As core/frozenlab/app/ui/live.js does."""
        data = json.loads(component.json)
        self._live, self._asked = (component.id, fragment), False
        if data["feed"] and data["feed"] not in self._feeds:
            address = f"/{data['feed']}?drawn={data['revision']}"
            self._feeds[data["feed"]] = asyncio.create_task(self._follow(address))
        elif self._wanted:
            wanted, self._wanted = self._wanted, ""
            asyncio.get_running_loop().create_task(self._changed(wanted))

    def _note(self, data: bytes) -> None:
        for found in STEP.findall(data):
            self.steps.setdefault(int(found), time.time())

    # --- what it asks --------------------------------------------------------------------------------------------

    async def _changed(self, revision: str) -> None:
        """Runs the fragment again, as the component's trigger does, unless that has been asked for already."""
        if self._asked:
            self._wanted = revision
            return
        self._asked = True
        await self._ask(self._live[1], trigger=(self._live[0], revision))

    async def _ask(self, fragment: str = "", trigger: tuple[str, str] | None = None) -> None:
        self._asked_at = time.time()
        asked = BackMsg()
        run = asked.rerun_script
        run.query_string = self._parts.query
        run.fragment_id, run.is_auto_rerun = fragment, bool(fragment) and trigger is None
        if self._page_hash:
            run.page_script_hash = self._page_hash
        else:
            run.page_name = self._parts.path.strip("/")
        run.cached_message_hashes.extend(self._kept)
        run.widget_states.SetInParent()
        if trigger is not None:
            state = run.widget_states.widgets.add()
            state.id = make_trigger_id(trigger[0], "events")
            state.json_trigger_value = json.dumps([{"event": "changed", "value": trigger[1]}])
        run.context_info.timezone, run.context_info.locale = "UTC", "en-GB"
        run.context_info.url, run.context_info.color_scheme = self.address, "light"
        await self._socket.send(asked.SerializeToString())

    def _set_timer(self, fragment: str, interval: float) -> None:
        known = self._timers.get(fragment)
        if known is None or known[0] != interval:
            self._end_timer(fragment)
            self._timers[fragment] = interval, asyncio.create_task(self._tick(fragment, interval))

    def _end_timer(self, fragment: str) -> None:
        if fragment in self._timers:
            self._timers.pop(fragment)[1].cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self._ask(fragment)

    async def _follow(self, feed: str) -> None:
        try:
            async with self._connection(feed) as socket:
                async for data in socket:
                    text = data if isinstance(data, bytes) else data.encode()
                    self.received += len(text)
                    self._note(text)
                    if draw := json.loads(text).get("draw"):
                        await self._changed(draw)
        except (ConnectionClosed, OSError) as error:
            self.errors.append(f"feed: {error}")
