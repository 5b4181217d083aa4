"""The bill of materials says what the pins and the licence list say; what the audit makes of pip-audit's answers."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REQUIREMENTS = Path(__file__).parents[1] / "requirements"
AUDIT = runpy.run_path(str(REQUIREMENTS / "audit.py"))
verdict: Callable[[Any, str], tuple[list[str], int]] = AUDIT["verdict"]


def test_the_bill_names_every_pin_with_its_version_and_licence() -> None:
    bill = json.loads((REQUIREMENTS / "sbom.cdx.json").read_text(encoding="utf-8"))
    found = {one["name"]: one for one in bill["components"]}
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (REQUIREMENTS / "cpu.txt").read_text(encoding="utf-8"), re.MULTILINE))
    assert {name: one["version"] for name, one in found.items()} == pins, "run make requirements"
    listed = dict(line.split("  ", 1) for line in (REQUIREMENTS / "licences.txt").read_text(encoding="utf-8").splitlines()[1:])
    assert {name: said(one["licenses"][0]) for name, one in found.items()} == listed
    about = tomllib.loads((REQUIREMENTS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bill["metadata"]["component"]["version"] == about["version"]
    direct = {re.split(r"[<>=~]", one)[0] for one in about["dependencies"]}
    assert direct <= {name.lower().replace("_", "-") for name, one in found.items() if one["scope"] == "required"}


def said(licence: dict[str, Any]) -> str:
    return licence.get("expression") or licence["license"].get("id") or licence["license"]["name"]


def package(name: str, **about: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": []} | about


HOLE = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["1.1"]}


def test_a_vulnerability_fails_the_audit_until_it_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, status = verdict([package("a", vulns=[HOLE]), package("b")], "")
    assert status == 1 and lines[0] == "a 1.0: PYSEC-2026-1, mended in 1.1"
    monkeypatch.setitem(AUDIT["EXPLAINED"], "CVE-2026-1", "nothing here calls it")
    lines, status = verdict([package("a", vulns=[HOLE]), package("b")], "")
    assert status == 0 and lines == ["2 of 2 packages audited: 0 vulnerabilities, 1 explained"]


def test_a_service_that_says_nothing_is_no_clean_bill() -> None:
    for packages, said in ((None, "x\nConnectionError: refused"), ([{"name": "a", "skip_reason": "not found"}], "")):
        lines, status = verdict(packages, said)
        assert status == 0 and "nothing was audited" in lines[0]
    assert "not audited" in verdict([package("a"), {"name": "b", "skip_reason": "not found"}], "")[0][0]
