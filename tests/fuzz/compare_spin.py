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

#: Messages of a verifier that ends early: at its bound of depth or of processes, or at a number that is no channel.
_INCOMPLETE = re.compile("max search depth too small|too many processes|aborting|bad queue#")
_PLACE = re.compile(r"^\t[^\t:]+:\d+, state (\d+)\b", re.MULTILINE)


#: Options for ``load`` without assertions.
_SILENT: dict[str, Any] = {"assertions": False}
#: Flags of a verifier that looks for bad states alone.
_SAFETY = ("-DSAFETY",)


class NotAccepted(Exception):
    """SPIN refuses the model, or takes too long."""


def has_spin() -> bool:
    return shutil.which("spin") is not None and _compiler() is not None


def _compiler() -> str | None:
    return shutil.which("tcc") or shutil.which("gcc")


@dataclass(frozen=True)
class Limits:
    """What one run of a verifier may take, and how many states are worth a comparison."""

    seconds: float = 5.0
    depth: int = 100_000
    states: int = 100_000  #: by compiled searches, and with cycles
    interpreted: int = 3_000
    interpreted_cycles: int = 500


@dataclass
class Verifier:
    """SPIN's verifiers of the model ``m.pml`` in a folder, each compiled when it is first asked for."""

    folder: Path
    text: str
    name: str = "m.pml"
    limits: Limits = Limits()
    _made: set[str] = field(default_factory=set)
    _said: str = ""

    def __post_init__(self) -> None:
        (self.folder / self.name).write_text(self.text, encoding="utf-8", errors="surrogateescape")
        command = ["spin", "-a", "-o1", "-o2", "-o3", self.name]
        try:
            spin = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                timeout=self.limits.seconds,
                check=False,
                encoding="latin-1",
            )
        except subprocess.TimeoutExpired:  # a formula that it translates for minutes
            raise NotAccepted("too long") from None
        if spin.returncode or "Error" in spin.stdout or not (self.folder / "pan.c").exists():
            raise NotAccepted(spin.stdout)
        self._said = spin.stdout

    def run(self, *options: str, flags: tuple[str, ...] = ()) -> str:
        """Returns the output of the verifier that has these flags."""
        name = "-".join(("pan", *flags))
        if name not in self._made:
            self._compile(name, *flags)
        hash_table = f"-w{self.limits.states.bit_length() - 1}"
        command = [f"./{name}", "-c0", f"-m{self.limits.depth}", hash_table, *options]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                timeout=self.limits.seconds,
                check=False,
                encoding="latin-1",
            )
        except subprocess.TimeoutExpired:
            raise NotAccepted("too long") from None
        if "errors:" not in done.stdout or _INCOMPLETE.search(done.stdout):
            raise NotAccepted(done.stdout)
        return done.stdout

    def _compile(self, name: str, *flags: str) -> None:
        compiler = _compiler()
        assert compiler is not None
        optimise = () if compiler.endswith("tcc") else ("-O0",)
        if "priority" in self.text:  # SPIN leaves most bits of a priority out when it compresses a state
            flags = (*flags, "-DNOCOMP")
        command = [compiler, *optimise, "-w", "-DNOREDUCE", "-DNFAIR=3", "-DVECTORSZ=8192", *flags, "-o", name, "pan.c"]
        if subprocess.run(command, cwd=self.folder, capture_output=True, check=False).returncode:
            raise NotAccepted("the verifier does not compile")
        self._made.add(name)

    @cached_property
    def claims(self) -> tuple[str, ...]:
        """The names of the claims of the model; "" for the only one, if it has just one."""
        count = re.search(r"^\t#define NCLAIMS\t(\d+)$", (self.folder / "pan.h").read_text("latin-1"), re.MULTILINE)
        if not count or count[1] == "1":
            return ("",) if count else ()
        return tuple(re.findall(r"^ltl (\w+):", self._said, re.MULTILINE))

    def finds(self, *options: str, flags: tuple[str, ...] = ()) -> bool:
        """Returns whether the verifier finds an error."""
        return _count(self.run(*options, flags=flags), "errors", is_before=True) > 0


@dataclass
class Comparison:
    """A model in SPIN and here. ``engine``: ours."""

    folder: Path
    text: str
    engine: str = "interpreter"
    name: str = "m.pml"
    limits: Limits = Limits()
    loading: dict[str, Any] = field(default_factory=dict)  #: options for ``load`` that the model needs

    @cached_property
    def spin(self) -> Verifier:
        return Verifier(self.folder, self.text, self.name, self.limits)

    @property
    def _claimless(self) -> dict[str, Any]:
        """Options for ``load`` without formulas and never claims. SPIN keeps event traces without these."""
        return {"claims": False} if self.spin.claims else {}

    def check(self, *, loading: dict[str, Any] | None = None, **options: Any) -> outcrop.Result:
        model = outcrop.load(self.folder / self.name, **self.loading, **(loading or {}))
        if self.engine == "native":
            options.setdefault("strategy", "auto")
        return model.check(engine=self.engine, **options)

    def counts(self) -> str:
        """Compares states and transitions."""
        theirs = counts_in(self._run("-A", "-E", flags=_SAFETY))
        if theirs[0] > (self.limits.states if self.engine == "native" else self.limits.interpreted):
            raise NotAccepted("many states")
        ours = self.check(loading=_SILENT | self._claimless, deadlock="off")
        counted = ours.states, ours.rules_fired + 1
        if counted != theirs and not (self._is_cut and counted > theirs):
            return f"counts: SPIN has {theirs}, we {counted}"
        return ""

    @property
    def _is_cut(self) -> bool:
        """Whether atomic sequences have states inside, which SPIN does not count."""
        model = outcrop.load(self.folder / self.name, **self.loading, **_SILENT, **self._claimless)
        return any(each.name == "atomic" for each in model.system.variables)

    def unreached(self) -> str:
        """Compares the states of unreached code. SPIN gives some of them the line where their text ends."""
        theirs = _unreached(self._run("-A", "-E", flags=_SAFETY))
        ours = {
            each.name: {place.state for place in each.places}
            for each in self.check(loading=_SILENT | self._claimless, deadlock="off").unreached
        }
        for name, places in theirs.items():
            own = ours.get(name, set())
            if own != places:
                return f"unreached in {name}: only SPIN {sorted(places - own)}, only we {sorted(own - places)}"
        return ""

    def verdicts(self) -> str:
        """Compares the verdicts about assertions and invalid end states."""
        asked: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
            ("assertions", "-E", {}, {"deadlock": "off"}),
            ("invalid end states", "-A", _SILENT, {}),
        )
        for what, option, loading, options in asked:
            if different := self._differs(what, self._finds(option, flags=_SAFETY), loading | self._claimless, options):
                return different
        return ""

    def cycles(self) -> str:
        """Compares the verdicts about acceptance cycles and progress, with and without fairness."""
        self._few_states()
        silent = _SILENT | self._claimless
        for fair in self._fairness():
            options = ("-A", "-E", "-f") if fair == "weak" else ("-A", "-E")
            more = {"deadlock": "off", "fair": fair}
            found = self._finds("-a", *options)
            different = self._differs(f"acceptance, {fair}", found, {**silent, "acceptance": True}, more)
            found = self._finds("-l", *options, flags=("-DNP",))
            different = different or self._differs(f"progress, {fair}", found, {**silent, "progress": True}, more)
            if different:
                return different
        return ""

    def formula(self) -> str:
        """Compares the verdicts about the claims of the model, with and without fairness."""
        self._few_states()
        for fair in self._fairness():
            for name in self.spin.claims:
                options = ("-a", "-E", *(("-f",) if fair == "weak" else ()), *(("-N", name) if name else ()))
                more = {"deadlock": "off", "fair": fair, **({"properties": (name,)} if name else {})}
                different = self._differs(f"claim {name}, {fair}", self.spin.finds(*options), _SILENT, more)
                if different:
                    return different
        return ""

    def _run(self, *options: str, flags: tuple[str, ...] = ()) -> str:
        """Returns the output of the verifier of the model without its claims."""
        return self.spin.run(*options, flags=(*flags, "-DNOCLAIM") if self.spin.claims else flags)

    def _finds(self, *options: str, flags: tuple[str, ...] = ()) -> bool:
        return _count(self._run(*options, flags=flags), "errors", is_before=True) > 0

    def _fairness(self) -> tuple[str, ...]:
        """Returns the fairness assumptions under which SPIN finds all cycles of the model."""
        return ("none", "weak") if "proctype Idle" in self.text else ("none",)

    def _few_states(self) -> None:
        output = self.spin.run("-A", "-E", flags=("-DSAFETY", "-DNOCLAIM"))
        if counts_in(output)[0] > (self.limits.states if self.engine == "native" else self.limits.interpreted_cycles):
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
