"""Compilation of C to a loaded library: the flags, the compiler process, and the keys of cached libraries.

The key of a cached library is everything that went into it: the C of the model, the kernels, the flags, the compiler
and the processor. A library appears in the cache under its final name only when it is complete (an atomic rename), so
that any number of processes may compile the same model at once. A library that is damaged, or cannot be loaded, is
compiled again.

The rules of a large model are compiled as several units at the same time. That is no part of the key: the library
does the same.

See find_compiler.py for the choice of the compiler, processes.py for its limits, and cache.py for the directory and its
size.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES, EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOSPC, EROFS
from functools import cache, partial
from pathlib import Path
from typing import Any

from outcrop.codegen import processes
from outcrop.codegen.cache import cache_directory, is_whole, keep_below_limit, renew, sealed
from outcrop.codegen.find_compiler import Compiler, find_compiler
from outcrop.codegen.processes import Run, Watch
from outcrop.errors import InternalError, OutcropError, Undecided, UsageError
from outcrop.kernels import Native
from outcrop.kernels.abi import abi_hash
from outcrop.scratch import ScratchDirectory
from outcrop.strategies import OWN_KERNELS

#: The directory of the kernels, which every model includes.
NATIVE = Path(__file__).resolve().parent.parent / "native"

#: -O3 takes up to a third longer to compile, and did not make the search faster in any test (bench/NOTES.md). Signed
#: overflow wraps, so that results can be checked after the operation.
FLAGS = ("-std=gnu11", "-O2", "-march=native", "-fPIC", "-shared", "-fwrapv", "-fno-strict-aliasing", "-pthread", "-w")

#: Largest text that is compiled, in bytes. A model of a thousand rules is about a megabyte of C and takes about ten
#: seconds on one core.
MOST_TEXT = 30_000_000
#: Estimate of the compile time: seconds for the kernels, and bytes of C per second.
_SECONDS_FOR_KERNELS = 1.5
_TEXT_A_SECOND = 200_000
#: Messages of compilers, in lower case, that do not concern the code.
_WITHOUT_MEMORY = ("out of memory", "virtual memory exhausted", "cannot allocate memory", "killed signal", "bad_alloc")
_WITHOUT_TIME = ("cpu time limit", "sigxcpu")
#: Errors of the operating system, at the end of a line that compilers print.
_OF_THE_DISK = re.compile(
    rf": ({'|'.join(map(os.strerror, (ENOSPC, EDQUOT, EFBIG, EIO, EROFS, EACCES, EMFILE, ENFILE)))})\.?$", re.MULTILINE
)

#: Prefix of the directories in which compilers work.
_SCRATCH = "compile-"


@dataclass(frozen=True)
class _Job:
    """The arguments of a compilation; see compile_model."""

    notes: Sequence[int]
    flags: Sequence[str]
    groups: int
    watch: Watch | None = None

    def begin(self) -> None:
        if self.watch is not None:
            self.watch()


def compile_model(
    text: str,
    *,
    notes: Sequence[int] = (),
    keep_c: str | None = None,
    flags: Sequence[str] = FLAGS,
    kernels: Sequence[str] | None = None,
    groups: int = 0,
    watch: Watch | None = None,
) -> Native:
    """Compiles the C of a model together with the kernels, and loads the library. ``keep_c`` names a directory for the
    C, with the kernels next to it, so that it can be compiled by hand. ``kernels`` names the files in native/ that are
    needed beyond those of most searches, None for all. With few files compilation takes about half as long; missing
    ones are compiled when something needs them. ``groups``: as in Emitted; they are compiled at the same time."""
    native = _compile_model(text, keep_c, kernels, _Job(notes, flags, groups, watch))
    compile_again = partial(compile_model, notes=notes, flags=flags, groups=groups)

    def defining(name: str, kernels: Sequence[str] | None, value: int) -> Native:
        return compile_again(f"#define {name} {value}\n{text}", kernels=kernels)

    native.compile_squeezed = partial(defining, "SQUEEZED_BYTES", None)
    native.compile_compressed = lambda tree, kernels=(): defining("HAS_TREE" if tree else "HAS_QUOTIENT", kernels, 1)
    native.seconds_to_compile = _SECONDS_FOR_KERNELS + len(text) / _TEXT_A_SECOND / max(1, _piece_count(groups))
    return native


class NotCompiled(Exception):
    """Raised instead of starting a compiler."""


def cached_model(text: str, **options: Any) -> Native | None:
    """Returns what ``compile_model`` returns if the cache has it, otherwise None. Starts no compiler."""

    def refuse() -> None:
        raise NotCompiled

    try:
        return compile_model(text, **options, watch=refuse)
    except NotCompiled:
        return None


def _compile_model(text: str, keep_c: str | None, kernels: Sequence[str] | None, job: _Job) -> Native:
    rest = f'#define ABI_HASH UINT64_C({abi_hash():#x})\n#include "kernels.c"\n'
    whole = _unit(text, rest + _included(OWN_KERNELS))
    if len(whole) > MOST_TEXT:
        raise _too_large(whole, "the model is too large to compile")
    if keep_c is not None:
        keep_source(whole, Path(keep_c))
    compiler = find_compiler()
    known = _load(_library_of(whole, compiler, job.flags), job.notes)
    if known is not None:
        return known
    if kernels is None:
        return _made(whole, compiler, job)
    compile_all = partial(compile_model, text, notes=job.notes, flags=job.flags, groups=job.groups)
    part = _unit(f"#define HAS_ALL_KERNELS 0\n{text}", rest + _included(kernels))
    known = _load(_library_of(part, compiler, job.flags), job.notes, compile_all)
    return known or _made(part, compiler, job, compile_all)


def _unit(text: str, kernels: str) -> str:
    return f"{text}\n#if IS_MAIN_UNIT\n{kernels}#endif\n"


def _included(kernels: Sequence[str]) -> str:
    return "".join(f'#include "{each}"\n' for each in kernels)


def _library_of(text: str, compiler: Compiler, flags: Sequence[str]) -> Path:
    return cache_directory() / f"{_key(text, compiler, flags)}.so"


def _load(library: Path, notes: Sequence[int], compile_all: Callable[[], Native] | None = None) -> Native | None:
    """Loads a library from the cache; None if there is none that can be used."""
    if is_whole(library):
        renew(library)
        try:
            return Native(library, notes, compile_all)
        except OSError:
            with suppress(OSError):
                library.unlink(missing_ok=True)
    return None


def _made(text: str, compiler: Compiler, job: _Job, compile_all: Callable[[], Native] | None = None) -> Native:
    job.begin()
    library = _library_of(text, compiler, job.flags)
    try:
        _compile(text, compiler, job, library)
    except OSError as error:
        raise _no_place(library.parent, error.strerror) from None
    if not is_whole(library):
        raise _no_place(library.parent, "the written library cannot be read back")
    keep_below_limit(library.parent, library)
    return Native(library, job.notes, compile_all)


def _no_place(directory: Path, why: str | None) -> UsageError:
    return UsageError(
        f"cannot compile the model in '{directory}': {why}. Set XDG_CACHE_HOME to a directory on another disk, or "
        "check with --engine interpreter, which compiles nothing"
    )


def keep_source(text: str, directory: Path) -> Path:
    """Writes the C of a model to a directory, and returns the path of the file to compile."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for kernel in _kernel_files():
            shutil.copyfile(kernel, directory / kernel.name)
        path = directory / "model.c"
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write the C to '{directory}': {error.strerror}; name another directory with --keep-c"
        ) from None
    return path


def _compile(text: str, compiler: Compiler, job: _Job, library: Path) -> None:
    with ScratchDirectory(library.parent, _SCRATCH) as scratch:
        source, made = scratch.path / "model.c", scratch.path / "model.so"
        source.write_text(text, encoding="utf-8")
        begin = [*compiler.command, *job.flags, *compiler.flags, "-I", str(NATIVE)]
        for stage in _stages(begin, source, made, _piece_count(job.groups)):
            try:
                failed = processes.run_compilers(stage, scratch.path, job.watch)
            except subprocess.TimeoutExpired:
                raise _too_large(text, _late()) from None
            if failed is not None:
                raise _refusal(text, failed, library.parent)
        complete = scratch.path / "sealed.so"
        with open(complete, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(sealed(made.read_bytes()))
        complete.replace(library)


def _piece_count(groups: int) -> int:
    """Returns the number of units for groups of rules; 0: one unit for everything. Two a core even out their times."""
    cores = processes.at_a_time()
    return min(groups, 2 * cores) if cores > 1 else 0


def _stages(begin: list[str], source: Path, made: Path, pieces: int) -> list[list[list[str]]]:
    """Returns the commands of the compiler, in stages. Those of a stage may run at the same time."""
    if not pieces:
        return [[[*begin, str(source), "-o", str(made), "-lm"]]]
    objects = [str(made.with_name(f"{number}.o")) for number in range(pieces + 1)]
    compiled = [
        [*begin, f"-DPIECE={number}", f"-DPIECES={pieces}", "-c", str(source), "-o", each]
        for number, each in enumerate(objects)
    ]
    return [compiled, [[*begin, *objects, "-o", str(made), "-lm"]]]


def _late() -> str:
    return f"the C compiler did not finish within {processes.MOST_SECONDS} s"


def _refusal(text: str, run: Run, directory: Path) -> OutcropError:
    """Returns the error for a compiler that failed."""
    if run.returncode in (-signal.SIGINT, 128 + signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGTERM):
        return Undecided("the C compiler was interrupted")
    said = run.stderr.lower()
    if any(each in said for each in _WITHOUT_MEMORY) or run.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return _too_large(text, "the C compiler ran out of memory")
    if any(each in said for each in _WITHOUT_TIME) or run.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return _too_large(text, _late())
    if failed := _OF_THE_DISK.search(run.stderr):
        return _no_place(directory, failed[1])
    kept = keep_source(text, Path(tempfile.mkdtemp(prefix="outcrop-failed-")))
    return InternalError(
        f"the C compiler refused the code generated for this model, which is a bug in Outcrop. The code is kept as "
        f"{kept}; please report it with this message.\n{' '.join(run.args)}\n{_shortened(run.stderr)}"
    )


def _too_large(text: str, what: str) -> UsageError:
    return UsageError(
        f"{what}: this model becomes {len(text) / 1e6:,.1f} MB of C. Write rules that are alike as one ruleset, or "
        "check with --engine interpreter, which compiles nothing"
    )


def _shortened(messages: str, lines: int = 20) -> str:
    rows = messages.strip().splitlines()
    return "\n".join(rows[:lines] + ([f"... and {len(rows) - lines} more lines"] if len(rows) > lines else []))


# --- The cache ---------------------------------------------------------------------------------------------


def _key(text: str, compiler: Compiler, flags: Sequence[str]) -> str:
    digest = hashlib.sha256()
    parts = [
        text.encode(),
        " ".join(flags).encode(),
        " ".join(compiler.command).encode(),
        compiler.version.encode(),
    ]
    parts += [_processor().encode(), *(kernel.read_bytes() for kernel in _kernel_files())]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _kernel_files() -> list[Path]:
    return sorted(path for path in NATIVE.iterdir() if path.suffix in (".c", ".h"))


@cache
def _processor() -> str:
    """Returns a description of the processor, since machines of different kinds may share a home directory."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.machine() + platform.processor()
    rows = re.findall(r"^(?:model name|flags|Features|CPU part)\s*:.*$", text, re.MULTILINE)
    return platform.machine() + "\n".join(sorted(set(rows)))
