"""Imports point one way and never in a circle, and the Streamlit server never loads torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = ("base", "lake jobs", "tasks", "models", "engineer", "session", "experiments", "app", "cli pages streamlit_app")
"""Rooms of ``core/frozenlab``, and the pages: each imports what is on its own floor and below."""
HEAVY = {"torch", "transformers", "trl", "peft", "datasets", "accelerate"}
LAKE = ("frozenlab.lake.", "frozenlab.tasks.lake.")
KNOWS_LAKE = ("lake", "tasks", "app", "cli", "experiments.benchmark", "session.presets")
PATHS = [*(ROOT / "core" / "frozenlab").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "streamlit_app.py"]
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("core.").removesuffix(".__init__"): path for path in PATHS}


@cache
def imports(module: str, top_level_only: bool = False) -> tuple[str, ...]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    nodes = list(tree.body if top_level_only else ast.walk(tree))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named = [(node, alias) for node in nodes if isinstance(node, ast.ImportFrom) and node.module for alias in node.names]
    return (*plain, *(f"{node.module}.{alias.name}" for node, alias in named))


def inside(module: str, *rooms: str) -> bool:
    return f"{module.removeprefix('frozenlab.')}.".startswith(tuple(f"{room}." for room in rooms))


def floor(module: str) -> int | None:
    """None: not a module of ours."""
    ours = module.startswith(("frozenlab.", "pages", "streamlit_app"))
    return next((i for i, rooms in enumerate(FLOORS) if inside(module, *rooms.split())), None) if ours else None


def imported(*rooms: str, top_level_only: bool = False) -> Iterator[tuple[str, str]]:
    """(module, what it imports), of all modules in ``rooms``."""
    yield from ((module, other) for module in MODULES if inside(module, *rooms) for other in imports(module, top_level_only))


def test_imports_point_one_way_and_in_no_circle() -> None:
    assert [module for module in MODULES if floor(module) is None] == ["frozenlab"], "a room without a floor: give it one in FLOORS"
    everything = [(module, other) for module in MODULES for other in imports(module)]
    assert not [(module, other) for module, other in everything if (floor(other) or 0) > (floor(module) or 0)]
    assert not [pair for pair in everything if pair[1].split(".")[0] in {"recipes", "benchmarks", "tests"}]

    def module_of(name: str) -> str:
        return name if name in MODULES or "." not in name else module_of(name.rpartition(".")[0])

    TopologicalSorter({name: {module_of(other) for other in imports(name)} & MODULES.keys() - {name} for name in MODULES}).prepare()


def test_each_room_imports_only_what_it_may() -> None:
    assert not [pair for pair in imported("base.seeds") if pair[1].split(".")[0] in {"frozenlab"} | HEAVY]
    assert not [pair for pair in imported(*" ".join(FLOORS[:-2]).split(), "cli") if pair[1].split(".")[0] == "streamlit"]
    assert not [pair for pair in imported("lake") if pair[1].split(".")[0] in HEAVY - {"datasets"}]
    assert not [pair for pair in imported("lake", top_level_only=True) if pair[1].startswith("datasets")]
    assert not [
        (module, other)
        for module in MODULES
        if not inside(module, *KNOWS_LAKE)
        for other in imports(module)
        if f"{other}.".startswith(LAKE)
    ]


def test_the_server_loads_no_torch_and_the_light_half_no_numba() -> None:
    visit = "\n".join(f'assert not app.switch_page("pages/{path.name}").run().exception' for path in (ROOT / "pages").glob("*.py"))
    server = f'from streamlit.testing.v1 import AppTest\napp = AppTest.from_file("streamlit_app.py", default_timeout=600).run()\n{visit}\n'
    light = "import frozenlab.jobs.launcher, frozenlab.session.planner, frozenlab.session.presets, frozenlab.lake.solvers.solver\n"
    for script, heavy in (server, HEAVY), (light, HEAVY | {"numba"}):
        done = subprocess.run([sys.executable, "-c", f"{script}import sys\nassert not {heavy!r} & set(sys.modules)"], cwd=ROOT, check=False)
        assert done.returncode == 0
