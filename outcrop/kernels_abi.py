"""The binary interface of native/kernels.c: what its structures hold, and what its functions take and give."""

from __future__ import annotations

import ctypes

#: What native/kernels.c must have been compiled with.
ABI_VERSION = 16

POINTER = ctypes.c_void_p
NUMBER = ctypes.c_uint64
FLAG = ctypes.c_int

#: Result and argument types of an exported function.
Signature = tuple[type | None, tuple[type, ...]]
SIGNATURES: dict[str, Signature] = {
    "outcrop_shape": (None, (POINTER,)),
    "outcrop_open": (POINTER, (POINTER,)),
    "outcrop_close": (None, (POINTER,)),
    "outcrop_stop": (None, (POINTER,)),
    "outcrop_standing": (None, (POINTER, POINTER)),
    "outcrop_start": (NUMBER, (POINTER,)),
    "outcrop_finish_level": (NUMBER, (POINTER,)),
    "outcrop_expand_levels": (NUMBER, (POINTER, NUMBER, NUMBER, NUMBER, POINTER, POINTER)),
    "outcrop_count": (None, (POINTER, POINTER, POINTER, POINTER)),
    "outcrop_coverage": (None, (POINTER, POINTER, POINTER)),
    "outcrop_take_found": (NUMBER, (POINTER, NUMBER, NUMBER, POINTER)),
    "outcrop_take_put": (NUMBER, (POINTER, NUMBER, POINTER)),
    "outcrop_read_block": (None, (POINTER, NUMBER, NUMBER, POINTER)),
    "outcrop_empty_arena": (None, (POINTER,)),
    "outcrop_insert_block": (NUMBER, (POINTER, NUMBER, POINTER, NUMBER, POINTER)),
    "outcrop_expand_block": (NUMBER, (POINTER, NUMBER, POINTER, NUMBER, NUMBER, NUMBER, POINTER)),
    "outcrop_take_successors": (None, (POINTER, NUMBER, POINTER, POINTER)),
    "outcrop_check_block": (None, (POINTER, NUMBER, POINTER, NUMBER)),
    "outcrop_normalise_block": (None, (POINTER, NUMBER)),
    "outcrop_find_predecessors": (
        FLAG,
        (POINTER, NUMBER, NUMBER, NUMBER, POINTER, NUMBER, POINTER, POINTER),
    ),
    "outcrop_find_predecessors_among": (
        FLAG,
        (POINTER, NUMBER, POINTER, NUMBER, POINTER, NUMBER, POINTER, POINTER),
    ),
}


class RawSettings(ctypes.Structure):
    _fields_ = (
        ("workers", ctypes.c_uint64),
        ("exact", ctypes.c_uint64),
        ("bits", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("deadlock", ctypes.c_uint64),
        ("budget", ctypes.c_uint64),
        ("disk_limit", ctypes.c_uint64),
        ("most_states", ctypes.c_uint64),
        ("most_found", ctypes.c_uint64),
        ("file", ctypes.c_int64),
        ("first_lines", ctypes.c_uint64),
        ("wide", ctypes.c_uint64),
        ("spills", ctypes.c_uint64),
        ("note_bits", ctypes.c_uint64),
    )


class RawShape(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "abi_version",
            "state_bytes",
            "model_bytes",
            "state_bits",
            "rules",
            "covers",
            "notes",
            "liveness",
            "successor_room",
            "prints",
            "coverage",
        )
    )


class RawStanding(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "states",
            "expanded",
            "levels",
            "level_begin",
            "level_end",
            "memory",
            "disk",
            "positions",
            "stop",
            "started",
            "unexpanded",
            "generated",
        )
    )
