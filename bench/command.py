"""Common parts of the benchmarks: `outcrop check` as a process, and the memory that the papers compute."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

# Benchmarks measure compiled models. The interpreter would decide small ones before the compiler ends.
os.environ.setdefault("OUTCROP_ENGINE", "native")


class Failed(SystemExit):
    """Raised when a check gives no result; carries the message, and ends a benchmark that does not catch it."""


def check(
    model: Path,
    options: Sequence[str],
    *,
    exit_codes: Collection[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns the JSON document of one check. Raises Failed if the exit code is none of ``exit_codes``."""
    command = [sys.executable, "-m", "outcrop", "check", str(model), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode not in exit_codes or not done.stdout:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr or done.stdout}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def paper_memory(states: int, longest_queue: int, state_bits: int, signature_bytes: int | None = None) -> int:
    """Returns M(p) in bytes: |Reach| * b + MaxQ * StateBytes, as in Table 2 of Della Penna et al. (2004).

    StateBytes are those of Murphi, which rounds a state up to whole words of 4 bytes. b is StateBytes, or the size of a
    signature.
    """
    state_bytes = -(-state_bits // 32) * 4
    return states * (signature_bytes or state_bytes) + longest_queue * state_bytes
