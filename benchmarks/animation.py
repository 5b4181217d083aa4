"""Frames per second of the board player in Chromium: a small board, larger ones, and an idle page for comparison.

    python -m benchmarks.animation [--seconds S]

Counted are the frames that the browser really makes while plans play. On a busy machine all of them fall together, so what counts is the
large board's share of the small one's, and the browser's work a frame, which is CPU time of its main thread.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from frozenlab.app.views.lake.share import encode
from frozenlab.base import seeds
from frozenlab.lake.board import FROZEN, HOLE, Agent, Board
from tests.serving import App

PATIENCE = 120_000  # milliseconds
COUNT = """async (seconds) => {
  const shadows = () => [...document.querySelectorAll("*")].flatMap((one) => (one.shadowRoot ? [one.shadowRoot] : []));
  const player = shadows().map((shadow) => shadow.querySelector(".player")).find(Boolean);
  let frames = 0;
  const began = performance.now();
  await new Promise((done) => {
    const frame = (now) => {
      frames++;
      if (player && !player.classList.contains("playing")) player.querySelector(".play").click();
      now - began < seconds * 1000 ? requestAnimationFrame(frame) : done();
    };
    requestAnimationFrame(frame);
  });
  return frames / ((performance.now() - began) / 1000);
}"""


@dataclass(frozen=True)
class Frames:
    """What an animation costs."""

    fps: float
    work_ms: float
    """Milliseconds of the page's main thread a frame."""


def open_board(side: int, team: int, hole_ratio: float = 0.1) -> Board:
    """A board of any size on which most agents can reach their goals; the same one each time."""
    rng = seeds.rng(0, "animation", side, team)
    cells = [divmod(int(cell), side) for cell in rng.permutation(side * side)]
    agents = tuple(Agent(start, goal) for start, goal in zip(cells[:team], cells[team : 2 * team], strict=True))
    holes = set(cells[2 * team : 2 * team + round(hole_ratio * side * side)])
    return Board(tuple("".join(HOLE if (r, c) in holes else FROZEN for c in range(side)) for r in range(side)), agents)


def playing(page: Page, url: str, board: Board, seconds: float) -> Frames:
    """Opens ``board`` on Play at ``url`` and lets its optimal plan play, over and over."""
    page.goto(f"{url}/play?board={encode(board)}")
    page.locator(".player .badge").wait_for()  # it is solved
    page.wait_for_timeout(2000)
    return counted(page, seconds)


def counted(page: Page, seconds: float) -> Frames:
    """The frames of the page as it is; a player on it plays."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def work() -> float:
        return next(metric["value"] for metric in session.send("Performance.getMetrics")["metrics"] if metric["name"] == "TaskDuration")

    before = work()
    fps: float = page.evaluate(COUNT, seconds)
    return Frames(fps, 1000 * (work() - before) / (fps * seconds))


def animation(page: Page, url: str, seconds: float = 5.0) -> dict[str, Frames]:
    """All that is measured, with the app at ``url``."""
    found = {
        "6x6, 2 agents": playing(page, url, open_board(6, 2), seconds),
        "32x32, 50 agents": playing(page, url, open_board(32, 50), seconds),
        "64x64, 200 agents": playing(page, url, open_board(64, 200), seconds),
        "256x256, 1000 agents": playing(page, url, open_board(256, 1000), seconds),
    }
    page.goto("about:blank")
    return found | {"idle page": counted(page, seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        app = App(Path(folder), Path(folder) / "server.log")
        app.start()
        try:
            chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(PATIENCE)
            found = animation(page, app.url, seconds)
            chromium.close()
        finally:
            app.stop()
    for name, frames in found.items():
        print(f"{name:20} {frames.fps:5.1f} frames/s, {frames.work_ms:5.2f} ms of the main thread a frame")
    small, large = found["6x6, 2 agents"], found["32x32, 50 agents"]
    print(f"the large board makes {large.fps / small.fps:.0%} of the small one's frames")


if __name__ == "__main__":
    main()
