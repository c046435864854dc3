"""Two network namespaces as two machines: their ranks share nothing but a network."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from outcrop.dist.launch import find_mpiexec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root makes network namespaces"),
]

HERE = Path(__file__).parent
CHECK = [sys.executable, "-m", "outcrop", "check", str(HERE / "grid.m"), "--continue", "--json", "-D", "N=20"]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def machines() -> Iterator[tuple[str, str]]:
    """Yields two namespaces, 10.99.0.1 and 10.99.0.2, with a virtual cable between them."""
    names = (f"oc{os.getpid()}a", f"oc{os.getpid()}b")
    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", names[0], "link", "add", "end1", "type", "veth", "peer", "name", "end2", "netns", names[1])
        for number, name in enumerate(names, 1):
            ip("-n", name, "addr", "add", f"10.99.0.{number}/24", "dev", f"end{number}")
            ip("-n", name, "link", "set", f"end{number}", "up")
            ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("network namespaces cannot be made here")
    else:
        time.sleep(2)  # MPI uses only interfaces that are up when it starts
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_ranks_on_two_machines(machines: tuple[str, str], tmp_path: Path) -> None:
    here, there = machines
    # MPICH's mpiexec calls this instead of ssh: with options, a host, and a command.
    launcher = tmp_path / "launch"
    launcher.write_text(
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\n'
        f'exec ip netns exec {shlex.quote(there)} sh -c "$*"\n'
    )
    launcher.chmod(0o700)
    hosts = ["-launcher", "ssh", "-launcher-exec", str(launcher), "-localhost", "10.99.0.1"]
    mpiexec = ["ip", "netns", "exec", here, find_mpiexec(), *hosts, "-hosts", "10.99.0.1,10.99.0.2", "-n", "2"]
    # Its transport would detect that both machines are the same one, and use shared memory.
    only_tcp = {**os.environ, "UCX_TLS": "tcp", "FI_PROVIDER": "tcp"}
    together = subprocess.run(
        [*mpiexec, *CHECK], capture_output=True, text=True, timeout=120, check=False, env=only_tcp
    )
    alone = subprocess.run(CHECK, capture_output=True, text=True, timeout=120, check=False)
    assert together.returncode == alone.returncode == 1, together.stderr
    first, second = json.loads(alone.stdout), json.loads(together.stdout)
    assert second["ranks"] == 2
    for name in ("verdict", "states", "rules_fired", "levels", "trace"):
        assert first[name] == second[name]
    statistics = subprocess.run(
        ["ip", "-n", there, "-s", "-j", "link", "show", "end2"], capture_output=True, text=True, check=True
    )
    (cable,) = json.loads(statistics.stdout)
    sent = sum(row["bytes_sent"] for row in second["per_rank"])
    assert cable["stats64"]["rx"]["bytes"] + cable["stats64"]["tx"]["bytes"] > sent
