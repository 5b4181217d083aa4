"""The Studies page and README show the same findings."""

from __future__ import annotations

import re

from frozenlab.app.studies.page import FINDINGS
from frozenlab.base.places import ROOT


def test_readme_shows_the_findings_of_the_page() -> None:
    found = FINDINGS.read_text(encoding="utf-8")
    assert f"<!-- findings -->\n{found}<!-- findings: end -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \d+ \|", found, re.MULTILINE)) == 10
