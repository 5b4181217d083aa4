"""What the base install brings along, and under which licence: all of it may be used, changed and passed on, also in closed products.

python -m tests.test_licences     writes the list anew, after a change of requirements/cpu.txt
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS = ROOT / "requirements" / "cpu.txt"
LIST = ROOT / "requirements" / "licences.txt"
HEAD = "# Licences of what requirements/cpu.txt installs, as each package states its own. Written by: python -m tests.test_licences\n"
PERMISSIVE = {
    "MIT", "MIT License", "MIT-0", "MIT-CMU", "ISC License (ISCL)", "PSF-2.0", "CNRI-Python", "BSL-1.0",
    "BSD License", "BSD-2-Clause", "BSD-3-Clause", "3-Clause BSD License",
    "Apache-2.0", "Apache 2.0", "Apache License 2.0", "Apache 2.0 License", "Apache Software License", "Apache-2.0 WITH LLVM-exception",
    "MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)",  # copyleft for its own files only, which are not changed here
}  # fmt: skip
EXPLAINED = {"axe-playwright-python": "MIT"}
"""Packages whose metadata names no licence, and the one in their LICENSE file."""


def licence(name: str) -> str:
    """As the package states it: its expression, else its classifiers, else the first line of its free text."""
    about = metadata(name)
    classified = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier", []) if line.startswith("License ::")]
    free = (about.get("License") or "").partition("\n")[0]
    return about.get("License-Expression") or "; ".join(classified) or free or EXPLAINED.get(name, "none stated")


def listed() -> dict[str, str]:
    """Licences by package, of those that are installed here."""
    found = {}
    for name in re.findall(r"^([\w.-]+)==", PINS.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            found[name] = licence(name)
        except PackageNotFoundError:  # it belongs to another version of Python
            continue
    return found


def test_every_licence_is_permissive() -> None:
    parts = {name: re.split(r" AND | OR |; ", stated) for name, stated in listed().items()}
    assert {name: of for name, of in parts.items() if not PERMISSIVE.issuperset(of)} == {}


def test_the_list_is_that_of_the_install() -> None:
    kept = dict(line.split("  ", 1) for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    installed = listed()
    assert {name: kept.get(name) for name in installed} == installed


if __name__ == "__main__":
    LIST.write_text(HEAD + "".join(f"{name}  {stated}\n" for name, stated in listed().items()), encoding="utf-8")
