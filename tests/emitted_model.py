"""Runs emitted C without the kernels: compiled with a small driver and called through ctypes."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from outcrop.codegen.c import Emitted, emit
from outcrop.ir.interpreter import Firing, Interpreter
from outcrop.ir.system import PropertyKind, System

HERE = Path(__file__).parent
NATIVE = HERE.parent / "outcrop" / "native"
#: Models have locals that they never read, and compare things with themselves.
EXCEPT = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-tautological-compare"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", *EXCEPT]


@dataclass(frozen=True)
class NativeFiring:
    rule: int
    status: int  #: status of the body; -1 if the guard failed
    raw: bytes
    normal: bytes


def compile_c(source: str, directory: Path, driver: str, *flags: str) -> Path:
    """Compiles a translation unit with one of the drivers in ``emitted``; a warning is an error."""
    c_file, made = directory / "model.c", directory / driver.removesuffix(".c")
    c_file.write_text(f'{source}\n#include "{driver}"\n')
    command = [os.environ.get("CC", "cc"), "-std=gnu11", *WARNINGS, *flags]
    command += ["-I", os.fspath(HERE / "emitted"), "-I", os.fspath(NATIVE), os.fspath(c_file), "-o", os.fspath(made)]
    done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return made


def explore(system: System, symmetry: bool, directory: Path, most_states: int, *flags: str) -> int:
    """Runs a model in a separate process, up to a number of states. Returns the number of states found."""
    program = compile_c(emit(system, symmetry).source, directory, "explore.c", *flags)
    done = subprocess.run([program, str(most_states)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return int(done.stdout)


class EmittedModel:
    """An emitted model that has been compiled and loaded."""

    def __init__(self, system: System, symmetry: bool, directory: Path, *flags: str, prints: bool = False) -> None:
        self.system = system
        self.emitted: Emitted = emit(system, symmetry, prints=prints)
        library = compile_c(self.emitted.source, directory, "driver.c", "-fPIC", "-shared", *(flags or ("-O0",)))
        self.library = ctypes.CDLL(os.fspath(library))
        self.library.driver_expand.restype = ctypes.c_uint64
        self.library.driver_covered.restype = ctypes.c_uint64
        self._bytes = self.emitted.layout.byte_count

    def start(self, instance: int) -> NativeFiring:
        raw, normal = (ctypes.create_string_buffer(self._bytes) for _ in range(2))
        status = self.library.driver_start(ctypes.c_uint64(instance), raw, normal)
        return NativeFiring(0, status, raw.raw, normal.raw)

    def successors(self, state: bytes) -> list[NativeFiring]:
        count = self.library.driver_expand(state)
        return [self._firing(number) for number in range(count)]

    def _firing(self, number: int) -> NativeFiring:
        rule, status = ctypes.c_uint32(), ctypes.c_int32()
        raw, normal = (ctypes.create_string_buffer(self._bytes) for _ in range(2))
        self.library.driver_firing(ctypes.c_uint64(number), ctypes.byref(rule), ctypes.byref(status), raw, normal)
        return NativeFiring(rule.value, status.value, raw.raw, normal.raw)

    def check(self, state: bytes) -> tuple[bool, bool]:
        """Is the state kept by the assumptions, and is something wrong with it?"""
        assumed = self.library.driver_assumptions(state)
        if assumed:
            return assumed == 2, assumed == 2
        violated = self.library.driver_invariants(state) != 0
        return True, bool(self.library.driver_covers(state)) or violated

    def liveness(self, state: bytes) -> list[bool] | None:
        words = (ctypes.c_uint64 * (self.emitted.liveness_count // 64 + 1))()
        if self.library.driver_liveness(state, words):
            return None
        return [bool(words[number >> 6] >> (number & 63) & 1) for number in range(self.emitted.liveness_count)]

    @property
    def covered(self) -> list[int]:
        return [self.library.driver_covered(ctypes.c_uint64(each)) for each in range(len(self.system.covers))]

    @property
    def noted(self) -> set[int]:
        sites = enumerate(self.emitted.notes)
        return {offset for site, offset in sites if self.library.driver_noted(ctypes.c_uint64(site))}

    @property
    def put_words(self) -> list[int]:
        self.library.driver_put.restype = ctypes.POINTER(ctypes.c_uint64)
        self.library.driver_put_length.restype = ctypes.c_uint64
        length: int = self.library.driver_put_length()
        return self.library.driver_put()[:length] if length else []


def compare(system: System, model: EmittedModel, symmetry: bool, limit: int) -> int:
    """Asserts that interpreter and emitted C agree on every state, up to ``limit`` of them; gives how many."""
    interpreter = Interpreter(system, symmetry)
    layout = model.emitted.layout
    pack, rules = layout.pack, {rule: number for number, rule in enumerate(system.rules)}

    def outcome(firing: Firing) -> tuple[int, bytes, bytes]:
        """Returns status, raw and normal successor; the states are empty if there is none."""
        if firing.successor is None or firing.raw is None:
            return (1 if firing.fault is not None else 2), b"", b""
        return 0, pack(firing.raw), pack(firing.successor)

    def native_outcome(firing: NativeFiring) -> tuple[int, bytes, bytes]:
        """With the interpreter's representative of the orbit, where the native code has chosen another one."""
        if firing.status != 0:
            return abs(firing.status), b"", b""
        normal = pack(interpreter.normalise(layout.unpack(firing.normal))) if symmetry else firing.normal
        return 0, firing.raw, normal

    seen: dict[bytes, None] = {}
    starts = list(interpreter.start_states())
    assert len(starts) == model.emitted.start_count
    for number, firing in enumerate(starts):
        assert native_outcome(model.start(number)) == outcome(firing)
        if firing.successor is not None:
            seen[pack(firing.successor)] = None
    pending = list(seen)
    while pending:
        state = pending.pop(0)
        leaves = layout.unpack(state)
        check = interpreter.check(leaves)
        assert model.check(state) == (check.is_kept, check.failure is not None), leaves
        if system.of_kind(PropertyKind.LIVENESS):
            liveness = interpreter.liveness(leaves)
            assert model.liveness(state) == (liveness if isinstance(liveness, list) else None), leaves
        expected = [(rules[each.origin], *outcome(each)) for each in interpreter.successors(leaves)]  # type: ignore[index]
        found = [(each.rule, *native_outcome(each)) for each in model.successors(state)]
        # A guard that is hoisted out of loops fails once instead of once for each instance.
        assert Counter(each for each in expected if each[1] != 1) == Counter(each for each in found if each[1] != 1)
        assert {each[0] for each in expected if each[1] == 1} == {each[0] for each in found if each[1] == 1}
        for _, status, _, successor in expected:
            if status == 0 and successor not in seen and len(seen) < limit:
                seen[successor] = None
                pending.append(successor)
    assert model.covered == interpreter.covered
    assert model.noted == interpreter.noted
    return len(seen)
