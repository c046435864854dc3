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
_ENDLESS = "max search depth too small"
_PLACE = re.compile(r'^\t[\w.]+:(\d+), state (\d+), "', re.MULTILINE)


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
        spin = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
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
        """Compares the lists of unreached code."""
        theirs = _unreached(self.spin.run("-A", "-E"))
        ours = {
            each.name: {(place.span.line, place.state) for place in each.places}
            for each in self.check(loading={"assertions": False}, deadlock="off").unreached
        }
        for name, places in theirs.items():
            own = ours.get(name, set())
            if own != places:
                return f"unreached in {name}: only SPIN {sorted(places - own)}, only we {sorted(own - places)}"
        return ""

    def verdicts(self, *, cycles: bool = False) -> str:
        """Compares the verdicts about assertions and invalid end states, and about cycles with and without fairness."""
        silent = {"assertions": False}
        asked: list[tuple[str, bool, dict[str, Any], dict[str, Any]]] = [
            ("assertions", self.spin.finds("-E"), {}, {"deadlock": "off"}),
            ("invalid end states", self.spin.finds("-A"), silent, {}),
        ]
        if cycles:
            for fair in ((), ("-f",)):
                more = {"deadlock": "off", "fair": "weak" if fair else "none"}
                found = self.spin.finds("-a", "-A", "-E", *fair)
                asked.append((f"acceptance {fair}", found, {**silent, "acceptance": True}, more))
                found = self.spin.finds("-l", "-A", "-E", *fair, flags=("-DNP",))
                asked.append((f"progress {fair}", found, {**silent, "progress": True}, more))
        return next(filter(None, (self._differs(*each) for each in asked)), "")

    def formula(self) -> str:
        """Compares the verdict about the claim of the model, with and without fairness."""
        for fair in ((), ("-f",)):
            found = self.spin.finds("-a", "-A", "-E", *fair)
            more = {"deadlock": "off", "fair": "weak" if fair else "none"}
            different = self._differs(f"claim {fair}", found, {"assertions": False}, more)
            if different:
                return different
        return ""

    def _differs(self, what: str, found: bool, loading: dict[str, Any], options: dict[str, Any]) -> str:
        verdict = str(self.check(loading=loading, **options).verdict)
        if found == (verdict == "violated"):
            return ""
        return f"{what}: SPIN finds {'an' if found else 'no'} error, we say {verdict}"


def disagreement(text: str, folder: Path, *, cycles: bool = True, engine: str = "interpreter") -> str:
    """Returns the first difference between SPIN and us, "" where there is none. Raises NotAccepted."""
    comparison = Comparison(folder, text, engine)
    return comparison.counts() or comparison.verdicts(cycles=cycles)


def _unreached(output: str) -> dict[str, set[tuple[int, int]]]:
    """Returns the lines and states that SPIN lists as unreached, by proctype."""
    parts = re.split(r"^unreached in (?:proctype )?(.*)$", output, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {
        name: {(int(line), int(state)) for line, state in _PLACE.findall(text)}
        for name, text in named
        if not name.startswith("claim")
    }


def counts_in(output: str) -> tuple[int, int]:
    """Returns the states and transitions that a verifier reports."""
    return _count(output, "states, stored"), _count(output, "transitions")


def _count(output: str, word: str, *, is_before: bool = False) -> int:
    match = re.search(rf"{word}: (\d+)" if is_before else rf"([0-9.e+]+) {word}", output)
    assert match is not None, output
    return int(float(match[1]))
