"""Compiled kernels: compiled by one process at a time, and every process can read how far they are."""

import json
import os
import subprocess
import sys
import time
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.lake.kernels import cache as kernel_cache
from frozenlab.lake.kernels.cache import GROUPS, note, progress

COMPILE = """
import json
from frozenlab.lake.kernels.compiled import KERNELS
from frozenlab.lake.kernels.warm_up import STEPS
STEPS["judge"]()
print(json.dumps([kernel.__name__ for kernel in KERNELS for _ in kernel.stats.cache_misses]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty kernel cache."""
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path)
    return tmp_path


def test_a_user_without_a_home_and_a_read_only_project_has_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in containers; a cache that others can write would let them say what is run."""
    taken = tmp_path / "file"
    taken.touch()
    monkeypatch.setattr(kernel_cache, "CHECKOUT", taken)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # a user without a name
    monkeypatch.setattr(Path, "mkdir", partialmethod(_mkdir_below, tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    find = kernel_cache.cache_folder.__wrapped__
    own = tmp_path / f"frozenlab-kernels-{os.getuid()}"
    assert find().parent == own
    own.chmod(0o777)
    with pytest.raises(LabError, match="NUMBA_CACHE_DIR is not set"):
        find()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert find().parent == tmp_path / "given"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(taken))
    with pytest.raises(LabError, match=r"NUMBA_CACHE_DIR is .*file, which cannot be written"):
        find()


def _mkdir_below(folder: Path, root: Path, *arguments: object, **options: Any) -> None:
    """Path.mkdir where nothing but ``root`` can be written, whoever runs the tests."""
    if not folder.is_relative_to(root):
        raise PermissionError(folder)
    os.makedirs(folder, options.get("mode", 0o777), exist_ok=True)


def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(places.ROOT)}
    both = [subprocess.Popen([sys.executable, "-c", COMPILE], env=environment, cwd=places.ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate(timeout=300)[0] for process in both]
    first, second = map(json.loads, said)
    assert not set(first) & set(second), "what one has compiled the other one loads, whichever came first to which"
    assert "judge_plans" in first + second


def test_progress_is_what_the_process_at_work_says(folder: Path) -> None:
    assert progress("solver") is None
    note("solver", time.time() - 5, 3, 20)
    found = progress("solver")
    assert (found.done, found.kernels, found.of) == (False, 3, 20)
    assert 5 <= found.seconds < 60
    note("solver", time.time(), 20, 20, done=True)
    assert progress("solver").done  # type: ignore[union-attr]


def test_who_has_died_is_no_longer_at_work(folder: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    note("costs", time.time(), 3, 20, pid=ended.pid)
    assert progress("costs") is None
    (folder / "costs.json").write_text("{torn")
    assert progress("costs") is None


def test_a_server_compiles_what_is_missing_and_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    class Process:
        pid = os.getpid()

        def __init__(self, command: list[str], **options: object) -> None:
            started.append(command[command.index("--quiet") + 1 :])

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("frozenlab.lake.kernels.cache.subprocess.Popen", Process)
    note("boards", time.time(), 9, 9, done=True)
    kernel_cache.start()
    assert started == [["solver", "costs"], ["judge", "large", "layouts", "planners"]]
    assert all(progress(group) is not None for group in GROUPS)
    kernel_cache.start()
    assert len(started) == 2
