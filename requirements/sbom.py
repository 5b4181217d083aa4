"""The bill of materials that goes with the wheel: CycloneDX, with each package of cpu.txt, its version and its licence.

    python requirements/sbom.py check               against the CycloneDX schema
    python requirements/sbom.py write FOLDER...     after a change of cpu.txt; the folders are those that .venv imports from

Runs in .venv-audit: ``make audit`` checks, ``make requirements`` writes. What only developers need has the scope "excluded".
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
SBOM = HERE / "sbom.cdx.json"


def pins() -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (HERE / "cpu.txt").read_text(encoding="utf-8"), re.MULTILINE))


def licences() -> dict[str, str]:
    lines = (HERE / "licences.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines if not line.startswith("#"))


def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def needed(direct: list[str], installed: dict[str, Distribution]) -> set[str]:
    """The normalized names of what these requirements bring along on this machine, themselves included."""
    found: set[str] = set()
    waiting = [Requirement(one) for one in direct]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found or name not in installed or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        for line in installed[name].requires or []:
            further = Requirement(line)
            wanted = [{"extra": extra} for extra in (*one.extras, "")]
            if further.marker is None or any(further.marker.evaluate(extra) for extra in wanted):
                further.marker = None
                waiting.append(further)
    return found


def bill(folders: Sequence[str]) -> Bom:
    about, factory = project(), LicenseFactory()
    installed = {canonicalize_name(one.name): one for one in distributions(path=list(folders))}
    base = needed(list(about["dependencies"]), installed)  # type: ignore[call-overload]
    known, components = licences(), []
    for name, version in pins().items():
        components.append(
            Component(
                type=ComponentType.LIBRARY,
                name=name,
                version=version,
                bom_ref=f"{name}=={version}",
                purl=PackageURL("pypi", None, canonicalize_name(name), version),
                licenses=[factory.make_from_string(known[name])],
                scope=ComponentScope.REQUIRED if canonicalize_name(name) in base else ComponentScope.EXCLUDED,
            )
        )
    root = Component(
        type=ComponentType.APPLICATION,
        name="frozenlab",
        version=str(about["version"]),
        bom_ref="frozenlab",
        licenses=[factory.make_from_string(str(about["license"]))],
    )
    bom = Bom(components=components, serial_number=uuid5(NAMESPACE_URL, f"frozenlab {pins()}"))
    bom.metadata.component, bom.metadata.timestamp = root, datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    bom.register_dependency(root, [one for one in components if one.scope is ComponentScope.REQUIRED])
    return bom


def check() -> str | None:
    """What is wrong with the bill; None if nothing is."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(SBOM.read_text(encoding="utf-8"))
    return None if error is None else f"{SBOM.name} is no CycloneDX: {error}"


if __name__ == "__main__":
    if sys.argv[1] == "write":
        SBOM.write_text(JsonV1Dot6(bill(sys.argv[2:])).output_as_string(indent=1) + "\n", encoding="utf-8")
    sys.exit(check())
