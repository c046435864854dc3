"""Runs a Promela model in SPIN and here, and compares: counts, assertions, invalid end states, cycles.

SPIN is run without reductions (``-o1 -o2 -o3``, ``-DNOREDUCE``), so that its counts are those of the model.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import outcrop

#: Seconds that one run of the verifier may take, and states that are worth a comparison.
_SECONDS = 5
MOST_STATES = 100_000
_ENDLESS = "max search depth too small"


class NotAccepted(Exception):
    """SPIN refuses the model, or takes too long."""


def has_spin() -> bool:
    return shutil.which("spin") is not None and shutil.which("gcc") is not None


def disagreement(text: str, folder: Path, *, cycles: bool = True) -> str:
    """Returns the first difference between SPIN and us, "" where there is none. Raises NotAccepted."""
    (folder / "m.pml").write_text(text)
    spin = subprocess.run(["spin", "-a", "-o1", "-o2", "-o3", "m.pml"], cwd=folder, capture_output=True, check=False)
    if spin.returncode or not (folder / "pan.c").exists():
        raise NotAccepted
    _compile(folder, "safety", "-DSAFETY")
    output = _run(folder, "safety", "-A", "-E")
    theirs = _count(output, "states, stored"), _count(output, "transitions")
    if theirs[0] > MOST_STATES or _ENDLESS in output:
        raise NotAccepted
    silent = outcrop.load(folder / "m.pml", assertions=False)
    ours = silent.check(deadlock="off", strategy="ram")
    if (ours.states, ours.rules_fired + 1) != theirs:
        return f"SPIN counts {theirs}, we {(ours.states, ours.rules_fired + 1)}"
    pairs = [
        ("assertions", "safety", ("-E",), outcrop.load(folder / "m.pml"), {"deadlock": "off"}),
        ("invalid end states", "safety", ("-A",), silent, {}),
    ]
    if cycles:
        _compile(folder, "cycles")
        _compile(folder, "progress", "-DNP")
        acceptance = outcrop.load(folder / "m.pml", assertions=False, acceptance=True)
        progress = outcrop.load(folder / "m.pml", assertions=False, progress=True)
        pairs += [
            ("acceptance cycles", "cycles", ("-a", "-A", "-E"), acceptance, {"deadlock": "off"}),
            ("progress", "progress", ("-l", "-A", "-E"), progress, {"deadlock": "off"}),
        ]
    for what, name, options, model, more in pairs:
        found = _count(_run(folder, name, *options), "errors", is_before=True) > 0
        verdict = str(model.check(**more).verdict)  # type: ignore[arg-type]
        if found != (verdict == "violated"):
            return f"{what}: SPIN finds {'an' if found else 'no'} error, we say {verdict}"
    return ""


def _compile(folder: Path, name: str, *flags: str) -> None:
    command = ["gcc", "-O1", "-w", "-DNOREDUCE", *flags, "-o", name, "pan.c"]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        raise NotAccepted


def _run(folder: Path, name: str, *options: str) -> str:
    command = [f"./{name}", "-c0", "-n", "-m100000", "-w20", *options]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotAccepted from None
    if "errors:" not in done.stdout:
        raise NotAccepted
    return done.stdout


def _count(output: str, word: str, *, is_before: bool = False) -> int:
    match = re.search(rf"{word}: (\d+)" if is_before else rf"([0-9.e+]+) {word}", output)
    assert match is not None, output
    return int(float(match[1]))
