"""What a process may use of its machine."""

from __future__ import annotations

import os
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
