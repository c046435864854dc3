"""Container limits, read from control groups made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop import machine

MIB = 2**20


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a tree of control groups in place of that of the machine; ``self`` in it stands for /proc/self/cgroup."""
    real = machine._read
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(
        machine, "_read", lambda path: real(tmp_path / "self" if str(path) == "/proc/self/cgroup" else path)
    )
    return tmp_path


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_version_2_takes_the_least_limit_up_the_tree(groups: Path) -> None:
    put(groups / "self", "0::/pod/me\n")
    put(groups / "pod/me/memory.max", "max\n")
    put(groups / "pod/memory.max", f"{64 * MIB}\n")
    put(groups / "pod/me/cpu.max", "max 100000\n")
    assert machine.available_memory() == 64 * MIB
    unlimited = machine.available_cores()
    put(groups / "pod/cpu.max", "50000 100000\n")
    assert machine.available_cores() == 1 <= unlimited


def test_version_1_has_one_tree_a_controller(groups: Path) -> None:
    put(groups / "self", "5:memory:/me\n4:cpu,cpuacct:/me\n")
    put(groups / "memory/me/memory.limit_in_bytes", f"{32 * MIB}\n")
    put(groups / "cpu/me/cpu.cfs_quota_us", "100000\n")
    put(groups / "cpu/me/cpu.cfs_period_us", "100000\n")
    assert machine.available_memory() == 32 * MIB
    assert machine.available_cores() == 1


def test_a_quota_of_minus_one_is_none(groups: Path) -> None:
    free = machine.available_cores()
    put(groups / "self", "4:cpu:/\n")
    put(groups / "cpu/cpu.cfs_quota_us", "-1\n")
    put(groups / "cpu/cpu.cfs_period_us", "100000\n")
    assert machine.available_cores() == free


def test_without_groups_the_machine_is_the_limit(groups: Path) -> None:
    assert machine.available_memory() > 64 * MIB
    assert machine.available_cores() >= 1


def test_peak_rss_grows_with_what_is_held() -> None:
    before = machine.peak_rss()
    held = bytearray(b"x") * (before + 32 * MIB)
    assert machine.peak_rss() >= len(held)
