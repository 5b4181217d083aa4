"""axe-core on a page."""

from __future__ import annotations

from importlib.resources import files

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
OURS = ("heading-order",)
"""Rules that count though axe calls them moderate."""


def check_axe(page: Page, where: str) -> None:
    """Fails if axe finds something serious, with a line for each rule and the first elements that break it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    broken = [
        f"{rule['id']} ({rule['impact']}, {len(rule['nodes'])}): " + " | ".join(_node(node) for node in rule["nodes"][:5])
        for rule in found
        if rule["impact"] in SERIOUS or rule["id"] in OURS
    ]
    assert not broken, "\n".join([where, *broken])


def _node(node: dict) -> str:
    reasons = [check["message"] for check in (*node["any"], *node["all"], *node["none"])]
    return f"{node['target']} {node['html'][:160]} {'; '.join(reasons)[:200]}"
