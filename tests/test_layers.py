"""Imports point one way and never in a circle, and the Streamlit server never loads torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = (
    ("errors", "docstrings", "seeds", "places", "files", "intervals", "json_in_text", "cells", "roles", "limits"),
    ("jobs",),
    ("lake",),
    ("tasks",),
    ("policy",),
    ("engineer",),
    ("training",),
    ("loop", "tasks.lake.presets"),
    ("benchmark", "tasks.lake.benchmark", "studies", "students", "replays", "diagnosis"),
    ("headroom", "contests"),
    ("tasks.lake.lab_model", "bundles"),
    ("ui",),
    ("tasks.view.view",),
    ("tasks.lake.view", "tasks.countdown.view", "tasks.mixed.view"),
    ("tasks.view",),
    ("bundles.page",),
    ("loop.page", "benchmark.page", "tasks.lake.benchmark.page", "studies.page", "replays.page", "diagnosis.page"),
    ("headroom.page", "contests.page"),
    ("tasks.lake.page",),
    ("streamlit_app", "pages", "cli", "tasks.lake.cli", "doctor"),
)
"""Rooms of ``core``, and the pages: each may import what stands on its own floor and below."""
HEAVY = {"torch", "transformers", "trl", "peft", "datasets", "accelerate"}
SOURCES = sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "streamlit_app.py"])


def imports(path: Path, top_level_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_name(path: Path) -> str:
    """As it is imported; a page's is ``pages.NAME``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__").replace("core", "frozenlab", 1)


def floor(module: str) -> int | None:
    """Of the room with the longest name that the module is in; None: it is no module of ours."""
    found = {room: i for i, rooms in enumerate(FLOORS) for room in rooms if f"{module.removeprefix('frozenlab.')}.".startswith(f"{room}.")}
    return found[max(found, key=len)] if found and module.startswith(("frozenlab.", "pages", "streamlit_app")) else None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    own = floor(module_name(path))
    assert own is not None or path == ROOT / "core" / "__init__.py", "a room that has no floor: give it one in FLOORS"
    upward = [module for module in imports(path) if (other := floor(module)) is not None and own is not None and other > own]
    assert not upward, f"{path.relative_to(ROOT)} imports {upward}"


def test_no_circle_of_imports() -> None:
    """Those inside functions and for type checkers too: what two files need of each other belongs in a third."""
    modules = {module_name(path): path for path in SOURCES}

    def module_of(name: str) -> str:
        return name if name in modules or "." not in name else module_of(name.rpartition(".")[0])

    needs = {name: {module_of(other) for other in imports(path)} & modules.keys() - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        pytest.fail(f"a circle of imports: {' -> '.join(circle.args[1])}")


def test_seeds_import_nothing_of_ours() -> None:
    assert not [module for module in imports(ROOT / "core" / "seeds.py") if module.split(".")[0] in {"frozenlab", "pages"} | HEAVY]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_pages_and_their_parts_import_streamlit(path: Path) -> None:
    if not {"ui", "page", "view", "pages", "streamlit_app.py"} & set(path.relative_to(ROOT).parts):
        assert not [module for module in imports(path) if module.split(".")[0] == "streamlit"]


@pytest.mark.parametrize("path", sorted((ROOT / "core" / "ui").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_shared_ui_imports_no_task(path: Path) -> None:
    known = [module for module in imports(path) if module.startswith(("frozenlab.lake", "frozenlab.tasks"))]
    assert not [module for module in known if not module.startswith(("frozenlab.tasks.knobs.", "frozenlab.tasks.labels."))]


@pytest.mark.parametrize("path", sorted((ROOT / "core" / "lake").rglob("*.py")), ids=lambda path: path.name)
def test_the_lake_imports_no_torch(path: Path) -> None:
    assert not [module for module in imports(path) if module.split(".")[0] in HEAVY - {"datasets"}]
    assert not [module for module in imports(path, top_level_only=True) if module.split(".")[0] == "datasets"]


def test_nothing_else_imports_the_lake() -> None:
    """Everything but the lake and its family knows task families only."""
    others = [path for path in SOURCES if not str(path.relative_to(ROOT)).startswith(("core/lake/", "core/tasks/"))]
    assert not [(path, module) for path in others for module in imports(path) if f"{module}.".startswith("frozenlab.lake.")]


VISIT = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("streamlit_app.py", default_timeout=120).run()
for page in {pages!r}:
    app.switch_page(page).run()
    assert not app.exception, (page, app.exception)
print(" ".join(sorted({heavy!r} & set(sys.modules))))
"""


def test_visiting_every_page_leaves_torch_out_of_the_server() -> None:
    pages = [f"pages/{path.name}" for path in sorted((ROOT / "pages").glob("*.py"))]
    script = VISIT.format(pages=pages, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1:] in ([], [""]), f"the server imported {done.stdout}"


def test_the_light_half_imports_without_numba_or_torch() -> None:
    modules = "frozenlab.jobs.launcher, frozenlab.loop.planner, frozenlab.loop.presets, frozenlab.lake.solvers.solver"
    script = f"import sys, {modules}; print({{'torch', 'numba'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
