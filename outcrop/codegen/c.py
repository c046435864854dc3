"""System to C: the translation unit of a model, up to the kernels that are compiled with it."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.codegen.code import Unit, buffer_bytes
from outcrop.codegen.functions import write_functions
from outcrop.codegen.product import write_product
from outcrop.codegen.properties import write_properties, write_start
from outcrop.codegen.rules import write_rules
from outcrop.codegen.symmetry import emit_normalise, needs_normalise
from outcrop.codegen.text import braced, comment
from outcrop.ir.faults import MAX_CALL_DEPTH, allow_deep_nesting
from outcrop.ir.layout import Layout
from outcrop.ir.nodes import Put
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.types import INTEGER


@dataclass(frozen=True)
class Emitted:
    """The C of a model, and what its numbers mean."""

    source: str
    layout: Layout
    start_count: int
    liveness_count: int
    notes: tuple[int, ...]  #: what each mark in a Context means, see Property
    put_sites: tuple[Put, ...]  #: the statement of each put site; see puts.py


def emit(system: System, symmetry: bool, coverage: bool = False, normalise: bool = True) -> Emitted:
    """Compiles a System to C. ``symmetry``: reduce states by the scalarsets; ``coverage``: count what Search.coverage
    gives; ``normalise`` false: leave states as the rules leave them, multisets unsorted."""
    allow_deep_nesting()
    unit = Unit(system, Layout(system))
    model = [
        *write_functions(unit),
        *write_start(unit),
        *write_rules(unit),
        *write_product(unit),
        *write_properties(unit),
    ]
    constants = _constants(unit, symmetry, model) | {"HAS_COVERAGE": int(coverage)}
    constants["HAS_NORMALISE"] *= normalise
    lines = [
        comment(f"The model {system.name}"),
        *(f"#define {name} {value}" for name, value in constants.items()),
        '#include "state.h"',
        '#include "expand.h"',
        *_clear_tables(unit),
        *model,
        "",
    ]
    if constants["HAS_NORMALISE"]:
        lines.append(emit_normalise(system, unit.layout, symmetry))
    return Emitted(
        source="\n".join(lines),
        layout=unit.layout,
        start_count=constants["START_COUNT"],
        liveness_count=constants["LIVENESS_COUNT"],
        notes=tuple(unit.notes),
        put_sites=tuple(unit.puts),
    )


def _constants(unit: Unit, symmetry: bool, model: list[str]) -> dict[str, int]:
    system, layout, of_kind = unit.system, unit.layout, unit.system.of_kind
    return {
        "STATE_BITS": layout.bits,
        "STATE_BYTES": layout.byte_count,
        "RULE_COUNT": len(system.rules),
        "START_COUNT": sum(start.instance_count for start in system.start_states),
        "COVER_COUNT": len(system.covers),
        "NOTE_COUNT": len(unit.notes),
        "LIVENESS_COUNT": sum(each.instance_count for each in of_kind(PropertyKind.LIVENESS)),
        "MAX_CALL_DEPTH": MAX_CALL_DEPTH,
        "HAS_ASSUMPTIONS": int(bool(of_kind(PropertyKind.ASSUMPTION))),
        "HAS_INVARIANTS": int(bool(of_kind(PropertyKind.INVARIANT))),
        "HAS_COVER_PROPERTIES": int(bool(of_kind(PropertyKind.COVER) or of_kind(PropertyKind.WITNESS))),
        "HAS_NORMALISE": int(needs_normalise(system, layout, symmetry)),
        "HAS_PUT": int(bool(unit.puts)),
        **_product_constants(system),
        "HAS_WIDE_INTEGERS": int(system.integers != INTEGER),
        "HAS_REALS": int(any("double" in line or "real" in line for line in model)),
        "WIDEST_BUFFER": unit.widest_buffer,
    }


def _product_constants(system: System) -> dict[str, int]:
    product = system.product
    if product is None:
        return {"HAS_AUTOMATON": 0}
    constants = {"HAS_AUTOMATON": 1, "AUTOMATON_STATES": len(product.automaton.states)}
    if product.fairness is not None:
        constants |= {"HAS_FAIRNESS": 1, "FAIRNESS_SETS": max(1, len(product.fairness.sets))}
        if product.counter is not None:
            constants["HAS_FAIRNESS_COUNTER"] = 1
        else:
            constants |= {"HAS_MOVERS": 1, "FAIRNESS_IS_STRONG": int(product.fairness.is_strong)}
    return constants


def _clear_tables(unit: Unit) -> list[str]:
    lines = []
    for kind, (name, packed) in unit.clear_tables.items():
        data = packed.to_bytes(-(-packed.bit_length() // 8), "little")
        lines += ["", comment(f"A cleared {kind}")]
        lines += braced(f"static const BUFFER({name}, {buffer_bytes(kind)}) =", [", ".join(map(str, data or b"\0"))])
        lines[-1] += ";"
    return lines
