"""The documentation is true: its snippets run and print what they say, and what it names exists."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from frozenlab.cli.main import COMMANDS, parse
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.lake.config import EnvironmentConfig
from tests.tiny_models import build

ROOT = Path(__file__).parents[1]
PAGES = [
    *(path for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") if (path := ROOT / name).exists()),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "assets").glob("*/README.md")),
]
SNIPPETS = [
    snippet
    for name in ("README.md", "docs/lake.md")
    for snippet in re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
]
PRIME_RL = ROOT / "environments" / "mapf_frozenlake"
FOLDERS = (
    "core/frozenlab/",
    "assets/",
    "environments/",
    "tests/",
    "benchmarks/",
    "recipes/",
    "requirements/",
    "docs/",
    "pages/",
    "sessions/example",
)


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


NAMES = ("start", "solve", "plan", "convert", "train", "verifiers", "step", "gymnasium")


def test_there_are_as_many_snippets() -> None:
    assert len(SNIPPETS) == len(NAMES)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=NAMES)
def test_a_snippet_runs_and_prints_what_it_says(snippet: str, tmp_path: Path) -> None:
    if "verifiers_env" in snippet:
        pytest.importorskip("verifiers")
    if (model := "Qwen/Qwen3-0.6B") in snippet:
        snippet = snippet.replace(model, str(build(tmp_path / "model", steps=1)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "core", PRIME_RL)))}
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    for line in re.findall(r"# -> (.*)$", snippet, re.MULTILINE):
        assert line in printed, f"{line!r} is not in what it printed:\n{done.stdout}"


def test_the_config_for_prime_rl_says_what_the_page_shows_of_it() -> None:
    """Its other keys can be read by prime-rl alone, which no package index has."""
    page, text = (ROOT / "docs" / "lake.md").read_text(encoding="utf-8"), (PRIME_RL / "rl.toml").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown in text
    [source] = tomllib.loads(text)["orchestrator"]["train"]["source"]
    taskset = source["env"]["taskset"]
    assert (PRIME_RL / f"{taskset['id'].replace('-', '_')}.py").exists()
    assert EnvironmentConfig.model_validate(taskset["environment"]).sizes == (4, 5, 6)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_and_paths_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    named = [name for name in re.findall(r"`([\w./*-]+/[\w./*-]*)`", text) if name.startswith(FOLDERS)]
    missing += [name for name in named if not list(ROOT.glob(name.rstrip("/")))]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_modules_exist(page: Path) -> None:
    modules = re.findall(r"python -m ((?:frozenlab|benchmarks|recipes|tests)[\w.]*)", page.read_text(encoding="utf-8"))
    assert not [module for module in modules if find_spec(module) is None]


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert not [command.name for command in COMMANDS if not re.search(rf"(frozenlab|\|) {command.name}\b", text)]


def test_every_feature_names_the_test_that_shows_it() -> None:
    text = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    for feature, shown_by in re.findall(r"^\| (?!feature \|)(.+) \| (.+) \|$", text, re.MULTILINE):
        tests = re.findall(r"`(tests/.+?)`", shown_by)
        assert shown_by == "none" or (tests and all((ROOT / test).is_file() for test in tests)), feature


def test_the_settings_of_an_engineer_are_read() -> None:
    text = (ROOT / "docs" / "engineers.md").read_text(encoding="utf-8")
    (line,) = re.findall(r'^    ("engineer": \{"kind": "api".*\})$', text, re.MULTILINE)
    assert ApiEngineer.model_validate(json.loads(f"{{{line}}}")["engineer"]).key_variable == "OPENAI_API_KEY"


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_command_lines_can_be_parsed(page: Path) -> None:
    """Those that stand on a line of their own and name no alternatives."""
    for line in re.findall(r"^    frozenlab (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        command = re.split(r"\s{2,}|\s#", re.sub(r"\[[^]]*\]", "", line))[0]
        if "|" not in command:
            parse(shlex.split(re.sub(r"\b[NSPK]\b", "1", command)))
