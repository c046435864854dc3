"""Translation of a System to C: the translation unit of a model, without the kernels that are compiled with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from outcrop.codegen.code import Unit, buffer_bytes
from outcrop.codegen.features import Feature, definitions
from outcrop.codegen.functions import write_functions
from outcrop.codegen.product import write_product
from outcrop.codegen.properties import write_properties, write_start
from outcrop.codegen.rules import write_expand, write_rules
from outcrop.codegen.symmetry import emit_normalise, needs_normalise
from outcrop.codegen.text import braced, comment
from outcrop.garbage import uncollected
from outcrop.ir.faults import MAX_CALL_DEPTH, allow_deep_nesting
from outcrop.ir.layout import Layout
from outcrop.ir.nodes import Put
from outcrop.ir.system import PropertyKind, System
from outcrop.ir.types import INTEGER

if TYPE_CHECKING:
    from outcrop.reduction.stubborn import Reduction


@dataclass(frozen=True)
class Emitted:
    """The C of a model, and the meaning of its numbers."""

    source: str
    groups: int  #: groups of rules that can be compiled as separate units, 0 if none
    features: frozenset[Feature]  #: features that the model needs of the kernels
    layout: Layout
    start_count: int
    liveness_count: int
    notes: tuple[int, ...]  #: the meaning of each mark in a Context; see Property
    put_sites: tuple[Put, ...]  #: the statement of each put site; see puts.py
    relations: str = ""  #: the tables of partial-order reduction; empty without it


@uncollected()
def emit(
    system: System,
    symmetry: bool,
    coverage: bool = False,
    normalise: bool = True,
    prints: bool = False,
    instances: bool = False,
    reduction: Reduction | None = None,
) -> Emitted:
    """Compiles a System to C. ``symmetry``: reduce states by the scalarsets. ``coverage``: count what Search.coverage
    returns. ``normalise`` false: leave states as the rules make them, multisets unsorted. ``prints``: record the output
    of ``put`` statements. ``instances``: each successor names the rule instance that made it. ``reduction``: fire only
    what it chooses."""
    allow_deep_nesting()
    unit = Unit(system, Layout(system), prints=prints, instances=instances)
    functions, starts = write_functions(unit), write_start(unit)
    codes = write_rules(unit)
    if reduction is None:
        expand, own = write_expand(unit, codes), {}
    else:
        from outcrop.codegen.reduced import reduction_constants, write_reduced  # few checks reduce

        expand, own = write_reduced(unit, codes, reduction), reduction_constants(system, reduction)
    main = [*expand.function, *write_product(unit), *write_properties(unit)]
    normalise = normalise and needs_normalise(system, unit.layout, symmetry)
    if normalise:
        main += ["", emit_normalise(system, unit.layout, symmetry)]
    if expand.groups:
        main = ["", "#if IS_MAIN_UNIT", *main, "#endif"]
    features = _features(unit, normalise=normalise, coverage=coverage)
    constants = _constants(unit) | definitions(features) | own
    lines = [
        comment(f"The model {PurePath(system.name).name}"),  # no directory: a copy elsewhere is compiled already
        *(f"#define {name} {value}" for name, value in constants.items()),
        '#include "state.h"',
        '#include "expand.h"',
        *_clear_tables(unit),
        *_shared_declarations(unit),
        *functions,
        *starts,
        *expand.rules,
        *main,
        *(line for function in unit.shared.values() for line in ("", *function)),
        "",
    ]
    return Emitted(
        source="\n".join(lines),
        groups=expand.groups,
        features=features,
        layout=unit.layout,
        start_count=constants["START_COUNT"],
        liveness_count=constants["LIVENESS_COUNT"],
        notes=tuple(unit.notes),
        put_sites=tuple(unit.puts),
        relations=expand.relations,
    )


def _features(unit: Unit, *, normalise: bool, coverage: bool) -> frozenset[Feature]:
    """Returns the features that a unit needs, after all of its functions are written."""
    system, of_kind, product = unit.system, unit.system.of_kind, unit.system.product
    fairness = None if product is None else product.fairness
    has_counter = product is not None and product.counter is not None
    needs = {
        Feature.ASSUMPTIONS: of_kind(PropertyKind.ASSUMPTION),
        Feature.INVARIANTS: of_kind(PropertyKind.INVARIANT),
        Feature.COVER_PROPERTIES: of_kind(PropertyKind.COVER) or of_kind(PropertyKind.WITNESS),
        Feature.LIVENESS: _liveness_count(system),
        Feature.ENDS: of_kind(PropertyKind.END),
        Feature.NORMALISE: normalise,
        Feature.PRINTING: unit.puts,
        Feature.COVERAGE: coverage,
        Feature.REALS: unit.has_reals,
        Feature.WIDE_INTEGERS: system.integers != INTEGER,
        Feature.AUTOMATON: product,
        Feature.FAIRNESS: fairness,
        Feature.FAIRNESS_COUNTER: fairness and has_counter,
        Feature.INSTANCES: unit.instances,
        Feature.MOVERS: fairness and not has_counter,
    }
    return frozenset(feature for feature, needed in needs.items() if needed)


def _liveness_count(system: System) -> int:
    return sum(each.instance_count for each in system.of_kind(PropertyKind.LIVENESS))


def _constants(unit: Unit) -> dict[str, int]:
    system, layout = unit.system, unit.layout
    return {
        "STATE_BITS": layout.bits,
        "STATE_BYTES": layout.byte_count,
        "RULE_COUNT": len(system.rules),
        "START_COUNT": sum(start.instance_count for start in system.start_states),
        "COVER_COUNT": len(system.covers),
        "NOTE_COUNT": len(unit.notes),
        "LIVENESS_COUNT": _liveness_count(system),
        "MAX_CALL_DEPTH": MAX_CALL_DEPTH,
        **_product_constants(system),
        "WIDEST_BUFFER": unit.widest_buffer,
    }


def _product_constants(system: System) -> dict[str, int]:
    product = system.product
    if product is None:
        return {}
    constants = {"AUTOMATON_STATES": len(product.automaton.states)}
    if product.fairness is not None:
        constants["FAIRNESS_SETS"] = max(1, len(product.fairness.sets))
        if product.counter is None:
            constants["FAIRNESS_IS_STRONG"] = int(product.fairness.is_strong)
    return constants


def _shared_declarations(unit: Unit) -> list[str]:
    """Returns declarations, since shared functions and functions of the model may call each other."""
    return [f"{lines[0].removesuffix(' {')};" for lines in unit.shared.values()]


def _clear_tables(unit: Unit) -> list[str]:
    lines = []
    for kind, (name, packed) in unit.clear_tables.items():
        data = packed.to_bytes(-(-packed.bit_length() // 8), "little")
        lines += ["", comment(f"A cleared {kind}")]
        lines += braced(f"static const BUFFER({name}, {buffer_bytes(kind)}) =", [", ".join(map(str, data or b"\0"))])
        lines[-1] += ";"
    return lines
