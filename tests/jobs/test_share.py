"""What a process may use of its machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from frozenlab.jobs import machine

MANY = 1 << 50
"""More bytes than any machine has."""


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cgroup of this process, of which nothing is limited yet, in a group that is the root."""
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "MEMBERSHIP", tmp_path / "membership")
    (tmp_path / "membership").write_text("4:memory:/elsewhere\n0::/slice/job\n")
    folder = tmp_path / "cgroup" / "slice" / "job"
    folder.mkdir(parents=True)
    machine.cores.cache_clear()
    yield folder
    machine.cores.cache_clear()


def test_without_limits_all_cores_of_the_affinity_are_its_own(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(12)), raising=False)
    (group / "cpu.max").write_text("max 100000\n")
    assert machine.cores() == 12


@pytest.mark.parametrize(("quota", "cores"), [("250000 100000", 2), ("50000 100000", 1), ("6400000 100000", 12)])
def test_a_quota_limits_the_cores(group: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(12)), raising=False)
    (group.parent / "cpu.max").write_text(quota)
    assert machine.cores() == cores


@pytest.mark.parametrize(
    ("limits", "allowed", "found"),
    [
        ((1024, 20_000), 10**6, 20_000), ((1024, 10**6), 10**6, 2**16), ((256, -1), 10_240, 10_240), ((256, -1), 10**6, 2**16),
        ((256, 256), 10**6, 256), ((10**6, 10**6), 10**6, 10**6), ((-1, -1), 10**6, 2**16),
    ],
)  # fmt: skip
def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(
    limits: tuple[int, int], allowed: int, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [limits]

    def raised(which: int, wanted: tuple[int, int]) -> None:
        if wanted[0] > allowed or 0 <= wanted[1] < wanted[0]:
            raise ValueError("not allowed to raise maximum limit")
        now[0] = wanted

    monkeypatch.setattr(machine.resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(machine.resource, "getrlimit", lambda which: now[0])
    monkeypatch.setattr(machine.resource, "setrlimit", raised)
    assert machine.open_files() == found
    assert now[0][0] in (found, -1) and now[0][1] == limits[1]


def test_memory_is_the_least_that_any_group_leaves(group: Path) -> None:
    (group / "memory.max").write_text("max")
    (group / "memory.current").write_text("1")
    whole = machine.memory()
    (group.parent / "memory.max").write_text("3000000")
    (group.parent / "memory.current").write_text("1000000")
    assert machine.memory() == (3_000_000, 2_000_000)
    (group.parent / "memory.stat").write_text("anon 500000\ninactive_file 400000\nactive_file 9\n")
    assert machine.memory() == (3_000_000, 2_400_000), "files that are kept in memory make room"
    (group.parent / "memory.max").write_text(str(MANY))
    assert machine.memory().total == whole.total


def test_groups_of_the_first_version_limit_cores_and_memory(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on older clusters; a container sees its own group at the root, whatever its path is outside."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(12)), raising=False)
    machine.MEMBERSHIP.write_text("6:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n0::/\n")
    for name, text in {
        "cpu/cpu.cfs_quota_us": "350000", "cpu/cpu.cfs_period_us": "100000",
        "memory/memory.limit_in_bytes": "3000000", "memory/memory.usage_in_bytes": "1000000",
    }.items():  # fmt: skip
        (machine.CGROUPS / name).parent.mkdir(exist_ok=True)
        (machine.CGROUPS / name).write_text(text)
    assert machine.cores() == 3 and machine.memory() == (3_000_000, 2_000_000)
    (machine.CGROUPS / "cpu/cpu.cfs_quota_us").write_text("-1")
    machine.cores.cache_clear()
    assert machine.cores() == 12


@pytest.mark.parametrize(
    ("flags", "fast"),
    [
        ("fpu avx2 avx512f avx512_bf16 amx_tile", True),
        ("fpu avx2 amx_bf16 amx_tile", True),
        ("fpu avx2 avx512f avx512vl", False),
        ("asimd bf16", False),
    ],
)
def test_bfloat16_is_fast_where_the_processor_has_instructions_for_it(
    flags: str, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "cpuinfo")
    assert machine.fast_bfloat16.__wrapped__() is fast


def test_a_core_computes_billions_of_operations_a_second_however_many_threads_there_are() -> None:
    assert 5e8 < machine.core_speed() < 1e12
    script = "from frozenlab.jobs.machine import core_speed; print(core_speed())"
    several = {**os.environ, "OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"}
    said = subprocess.run([sys.executable, "-c", script], env=several, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert 0.4 < float(said) / machine.core_speed() < 2.2, "threads that spin made it 2.5 times; a core that is shared may halve it"


PRODUCTS = """
import psutil, torch
from frozenlab.jobs.machine import spare_memory

spare_memory()
weights = torch.ones(192, 576, dtype=torch.bfloat16, requires_grad=True)
before = psutil.Process().memory_info().rss
for tokens in range(100, 300):
    (torch.ones(tokens, 576, dtype=torch.bfloat16, requires_grad=True) @ weights.T).sum().backward()
print((psutil.Process().memory_info().rss - before) // 2**20)
"""


@pytest.mark.skipif(not machine.fast_bfloat16(), reason="products in bfloat16 are not compiled here")
def test_products_of_many_lengths_take_little_memory() -> None:
    """Without spare_memory they take 390 MiB."""
    done = subprocess.run([sys.executable, "-c", PRODUCTS], stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) < 150
