"""What the app costs its server, in CPU seconds and wall seconds, measured on the real server with Chromium in front of it.

    python -m benchmarks.ui_speed [--only start,pages,play,flows,viewers,sessions,animation] [--seconds S]

CPU is that of the server, the process in which its model plans included, and hardly depends on what else runs; wall is for a quiet
machine. Each part has a server and a sessions folder of its own. Figures of repeated actions are medians.

* ``start``: a server on a machine that has compiled nothing yet: when it answers, when Home and Play are there, the first *N*.
* ``pages``: the first visit of each page in a server's life, and the next one.
* ``play``: *N*, *M*, sampled plans, opening the search, a step of it.
* ``flows``: each interaction of the flows that people go through, with its target (benchmarks/flows.py).
* ``viewers``: a live session that takes a step a second, watched by 1, 4 and 8; no model trains, its files are written here.
* ``sessions``: Home, Train, Story and ``frozenlab status`` with 5, 300 and 3,000 sessions.
* ``animation``: frames a second (benchmarks/animation.py).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.animation import animation
from benchmarks.flows import flows
from benchmarks.server_cpu import cpu_of
from frozenlab.app.ui.nav import PAGES
from frozenlab.app.views.lake.share import encode
from frozenlab.base import places
from frozenlab.base.files import append_line, write_text
from frozenlab.jobs.state import own_process
from frozenlab.lake.board import Board
from frozenlab.lake.kernels import warm_up
from tests.serving import App

CROSSING = Board.from_text("S F F\nF F F\ns F g\nF F G")
"""A search of a few steps."""
PATIENCE = 240_000  # milliseconds
PARTS = ("start", "pages", "play", "flows", "viewers", "sessions", "animation")
EXAMPLE = "example-quick"
"""The recorded session that is copied."""
VIEWERS = (1, 4, 8)
SESSIONS = (5, 300, 3000)
TURNS = 5
QUIET = """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
  && document.querySelector('h1') !== null && document.querySelector('[data-testid="stException"]') === null"""
"""Whether the page is drawn, and no run of its script goes on."""
SETTLED = 0.4
"""Seconds for which a page has to be quiet."""


@dataclass(frozen=True)
class Cost:
    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu:6.2f} CPU s {self.wall:7.2f} s"


def measure(app: App, page: Page, action: Callable[[], object], done: Callable[[], bool] = lambda: True) -> Cost:
    """What the server does until ``action`` is ``done`` and the page is quiet again. The quiet itself is not counted as wall."""
    spent, began = cpu_of(app), time.perf_counter()
    action()
    quiet_since = None
    while quiet_since is None or time.perf_counter() - quiet_since < SETTLED:
        if time.perf_counter() - began > PATIENCE / 1000:
            raise TimeoutError("the page does not come to rest")
        page.wait_for_timeout(30)
        if not (done() and page.evaluate(QUIET)):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = time.perf_counter()
    return Cost(cpu_of(app) - spent, quiet_since - began)


def come_to_rest(app: App, page: Page) -> None:
    """Waits until the server does nothing any more, which loads the model while somebody looks at the first board."""
    spent = -1.0
    while cpu_of(app) - spent > 0.02:
        spent = cpu_of(app)
        page.wait_for_timeout(1500)


def often(app: App, page: Page, action: Callable[[], object], done: Callable[[], Callable[[], bool]], turns: int = TURNS) -> Cost:
    """The median of several turns; ``done()`` is asked before each for what tells that it is over."""
    costs = [measure(app, page, action, done()) for _ in range(turns)]
    return Cost(median(cost.cpu for cost in costs), median(cost.wall for cost in costs))


def row(what: str, cost: object, note: str = "") -> None:
    print(f"  {what:38} {cost}  {note}".rstrip(), flush=True)


@contextmanager
def server(fill: Callable[[Path], None] = lambda sessions: None) -> Iterator[App]:
    """A fresh server whose sessions folder ``fill`` has filled."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder) / "sessions"
        sessions.mkdir()
        fill(sessions)
        app = App(sessions, Path(folder) / "server.log")
        app.start()
        try:
            yield app
        finally:
            app.stop()


def new_page(browser: Browser) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE)
    return page


def another_board(page: Page) -> Callable[[], bool]:
    """What tells that the board in the address is no longer the present one."""
    before = page.url
    return lambda: page.url != before


# --- the parts -----------------------------------------------------------------------------------------------------------


def start(browser: Browser) -> None:
    kept = os.environ.get("NUMBA_CACHE_DIR")
    with tempfile.TemporaryDirectory() as nothing_compiled:
        os.environ["NUMBA_CACHE_DIR"] = nothing_compiled
        began = time.perf_counter()

        def since(what: str) -> None:
            row(what, f"{time.perf_counter() - began:6.1f} s after the start")

        try:
            with server() as app:
                since("the server answers")
                page = new_page(browser)
                for name in ("", "play"):
                    page.goto(f"{app.url}/{name}")
                    page.locator("h1").wait_for()
                    since(f"{name or 'home'} has its heading")
                page.get_by_text("best makespan").first.wait_for()
                since("play: the first optimum")
                changed = another_board(page)
                page.keyboard.press("n")
                while not changed():
                    page.wait_for_timeout(50)
                page.get_by_text("best makespan").first.wait_for()
                since("play: the first N")
                page.get_by_text("still to come").wait_for(state="hidden")
                since("play: sums of costs too")
        finally:
            os.environ.pop("NUMBA_CACHE_DIR") if kept is None else os.environ.update(NUMBA_CACHE_DIR=kept)


def pages(browser: Browser) -> None:
    with server() as app:
        for name in PAGES:
            address = f"{app.url}/{'' if name == 'home' else name}"
            for turn in ("first", "again"):
                page = new_page(browser)
                row(f"{name}, {turn}", measure(app, page, lambda page=page, address=address: page.goto(address)))  # type: ignore[misc]
                come_to_rest(app, page)  # what Play loads meanwhile is not the next page's
                page.context.close()


def play(browser: Browser) -> None:
    with server() as app:
        page = new_page(browser)
        row("open Play", measure(app, page, lambda: page.goto(f"{app.url}/play")))
        page.locator("h1").click()
        come_to_rest(app, page)

        def press_n() -> None:
            page.keyboard.press("n")

        def planned() -> Callable[[], bool]:
            """Plans come in after a run that has begun: the server has to have worked."""
            began = time.perf_counter()
            return lambda: time.perf_counter() - began > 0.5 and not page.get_by_text("The model plans").is_visible()

        measure(app, page, press_n, another_board(page))
        row("N, another board", often(app, page, press_n, lambda: another_board(page)))
        row("M, the first (loads the model)", measure(app, page, lambda: page.keyboard.press("m"), planned()))
        costs = []
        for _ in range(TURNS):
            measure(app, page, press_n, another_board(page))
            costs.append(measure(app, page, lambda: page.keyboard.press("m"), planned()))
        row("M, the model plans", Cost(median(cost.cpu for cost in costs), median(cost.wall for cost in costs)), "wall: at least 0.5")
        page.get_by_text("Sampled", exact=True).click()
        measure(app, page, lambda: None, planned())
        row("8 sampled plans", often(app, page, lambda: page.keyboard.press("m"), planned, 3), "wall: at least 0.5")
        page.goto(f"{app.url}/play?board={encode(CROSSING)}")
        measure(app, page, lambda: None)
        row("How a solver finds it, opened", measure(app, page, lambda: page.get_by_text("How a solver finds it", exact=True).click()))
        following = page.locator(".search").get_by_role("button", name="Next")
        row("a step of the search", often(app, page, following.click, lambda: lambda: True, turns=2))


def live_session(sessions: Path) -> None:
    """A session that looks as if this process trained it."""
    shutil.copytree(places.ROOT / "sessions" / EXAMPLE, sessions / "live", ignore=shutil.ignore_patterns("policy"))
    (sessions / "live" / "stages" / "02" / "validation.parquet").unlink()


class Steps(threading.Thread):
    """Takes a training step a second, as far as files tell."""

    def __init__(self, session: Path) -> None:
        super().__init__(daemon=True)
        self.session, self.over = session, threading.Event()
        self.state = json.loads((session / "state.json").read_text()) | own_process()
        self.lines = (session / "stages" / "02" / "metrics.jsonl").read_text().splitlines()

    def run(self) -> None:
        metrics = self.session / "stages" / "02" / "metrics.jsonl"
        metrics.write_text("")
        rates = [rate for rate in self.state["rates"] if rate["stage"] != 2]
        for step, line in enumerate(self.lines * 100, 1):
            now = {"status": "running", "phase": "training", "stage": 2, "step": step, "steps": 100 * len(self.lines), "rates": rates}
            append_line(metrics, json.loads(line) | {"step": step})
            write_text(self.session / "state.json", json.dumps(self.state | now | {"heartbeat": time.time(), "finished": None}))
            if self.over.wait(1.0):
                return


def viewers(browser: Browser, seconds: float) -> None:
    with server(live_session) as app:
        steps = Steps(app.sessions / "live")
        steps.start()
        open_pages: list[Page] = []
        for many in VIEWERS:
            while len(open_pages) < many:
                open_pages.append(new_page(browser))
                open_pages[-1].goto(f"{app.url}/train?session=live")
                open_pages[-1].locator("h1").wait_for()
            open_pages[0].wait_for_timeout(5000)
            spent, began = cpu_of(app), time.perf_counter()
            open_pages[0].wait_for_timeout(1000 * seconds)
            row(f"a live session, {many} viewers", f"{(cpu_of(app) - spent) / (time.perf_counter() - began):6.3f} cores")
        steps.over.set()


def copies(sessions: Path, many: int) -> None:
    """As many sessions, all with validation tables; the same files under many names."""
    first = sessions / "copy-0"
    if not first.exists():
        shutil.copytree(places.ROOT / "sessions" / EXAMPLE, first, ignore=shutil.ignore_patterns("policy"))
    for number in range(1, many):
        if not (sessions / f"copy-{number}").exists():
            shutil.copytree(first, sessions / f"copy-{number}", copy_function=os.link)


def many_sessions(browser: Browser) -> None:
    for many in SESSIONS:
        with server(lambda sessions, many=many: copies(sessions, many)) as app:  # type: ignore[misc]
            page = new_page(browser)
            measure(app, page, lambda app=app, page=page: page.goto(f"{app.url}/benchmark"))  # type: ignore[misc]
            for name in ("home", "train", "story"):
                address = f"{app.url}/{'' if name == 'home' else name}"
                first, *later = [
                    measure(app, page, lambda page=page, address=address: page.goto(address))  # type: ignore[misc]
                    for _ in range(1 + TURNS)
                ]
                again = Cost(median(cost.cpu for cost in later), median(cost.wall for cost in later))
                row(f"{name}, {many} sessions", again, f"the first time {first}")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            command = [sys.executable, "-m", "frozenlab.cli", "status", "copy-0"]
            subprocess.run(
                command, env=os.environ | {"FROZENLAB_SESSIONS": str(app.sessions)}, cwd=places.ROOT, check=True, capture_output=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            row(f"frozenlab status, {many} sessions", Cost(spent, time.perf_counter() - began))


def frames(browser: Browser, seconds: float) -> None:
    with server() as app:
        found = animation(new_page(browser), app.url, seconds)
    for name, counted in found.items():
        row(name, f"{counted.fps:5.1f} frames/s, {counted.work_ms:5.2f} ms of the browser's main thread a frame")
    small, large = found["6x6, 2 agents"], found["32x32, 50 agents"]
    row("large board's frames, of the small one's", f"{large.fps / small.fps:6.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma-separated")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long viewers watch, and a quarter of it each animation is counted")
    options = parser.parse_args()
    chosen = [part for part in options.only.split(",") if part]
    if unknown := [part for part in chosen if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    if set(chosen) - {"start"}:
        print(f"kernels: {warm_up.warm_up():.1f} s")
    parts: dict[str, Callable[[Browser], None]] = {
        "start": start,
        "pages": pages,
        "play": play,
        "flows": lambda browser: flows(browser, TURNS),
        "viewers": lambda browser: viewers(browser, options.seconds),
        "sessions": many_sessions,
        "animation": lambda browser: frames(browser, options.seconds / 4),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for part in chosen:
            print(part, flush=True)
            parts[part](browser)
        browser.close()


if __name__ == "__main__":
    main()
