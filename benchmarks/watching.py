"""What a room full of viewers costs the server and the training that they watch.

    python -m benchmarks.watching [--only live,recorded] [--viewers 30] [--browsers 4] [--seconds 60] [--turns 2] [--arrivals 100]

* ``live``: a lab model trains in the app's own worker; light clients (benchmarks/light_client.py) and Chromium pages watch its Train
  page. Turns without and with viewers follow each other in one run. Of each turn: the training's seconds a step, the server's cores, and
  for the viewers the time from a step's entry in ``events.jsonl`` until they are shown that step or a later one (*updates*), and for the
  light clients the time until a run of the page has ended that began after it and so has it in its curves (*curves*).
* ``recorded``: light clients arrive evenly within ``--within`` seconds at the Story or Train page of a recorded session. With
  ``--cold``, each first fetches the files that a browser with an empty cache fetches. Printed are the seconds from its first request
  until the first run of its page has ended.

Everything runs on this machine: the viewers take processor time from the server and the training too, which a real room would not.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from statistics import mean, median, quantiles

import psutil
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.light_client import LightClient
from frozenlab.base.files import read_lines
from frozenlab.jobs.environment import worker_environment
from frozenlab.lake.kernels import warm_up
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.serving import App

EXAMPLE = "example-quick"
SETTLE = 8.0
"""Seconds at the start of a turn that are not measured: pages open or close."""
SEEN = """() => {
  const seen = (window.seenSteps = {});
  const look = (root) => {
    for (const [, step] of (root.textContent ?? "").matchAll(/step (\\d+) of/g)) seen[step] ??= Date.now();
  };
  const known = new WeakSet();
  const find = (root) => {
    for (const host of root.querySelectorAll("*")) if (host.shadowRoot) take(host.shadowRoot);
  };
  const take = (root) => {
    if (known.has(root)) return;
    known.add(root);
    const told = (changes) => changes.forEach((change) => look(change.target));
    new MutationObserver(told).observe(root, {childList: true, characterData: true, subtree: true});
    look(root);
    find(root);
  };
  take(document.body);
  setInterval(() => find(document), 1000);
}"""
"""Notes in a page when it first shows each training step."""


@dataclass
class Turn:
    """What one stretch of the run measured."""

    watched: bool
    began: float
    """Unix seconds, without the settling."""
    ended: float
    server: float
    """Cores, as the three that follow."""
    worker: float
    chromium: float
    clients: float
    steps: list[float] = field(default_factory=list)
    """Unix time of each step that ended within."""
    updates: list[float] = field(default_factory=list)
    """Seconds, of all viewers."""
    browsers: list[float] = field(default_factory=list)
    """The same, of those in Chromium only."""
    curves: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    traffic: float = 0.0
    """Bytes a second to one light client."""

    @property
    def seconds_a_step(self) -> float:
        return (self.steps[-1] - self.steps[0]) / (len(self.steps) - 1)

    def __str__(self) -> str:
        room = f", Chromium {self.chromium:4.2f}, light clients {self.clients:4.2f}, {self.traffic / 1000:4.1f} kB/s each"
        return (
            f"{'with' if self.watched else 'no  '} viewers {self.ended - self.began:4.0f} s: {self.seconds_a_step:5.2f} s a step, "
            f"cores: server {self.server:5.3f}, worker {self.worker:4.2f}{room if self.watched else ''}"
        )


def cpu(pid: int, children: bool = True) -> float:
    """CPU seconds of a process so far."""
    process, spent = psutil.Process(pid), 0.0
    for one in [process, *(process.children(recursive=True) if children else [])]:
        with suppress(psutil.NoSuchProcess):
            spent += sum(one.cpu_times()[:2])
    return spent


def cpu_of_chromium() -> float:
    """CPU seconds of the browsers that this process has started."""
    spent = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in process.name():
                spent += sum(process.cpu_times()[:2])
    return spent


# --- a live session ------------------------------------------------------------------------------------------------------


def training_session(root: Path, steps: int) -> Session:
    """A session of one long stage of the demo session, so that no stage ends while it is watched."""
    spec = preset_spec("demo")
    training = spec.training.model_copy(update={"steps": steps, "boards_per_step": 32})
    suite = spec.suite.model_copy(update={"boards_per_cell": 10})
    return SessionStore(root).create(spec.model_copy(update={"training": training, "suite": suite, "test": None}), "live")


def start_worker(session: Session, log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "frozenlab.jobs", "session", str(session.dir)],
            env=worker_environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip


def step_times(session: Session) -> dict[int, float]:
    events = read_lines(session.dir / "events.jsonl", 0)[0]
    return {int(event["step"]): float(event["time"]) for event in events if event.get("kind") == "step"}


async def until_training(session: Session, worker: subprocess.Popen[bytes]) -> None:
    while len(step_times(session)) < 3:
        if worker.poll() is not None:
            raise RuntimeError(f"the worker has ended: {session.state().error}")
        await asyncio.sleep(0.5)


async def live(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        sessions = Path(scratch) / "sessions"
        sessions.mkdir()
        session = training_session(sessions, options.steps)
        app = App(sessions, Path(scratch) / "server.log")
        worker = start_worker(session, Path(scratch) / "worker.log")
        try:
            app.start()
            await until_training(session, worker)
            await take_turns(options, app, session, worker.pid)
        finally:
            worker.kill()
            worker.wait()
            app.stop()
        log = app.log.read_text(errors="replace")
        print("  the server's log has errors:" if "Traceback" in log else "  the server's log has no error")
        if "Traceback" in log:
            print(log[-3000:])


async def take_turns(options: argparse.Namespace, app: App, session: Session, worker: int) -> None:
    assert app.process is not None
    server, address = app.process.pid, f"{app.url}/train?session={session.id}"
    turns: list[Turn] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for number in range(2 * options.turns):
            room = Room(address, options.viewers - options.browsers, browser, options.browsers) if number % 2 else None
            if room:
                await room.enter()
            await asyncio.sleep(SETTLE)
            before, began = (cpu(server), cpu(worker), cpu_of_chromium(), time.process_time()), time.time()
            await asyncio.sleep(options.seconds if room else options.seconds / 2)
            after, ended = (cpu(server), cpu(worker), cpu_of_chromium(), time.process_time()), time.time()
            cores = [(late - early) / (ended - began) for early, late in zip(before, after, strict=True)]
            turn = Turn(room is not None, began, ended, cores[0], cores[1], cores[2], cores[3])
            times = step_times(session)
            turn.steps = [moment for moment in sorted(times.values()) if began <= moment <= ended]
            if room:
                await room.leave(turn, times)
            turns.append(turn)
            print(f"  {turn}", flush=True)
        await browser.close()
    report(turns)


def report(turns: Sequence[Turn]) -> None:
    alone, watched = ([turn for turn in turns if turn.watched == kind] for kind in (False, True))
    slower = mean(turn.seconds_a_step for turn in watched) / mean(turn.seconds_a_step for turn in alone) - 1
    errors = [error for turn in turns for error in turn.errors]
    print(f"  errors: {len(errors)}", *sorted(set(errors))[:8], sep="\n    ")
    updates, browsers, curves = (
        [lag for turn in turns for lag in kind(turn)] for kind in (attrgetter("updates"), attrgetter("browsers"), attrgetter("curves"))
    )
    for name, lags in (("updates", updates), ("of these in Chromium", browsers), ("curves", curves)):
        if len(lags) > 1:
            late = quantiles(lags, n=20)[-1]
            print(f"  {name}: {len(lags)}, median {median(lags):.2f} s, 95th percentile {late:.2f} s, worst {max(lags):.2f} s")
    print(f"  server: {mean(turn.server for turn in watched):.3f} cores; training: {100 * slower:+.1f} % seconds a step")


class Room:
    """Light clients and Chromium pages that watch one page."""

    def __init__(self, address: str, light: int, browser: Browser, pages: int) -> None:
        self.address, self.browser, self.pages = address, browser, pages
        self.clients = [LightClient(address) for _ in range(light)]
        self.tasks: list[asyncio.Task[None]] = []
        self.opened: list[Page] = []
        self.errors: list[str] = []

    async def enter(self) -> None:
        for client in self.clients:
            self.tasks.append(asyncio.create_task(client.watch()))
            await asyncio.sleep(0.1)
        for _ in range(self.pages):
            page = await (await self.browser.new_context(viewport={"width": 1440, "height": 900})).new_page()
            page.on("pageerror", lambda error: self.errors.append(f"browser: {error}"))
            await page.goto(self.address)
            await page.locator("h1").wait_for(timeout=60_000)
            await page.evaluate(SEEN)
            self.opened.append(page)
        await asyncio.wait_for(asyncio.gather(*(client.drawn() for client in self.clients)), 120)
        self.before = sum(client.received for client in self.clients)

    async def leave(self, turn: Turn, times: dict[int, float]) -> None:
        """Closes all, and notes what the viewers were shown and what went wrong."""
        turn.errors = [*self.errors, *(error for client in self.clients for error in client.errors)]
        received = (sum(client.received for client in self.clients) - self.before) / max(len(self.clients), 1)
        turn.traffic = received / (turn.ended - turn.began)
        seen = [client.steps for client in self.clients]
        for page in self.opened:
            seen.append({int(step): moment / 1000 for step, moment in (await page.evaluate("window.seenSteps")).items()})
            if await page.locator('[data-testid="stException"]').count():
                turn.errors.append("browser: the page shows an exception")
            await page.context.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        over = turn.ended - 15  # what comes last may not have been shown yet when the turn ended
        for step, moment in times.items():
            if turn.began <= moment <= over:
                lags = [min((at for known, at in shown.items() if known >= step), default=turn.ended) - moment for shown in seen]
                turn.updates += lags
                turn.browsers += lags[len(self.clients) :]
                turn.curves += [
                    min((ended for asked, ended in client.runs if asked >= moment), default=turn.ended) - moment for client in self.clients
                ]


# --- a recorded session --------------------------------------------------------------------------------------------------


async def recorded(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        sessions = Path(scratch) / "sessions"
        sessions.mkdir()
        app = App(sessions, Path(scratch) / "server.log")
        app.start()
        try:
            for name in ("story", "train"):
                await arrive(options, app, f"{app.url}/{name}?session={EXAMPLE}", name)
        finally:
            app.stop()


async def arrive(options: argparse.Namespace, app: App, address: str, name: str) -> None:
    assert app.process is not None
    files = await files_of(address)
    list_of_files = app.log.with_name(f"{name}-files")
    list_of_files.write_text("".join(f'url = "{file}"\noutput = "/dev/null"\n' for file in files), encoding="utf-8")
    spent, began = cpu(app.process.pid), time.perf_counter()
    tasks, clients, waits = [], [LightClient(address) for _ in range(options.arrivals)], []

    async def one(client: LightClient) -> None:
        came = time.perf_counter()
        if options.cold:
            quiet = ("--no-progress-meter", "--fail")
            curl = ["curl", *quiet, "--parallel", "--parallel-max", "6", "--config", str(list_of_files)]  # 6 as a browser
            fetching = await asyncio.create_subprocess_exec(*curl, stdout=asyncio.subprocess.DEVNULL)
            if await fetching.wait():
                client.errors.append("the app's files could not be fetched")
        tasks.append(asyncio.create_task(client.watch()))
        await client.drawn()
        waits.append(time.perf_counter() - came)

    arrivals = []
    for client in clients:
        arrivals.append(asyncio.create_task(one(client)))
        await asyncio.sleep(options.within / options.arrivals)
    await asyncio.wait_for(asyncio.gather(*arrivals), 600)
    seconds = time.perf_counter() - began
    await asyncio.sleep(1)
    used = cpu(app.process.pid) - spent
    errors = [error for client in clients for error in client.errors]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    fetched = f"{len(files)} files each" if options.cold else "with the app's files in their caches"
    print(f"  {name}: {options.arrivals} arrive within {options.within:.0f} s, {fetched}")
    late = quantiles(waits, n=20)[-1]
    print(f"    complete after median {median(waits):.2f} s, 95th percentile {late:.2f} s, worst {max(waits):.2f} s")
    print(f"    server: {used:.1f} CPU s, {1000 * used / options.arrivals:.0f} ms each, {used / seconds:.2f} cores")
    print(f"    errors: {len(errors)}", *sorted(set(errors))[:8], sep="\n      ", flush=True)


async def files_of(address: str) -> list[str]:
    """What a browser with an empty cache fetches for a page, beside what goes through the WebSocket."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page, found = await browser.new_page(), []
        page.on(
            "request", lambda request: found.append(request.url) if request.method == "GET" and request.url.startswith("http") else None
        )
        await page.goto(address)
        await page.locator("h1").wait_for(timeout=60_000)
        await page.wait_for_timeout(4000)
        await browser.close()
    return [url for url in dict.fromkeys(found) if "/_stcore/" not in url and "/media/" not in url]


PARTS = {"live": live, "recorded": recorded}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="live,recorded", help="parts, comma-separated")
    parser.add_argument("--viewers", type=int, default=30, help="of the live session, the browsers among them")
    parser.add_argument("--browsers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0, help="of a turn with viewers; one without takes half of it")
    parser.add_argument("--turns", type=int, default=2, help="with viewers, and as many without")
    parser.add_argument("--steps", type=int, default=600, help="of the stage that is watched")
    parser.add_argument("--arrivals", type=int, default=100)
    parser.add_argument("--within", type=float, default=30.0, help="seconds in which they arrive")
    parser.add_argument("--cold", action="store_true", help="the arriving browsers fetch the app's files too, by curl")
    options = parser.parse_args()
    warm_up.warm_up()
    for part in options.only.split(","):
        print(part, flush=True)
        asyncio.run(PARTS[part](options))


if __name__ == "__main__":
    main()
