"""What was found is told in the same words on the Studies page and in README."""

from __future__ import annotations

from frozenlab.app.studies.page import FINDINGS
from frozenlab.base.places import ROOT


def test_readme_tells_what_the_page_tells() -> None:
    found = FINDINGS.read_text(encoding="utf-8")
    assert f"<!-- findings -->\n{found}<!-- findings: end -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(found.splitlines()) == 10
