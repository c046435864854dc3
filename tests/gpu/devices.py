"""Searches with a device, compared with the search on the processor."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from outcrop.api import Model, load
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.gpu.device import Device
from outcrop.gpu.memory import Sizes
from outcrop.gpu.search import Program, search
from outcrop.gpu.source import Tuning
from outcrop.ir.vacuity import vacuity
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome
from outcrop.reduction.prepare import reduction_of
from outcrop.reduction.stubborn import Reduction
from outcrop.search import ram

#: Sizes with which everything has to grow, and levels are expanded in many pieces.
TINY = Sizes(
    device_bytes=1 << 26, host_bytes=1 << 26, first_slots=64, buffer_bytes=1 << 12, least_piece=8, most_piece=32
)
TINY_TUNING = Tuning(block_shift=5, group=2)


def program(model: Model, *, symmetry: bool, prints: bool = False) -> Program:
    system = vacuity(model.system, model.system.temporal).system
    emitted = emit(system, symmetry and system.allows_symmetry, prints=prints)
    native = compile_model(emitted.source, notes=emitted.notes)
    return Program(system, emitted, native)


def reduced_program(model: Model, *, symmetry: bool) -> Program | None:
    """Returns the program of a model with partial-order reduction; None if it is searched in full."""
    system = model.system
    symmetry = symmetry and system.allows_symmetry
    reduction = reduction_of(system, symmetry)
    if not isinstance(reduction, Reduction):
        return None
    emitted = emit(system, symmetry, reduction=reduction)
    return Program(system, emitted, compile_model(emitted.source, notes=emitted.notes))


def load_program(path: Path, *, symmetry: bool = False, prints: bool = False, **constants: object) -> Program:
    return program(load(path, constants), symmetry=symmetry, prints=prints)


def compare(
    made: Program,
    device: Device,
    options: CheckOptions,
    sizes: Sizes | None = TINY,
    tuning: Tuning | None = TINY_TUNING,
) -> Outcome:
    """Searches with the device. Asserts that everything but times and events is as in RAM."""
    expected = ram.search(made.native, dataclasses.replace(options, strategy="ram", threads=1))
    got = search(made, device, options, sizes=sizes, tuning=tuning)
    common = {"seconds": 0.0, "events": [], "device": "", "omission_bound": 0.0, "enabled": None, "deeper": None}
    common |= {"generated": [], "peak_disk_bytes": 0, "missed": None}
    assert dataclasses.replace(got, **common) == dataclasses.replace(expected, **common)  # type: ignore[arg-type]
    return got
