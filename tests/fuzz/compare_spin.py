"""Runs a Promela model in SPIN and here, and compares: counts, bad states, unreached code, cycles, formulas.

SPIN is run without reductions (``-o1 -o2 -o3``, ``-DNOREDUCE``), so that its counts are those of the model. The
verifiers are small and run once, so the fastest compiler makes them: ``tcc`` where it is installed, else ``gcc -O0``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import outcrop

#: Seconds that one run of the verifier may take, and states that are worth a comparison.
_SECONDS = 5
MOST_STATES = 100_000
#: States that the interpreter searches in a moment.
MOST_INTERPRETED = 3_000
MOST_IN_CYCLES = 500
_ENDLESS = "max search depth too small"
_PLACE = re.compile(r"^\t[\w.]+:\d+, state (\d+)\b", re.MULTILINE)


_SILENT: dict[str, Any] = {"assertions": False}


class NotAccepted(Exception):
    """SPIN refuses the model, or takes too long."""


def has_spin() -> bool:
    return shutil.which("spin") is not None and _compiler() is not None


def _compiler() -> str | None:
    return shutil.which("tcc") or shutil.which("gcc")


@dataclass
class Verifier:
    """SPIN's verifiers of a model, each compiled when it is first asked for."""

    folder: Path
    text: str
    _made: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        (self.folder / "m.pml").write_text(self.text)
        command = ["spin", "-a", "-o1", "-o2", "-o3", "m.pml"]
        try:
            spin = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:  # a formula that it translates for minutes
            raise NotAccepted("too long") from None
        if spin.returncode or "Error" in spin.stdout or not (self.folder / "pan.c").exists():
            raise NotAccepted(spin.stdout)

    def run(self, *options: str, flags: tuple[str, ...] = ()) -> str:
        """Returns the output of the verifier that has these flags."""
        name = "-".join(("pan", *flags))
        if name not in self._made:
            self._compile(name, *flags)
        command = [f"./{name}", "-c0", "-m100000", "-w16", *options]
        try:
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, timeout=_SECONDS, check=False, encoding="latin-1"
            )
        except subprocess.TimeoutExpired:
            raise NotAccepted("too long") from None
        if "errors:" not in done.stdout or _ENDLESS in done.stdout:
            raise NotAccepted(done.stdout)
        return done.stdout

    def _compile(self, name: str, *flags: str) -> None:
        compiler = _compiler()
        assert compiler is not None
        optimise = () if compiler.endswith("tcc") else ("-O0",)
        if "priority" in self.text:  # SPIN leaves most bits of a priority out when it compresses a state
            flags = (*flags, "-DNOCOMP")
        command = [compiler, *optimise, "-w", "-DNOREDUCE", "-DNFAIR=3", *flags, "-o", name, "pan.c"]
        if subprocess.run(command, cwd=self.folder, capture_output=True, check=False).returncode:
            raise NotAccepted("the verifier does not compile")
        self._made.add(name)

    def finds(self, *options: str, flags: tuple[str, ...] = ()) -> bool:
        """Returns whether the verifier finds an error."""
        return _count(self.run(*options, flags=flags), "errors", is_before=True) > 0


@dataclass
class Comparison:
    """A model in SPIN and here. ``engine``: ours."""

    folder: Path
    text: str
    engine: str = "interpreter"

    @cached_property
    def spin(self) -> Verifier:
        return Verifier(self.folder, self.text)

    def check(self, *, loading: dict[str, Any] | None = None, **options: Any) -> outcrop.Result:
        model = outcrop.load(self.folder / "m.pml", **(loading or {}))
        if self.engine == "native":
            options.setdefault("strategy", "auto")
        return model.check(engine=self.engine, **options)

    def counts(self) -> str:
        """Compares states and transitions."""
        output = self.spin.run("-A", "-E")
        theirs = counts_in(output)
        if theirs[0] > (MOST_STATES if self.engine == "native" else MOST_INTERPRETED):
            raise NotAccepted("many states")
        ours = self.check(loading={"assertions": False}, deadlock="off")
        counted = ours.states, ours.rules_fired + 1
        if counted != theirs:
            return f"counts: SPIN has {theirs}, we {counted}"
        return ""

    def unreached(self) -> str:
        """Compares the states of unreached code. SPIN gives some of them the line where their text ends."""
        theirs = _unreached(self.spin.run("-A", "-E"))
        ours = {
            each.name: {place.state for place in each.places}
            for each in self.check(loading={"assertions": False}, deadlock="off").unreached
        }
        for name, places in theirs.items():
            own = ours.get(name, set())
            if own != places:
                return f"unreached in {name}: only SPIN {sorted(places - own)}, only we {sorted(own - places)}"
        return ""

    def verdicts(self) -> str:
        """Compares the verdicts about assertions and invalid end states."""
        asked = (
            ("assertions", self.spin.finds("-E"), {}, {"deadlock": "off"}),
            ("invalid end states", self.spin.finds("-A"), _SILENT, {}),
        )
        return next(filter(None, (self._differs(*each) for each in asked)), "")

    def cycles(self) -> str:
        """Compares the verdicts about acceptance cycles and progress, with and without fairness."""
        self._few_states()
        for fair in self._fairness():
            options = ("-A", "-E", "-f") if fair == "weak" else ("-A", "-E")
            more = {"deadlock": "off", "fair": fair}
            found = self.spin.finds("-a", *options)
            different = self._differs(f"acceptance, {fair}", found, {**_SILENT, "acceptance": True}, more)
            found = self.spin.finds("-l", *options, flags=("-DNP",))
            different = different or self._differs(f"progress, {fair}", found, {**_SILENT, "progress": True}, more)
            if different:
                return different
        return ""

    def formula(self) -> str:
        """Compares the verdict about the claim of the model, with and without fairness."""
        self._few_states()
        for fair in self._fairness():
            found = self.spin.finds("-a", "-E", *(("-f",) if fair == "weak" else ()))
            different = self._differs(f"claim, {fair}", found, _SILENT, {"deadlock": "off", "fair": fair})
            if different:
                return different
        return ""

    def _fairness(self) -> tuple[str, ...]:
        """Returns the fairness assumptions under which SPIN finds all cycles of the model."""
        return ("none", "weak") if "proctype Idle" in self.text else ("none",)

    def _few_states(self) -> None:
        output = self.spin.run("-A", "-E", flags=("-DSAFETY", "-DNOCLAIM"))
        if counts_in(output)[0] > (MOST_STATES if self.engine == "native" else MOST_IN_CYCLES):
            raise NotAccepted("many states")

    def _differs(self, what: str, found: bool, loading: dict[str, Any], options: dict[str, Any]) -> str:
        verdict = str(self.check(loading=loading, time_limit="20s", **options).verdict)
        if verdict == "unknown":
            raise NotAccepted("our search takes too long")
        if found == (verdict == "violated"):
            return ""
        return f"{what}: SPIN finds {'an' if found else 'no'} error, we say {verdict}"


def _unreached(output: str) -> dict[str, set[int]]:
    """Returns the states that SPIN lists as unreached, by proctype."""
    parts = re.split(r"^unreached in (?:proctype )?(.*)$", output, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {
        name: {int(state) for state in _PLACE.findall(text)} for name, text in named if not name.startswith("claim")
    }


def counts_in(output: str) -> tuple[int, int]:
    """Returns the states and transitions that a verifier reports."""
    return _count(output, "states, stored"), _count(output, "transitions")


def _count(output: str, word: str, *, is_before: bool = False) -> int:
    match = re.search(rf"{word}: (\d+)" if is_before else rf"([0-9.e+]+) {word}", output)
    assert match is not None, output
    return int(float(match[1]))
