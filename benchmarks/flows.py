"""How long the reader waits for each interaction of the lab's flows, in Chromium on a real server, and for a talk's first paint.

Part ``flows`` of ``python -m benchmarks.ui_speed``.

*Server*: from the input until the page shows the answer and its script has ended. *Browser*: from the input until the next frame is
painted; nothing is asked of the server first. Targets are for an idle core; run it on a quiet machine. *CPU* is the server's in a turn,
which hardly depends on what else runs. Chromium has no GPU here and draws in software.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Locator, Page

from benchmarks.animation import open_board
from benchmarks.server_cpu import cpu_of
from frozenlab.app.play.choices import FIRST_BOARD
from frozenlab.app.present.deck import html_file, talk
from frozenlab.app.present.scenes import scenes_of
from frozenlab.app.views.lake.share import encode
from frozenlab.session.store import SessionStore
from tests.browser.conftest import AT_REST
from tests.serving import App

EXAMPLE = "example-quick"
SERVER, BROWSER, PAINT = 300, 50, 1000
"""Targets in milliseconds: an answer of the server, an edit in the browser, the first paint of a talk's file."""
PATIENCE = 60_000  # milliseconds
ANSWERED = """async (element, {selector, text, atRest}) => {
  const find = (root) => [...root.querySelectorAll(selector)].some((one) => one.checkVisibility() && one.textContent.includes(text))
    || [...root.querySelectorAll("*")].some((one) => one.shadowRoot && find(one.shadowRoot));
  const before = location.href, began = performance.now();
  element.click();
  const shown = () => (selector ? find(document) : location.href !== before) && document.querySelector(atRest);
  await new Promise((done) => {
    const look = () => (shown() ? done() : requestAnimationFrame(look));
    look();
  });
  return performance.now() - began;
}"""
"""Clicks an element; milliseconds until an element with the text is seen (for no selector: until the address is another one) and the script
of the page has ended, as often looked for as frames are painted."""
RAN = """async (element) => {
  const app = document.querySelector('[data-testid="stApp"]'), began = performance.now();
  const over = new Promise((done) => {
    let ran = false;
    const watch = new MutationObserver(() => {
      if (app.dataset.testScriptState === "running") ran = true;
      else if (ran && app.dataset.testScriptState === "notRunning") {
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(done));
      }
    });
    watch.observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
  });
  element.click();
  await over;
  return performance.now() - began;
}"""
"""Clicks an element; milliseconds until the script of the page has run, and the next frame is painted."""
PAINTED = """async (element, {type, x, y, key}) => {
  const began = performance.now();
  const at = {bubbles: true, composed: true, cancelable: true, button: 0, pointerId: 1, clientX: x, clientY: y, key};
  if (type === "click") element.click();
  else if (type === "key") element.dispatchEvent(new KeyboardEvent("keydown", at));
  else {
    element.dispatchEvent(new PointerEvent("pointerdown", at));
    window.dispatchEvent(new PointerEvent("pointerup", at));
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - began;
}"""
"""Sends an input to an element; milliseconds until the next frame is painted."""


class Table:
    """Prints a line an interaction: the median and the worst of its turns, the server's CPU time in a turn, and its target."""

    def __init__(self, turns: int, app: App) -> None:
        self.turns, self.app = turns, app
        self.missed: list[str] = []

    def row(self, what: str, target: int, once: Callable[[int], float]) -> None:
        before = cpu_of(self.app)
        took = [once(turn) for turn in range(self.turns)]
        cpu = 1000 * (cpu_of(self.app) - before) / self.turns
        late = median(took) > target
        if late:
            self.missed.append(what)
        figures = f"{median(took):6.0f} ms, worst {max(took):6.0f}, CPU {cpu:5.0f}, target {target}"
        print(f"  {what:48} {figures}{'  missed' if late else ''}", flush=True)


def answered(element: Locator, selector: str = "", text: str = "") -> float:
    """Milliseconds until what a click asks for is seen and the script has ended."""
    took: float = element.evaluate(ANSWERED, {"selector": selector, "text": text, "atRest": AT_REST})
    element.page.wait_for_timeout(400)
    return took


def run(element: Locator) -> float:
    """Milliseconds until the page's script has run for a click."""
    took: float = element.evaluate(RAN)
    element.page.wait_for_timeout(400)
    return took


def painted(element: Locator, kind: str = "click", key: str = "", at: tuple[float, float] | None = None) -> float:
    x, y = at or middle(element)
    took: float = element.evaluate(PAINTED, {"type": kind, "key": key, "x": x, "y": y})
    element.page.wait_for_timeout(150)
    return took


def middle(element: Locator) -> tuple[float, float]:
    box = element.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("heading", level=1).wait_for()
    page.locator(AT_REST).wait_for()
    page.wait_for_timeout(1500)


# --- the flows -----------------------------------------------------------------------------------------------------------


def doors(page: Page, url: str, table: Table) -> None:
    for name, selector, text in (
        ("Watch it", ".deck h1", ""),
        ("Begin the course", ".steer .score", "No conflict"),
        ("Play a board", ".switch", "Watch"),
        ("Set one up", "h1", "What should run?"),
    ):

        def once(turn: int, name: str = name, selector: str = selector, text: str = text) -> float:
            opened(page, url)
            return answered(page.get_by_role("button", name=name), selector, text)

        once(0)  # the browser loads the code of the other page
        table.row(f"Home: {name}", SERVER, once)


def design(page: Page, url: str, table: Table) -> None:
    opened(page, f"{url}/design")
    others = page.get_by_role("button", name="Draw others")
    run(others)
    table.row("Design: other boards are drawn", SERVER, lambda turn: run(others))


def play(page: Page, url: str, table: Table) -> None:
    opened(page, f"{url}/play?board={encode(FIRST_BOARD)}")

    another = page.get_by_role("button", name="Another")
    table.row("Play: another board, with its optimum", SERVER, lambda turn: answered(another))
    for name in ("Plan", "Draw"):

        def turned(turn: int, name: str = name) -> float:
            painted(page.get_by_role("radio", name="Watch"))
            return painted(page.get_by_role("radio", name=name, exact=True))

        table.row(f"Play: the switch from Watch to {name}", BROWSER, turned)

    def solved_again(turn: int) -> float:
        painted(cells.nth(turn), "pointer")
        page.wait_for_timeout(1000)
        return answered(page.get_by_role("button", name="Clear the ice"))

    cells = page.locator('.cell[aria-label$=": ice"]')
    table.row("Play: a hole is painted", BROWSER, lambda turn: painted(cells.nth(turn), "pointer"))
    table.row("Play: undo", BROWSER, lambda turn: painted(page.get_by_role("button", name="Undo")))
    table.row("Play: all ice is cleared, the board solved again", SERVER, solved_again)
    painted(page.get_by_role("radio", name="Plan", exact=True))
    player = page.locator(".player")
    moves = ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"]
    table.row("Play: an agent is steered a step", BROWSER, lambda turn: painted(player, "key", moves[turn % 4]))
    painted(page.get_by_role("radio", name="Watch"))
    step = page.get_by_role("button", name="One step on")
    table.row("Play: a step of the plan", BROWSER, lambda turn: painted(step))
    opened(page, f"{url}/play?board={encode(open_board(32, 50))}")
    page.locator(".player .badge").wait_for()
    table.row("Play, 32x32 and 50 agents: a step of the plan", BROWSER, lambda turn: painted(step))
    painted(page.get_by_role("radio", name="Plan", exact=True))
    table.row("Play, 32x32 and 50 agents: steered a step", BROWSER, lambda turn: painted(player, "key", moves[turn % 4]))
    painted(page.get_by_role("radio", name="Draw"))
    table.row("Play, 32x32 and 50 agents: a hole is painted", BROWSER, lambda turn: painted(cells.nth(turn), "pointer"))


def learn(page: Page, url: str, table: Table) -> None:
    opened(page, f"{url}/learn")
    chapters = ["2. Two on one cell", "3. Swapping places", "4. When waiting is best", "5. Two ways to count"]

    def turn_page(turn: int) -> float:
        name = chapters[turn % len(chapters)]
        return answered(page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first)

    table.row("Learn: another chapter", SERVER, turn_page)
    check = page.get_by_role("button", name="Check my plan")
    run(check)
    table.row("Learn: a plan is checked", SERVER, lambda turn: run(check))
    opened(page, f"{url}/play?board={encode(FIRST_BOARD)}")
    page.get_by_text("How a solver finds it").click()
    page.get_by_role("button", name="Show a board on which they meet often").click()
    page.wait_for_timeout(3000)
    following = page.locator(".search").get_by_role("button", name="Next")
    following.wait_for()
    table.row("Search: the next step", BROWSER, lambda turn: painted(following))


def story(page: Page, url: str, table: Table) -> None:
    opened(page, f"{url}/story?session={EXAMPLE}")
    parts = {
        "What it wrote": "What it wrote",
        "What happened": "Results by",
        "What it read": "What it read",
        "What failed": "The boards behind",
    }
    names = list(parts)

    def turn_part(turn: int) -> float:
        name = names[turn % len(names)]
        link = page.get_by_role("navigation", name="Contents of this page").get_by_role("link", name=name)
        return answered(link, "h3", parts[name])

    for turn in range(len(names)):
        turn_part(turn)  # the browser loads what draws charts and tables with the first of them
    table.row("Story: another part", SERVER, turn_part)
    opened(page, f"{url}/present?session={EXAMPLE}&play=1")
    page.locator(".deck h1").wait_for()
    deck = page.locator(".deck")
    table.row("Present: the next scene", BROWSER, lambda turn: painted(deck, "key", "ArrowRight"))


def runs(page: Page, url: str, table: Table) -> None:
    addresses = [f"{url}/runs?compare={EXAMPLE},example-quick-kept", f"{url}/runs?compare={EXAMPLE},example-quick-kept,example-long"]
    opened(page, addresses[0])

    def reopened(turn: int) -> float:
        began = time.perf_counter()
        page.goto(addresses[turn % 2])
        page.get_by_role("heading", level=1).wait_for()
        page.locator(AT_REST).wait_for()
        return 1000 * (time.perf_counter() - began)

    table.row("Runs: two or three side by side, by their link", PAINT, reopened)


def first_paint(page: Page, folder: Path, table: Table) -> None:
    session = SessionStore().open(EXAMPLE)
    file = folder / "talk.html"
    file.write_text(html_file(session.spec.tasks, talk(session, scenes_of(session), {})), encoding="utf-8")

    def once(turn: int) -> float:
        page.goto("about:blank")
        page.goto(file.as_uri())
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        took: float = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return took

    table.row("A talk's file: first paint", PAINT, once)


def flows(browser: Browser, turns: int) -> None:
    """Measures all of them on a fresh server."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder) / "sessions"
        sessions.mkdir()
        app = App(sessions, Path(folder) / "server.log")
        app.start()
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(PATIENCE)
            table = Table(turns, app)
            for flow in (doors, design, play, learn, story, runs):
                flow(page, app.url, table)
            first_paint(page, Path(folder), table)
            print(f"  missed: {', '.join(table.missed) or 'none'}")
        finally:
            app.stop()
