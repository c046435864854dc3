"""The translation unit of a model for a GPU: the emitted text, which the processor's compiler gets too, and kernels.

It includes no other file, so a cache of compiled kernels can be keyed by the text alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from outcrop.codegen.c import Emitted
from outcrop.codegen.features import Feature
from outcrop.ir.system import System

_NATIVE = Path(__file__).resolve().parent.parent / "native"
#: Directories of included files. The first takes precedence over files of the same name for processors.
_DIRECTORIES = (Path(__file__).resolve().parent / "native", _NATIVE)
_INCLUDE = re.compile(r'^#include (?:"(?P<own>[\w.]+)"|<[\w.]+>)$', re.MULTILINE)

#: Features that kernels for a GPU lack, with the reason that is reported for models that need them.
_LACKING = {
    Feature.AUTOMATON: "its property is an automaton",
    Feature.LIVENESS: "it has liveness properties",
    Feature.PRINTING: "it prints (--print)",
    Feature.REALS: "it computes with real numbers",
    Feature.WIDE_INTEGERS: "it computes with more than 64 bits",
}

#: Widest state, in words of 64 bits, because each thread keeps a few states.
MOST_WORDS = 64
#: Largest number of counters in the shared memory of a block, four bytes each.
MOST_COUNTERS = 8192
#: Number of lines from which functions of the model are not inlined: compiling would take minutes.
MOST_INLINED_LINES = 1000
#: Number of lines from which compiling takes minutes in any case (15,000 lines take half a minute).
MOST_LINES = 25_000
#: Widest state kept in registers, in words of 32 bits.
REGISTER_WORDS = 8


@dataclass(frozen=True)
class Tuning:
    """The constants of the kernels. ``block_shift``: number of states in a block, as a power of two."""

    block_shift: int
    register_words: int = REGISTER_WORDS
    expand_threads: int = 128
    expand_blocks: int = 1
    prepare_threads: int = 128
    insert_threads: int = 256
    insert_blocks: int = 3  #: blocks on a multiprocessor, which limits the registers of a thread
    group: int = 1
    expand_share: float = 2.0  #: threads relative to those of the device, when two kernels run concurrently

    @staticmethod
    def of(words: int, block_bytes: int) -> Tuning:
        return Tuning(
            block_shift=max(0, (block_bytes // (8 * words)).bit_length() - 1),
            group=4 if words <= 2 else 2 if words <= 4 else 1,
        )


def words_of(emitted: Emitted) -> int:
    return -(-emitted.layout.byte_count // 8)


def why_not(system: System, emitted: Emitted) -> str | None:
    """Returns why a model cannot be searched on a GPU, or None if it can."""
    for feature, reason in _LACKING.items():
        if feature in emitted.features:
            return reason
    if any(function.is_recursive for function in system.functions):
        return "it has a recursive function"
    if words_of(emitted) > MOST_WORDS:
        return f"its states are wider than {MOST_WORDS * 64:,} bits"
    if len(system.rules) + len(system.covers) + len(emitted.notes) // 4 > MOST_COUNTERS:
        return f"it has more than {MOST_COUNTERS:,} rules and cover goals"
    lines = emitted.source.count("\n")
    if lines > MOST_LINES:
        return f"its code is too long for the compiler, {lines:,} lines"
    return None


def translation_unit(emitted: Emitted, tuning: Tuning) -> str:
    is_fat = emitted.source.count("\n") > MOST_INLINED_LINES
    constants = {
        "MOST_REGISTER_WORDS": 0 if is_fat else tuning.register_words,
        "BLOCK_SHIFT": tuning.block_shift,
        "EXPAND_THREADS": tuning.expand_threads,
        "EXPAND_BLOCKS": tuning.expand_blocks,
        "PREPARE_THREADS": tuning.prepare_threads,
        "INSERT_THREADS": tuning.insert_threads,
        "INSERT_BLOCKS": tuning.insert_blocks,
        "GROUP": tuning.group,
        **({"BODY": "NOINLINE", "FAT": 1} if is_fat else {"NOINLINE": "inline"}),
    }
    lines = [*(f"#define {name} {value}" for name, value in constants.items()), '#include "device.h"']
    return _flat("\n".join([*lines, emitted.source, '#include "kernels.cu"', ""]))


def _flat(text: str) -> str:
    def included(match: re.Match[str]) -> str:
        name = match["own"]
        if name is None:
            return ""  # NVRTC has no C library, and none is needed
        path = next(path for directory in _DIRECTORIES if (path := directory / name).exists())
        return _flat(path.read_text(encoding="utf-8"))

    return _INCLUDE.sub(included, text)
