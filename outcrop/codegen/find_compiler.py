"""The choice of a C compiler. It imports nothing of the kernels, so that a check without a compiler stays light."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from outcrop.errors import CompilerNotFound, UsageError

#: GCC 12 clears arrays on the stack with 32-byte stores, if the processor has them, followed by a 16-byte store at an
#: address that the array does not align. These flags came with that change and revert it; other compilers do not know
#: them.
_NARROW_STORES = ("-mstore-max=128", "-mmove-max=128")

_CANDIDATES = ("cc", "gcc", "clang")


@dataclass(frozen=True)
class Compiler:
    command: tuple[str, ...]
    version: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Further flags of this compiler. They follow from its version, so that they are not part of a key."""
        known = _run([*self.command, *_NARROW_STORES, "-E", "-x", "c", os.devnull]) is not None
        return _NARROW_STORES if known else ()


@cache
def find_compiler() -> Compiler:
    """Returns the first of $CC, cc, gcc and clang that runs, otherwise the compiler of the ziglang package."""
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        compiler = _try(shlex.split(chosen))
        if compiler is None:
            raise UsageError(f"$CC is '{chosen}', which does not run; unset it, or set it to a C compiler")
        return compiler
    commands = [[path] for path in map(shutil.which, _CANDIDATES) if path]
    if importlib.util.find_spec("ziglang") is not None:
        commands.append([sys.executable, "-m", "ziglang", "cc"])
    for command in commands:
        compiler = _try(command)
        if compiler is not None:
            return compiler
    raise CompilerNotFound(
        "no C compiler found. Install one (apt install gcc; or pip install 'outcrop[zig]', which needs no "
        "administrator), name one in $CC, or check with --engine interpreter, which is slow but compiles nothing"
    )


def _try(command: list[str]) -> Compiler | None:
    version = _run([*command, "--version"])
    return None if version is None else Compiler(tuple(command), version)


def _run(command: list[str]) -> str | None:
    """Returns the output of a command, None if it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout if run.returncode == 0 else None
