"""Known vulnerabilities of what cpu.txt installs, by pip-audit, which asks the package registry's service for them.

    python requirements/audit.py        ends with 1 if one is found that EXPLAINED does not explain

Where the service cannot be reached, or knows none of the packages (a mirror may have no such service), it says so and ends with 0: it has
found nothing out. Runs in .venv-audit: ``make audit``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PINS = Path(__file__).parent / "cpu.txt"
EXPLAINED: dict[str, str] = {}
"""Vulnerabilities that do no harm here, by the id that pip-audit gives them, and why. Take out what a newer version has mended."""


def asked() -> tuple[list[dict[str, Any]] | None, str]:
    """The packages as pip-audit reports them, None if it had no answer; and what it said."""
    command = ["-m", "pip_audit", "-r", str(PINS), "--no-deps", "--disable-pip", "-f", "json", "--progress-spinner", "off"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["dependencies"], done.stderr
    except (ValueError, KeyError):
        return None, done.stderr


def verdict(packages: list[dict[str, Any]] | None, said: str) -> tuple[list[str], int]:
    """Lines to print, and the exit status."""
    if packages is None:
        reason = (said.strip().splitlines() or ["no reason given"])[-1]
        return [f"pip-audit could not reach its service, so nothing was audited: {reason}"], 0
    unknown = [one["name"] for one in packages if "skip_reason" in one]
    found = [(one["name"], one["version"], hole) for one in packages for hole in one.get("vulns", ())]
    open_holes = [(name, version, hole) for name, version, hole in found if EXPLAINED.keys().isdisjoint({hole["id"], *hole["aliases"]})]
    lines = [
        f"{name} {version}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version yet'}"
        for name, version, hole in open_holes
    ]
    if len(unknown) == len(packages):
        return ["The registry's service knows none of the packages, as on a mirror without one: nothing was audited"], 0
    if unknown:
        lines.append(f"not audited, because the service does not know them: {', '.join(unknown)}")
    audited = len(packages) - len(unknown)
    lines.append(
        f"{audited} of {len(packages)} packages audited: {len(open_holes)} vulnerabilities, {len(found) - len(open_holes)} explained"
    )
    return lines, 1 if open_holes else 0


if __name__ == "__main__":
    lines, status = verdict(*asked())
    print("\n".join(lines))
    sys.exit(status)
