"""The identity of a search: everything that must be the same to resume from its checkpoint."""

from __future__ import annotations

import hashlib
from typing import Any

from outcrop.codegen.compiler import NATIVE
from outcrop.codegen.symmetry import emit_normalise
from outcrop.declared import flag_of
from outcrop.ir.layout import Layout, leaf_offsets, width
from outcrop.ir.system import System
from outcrop.options import CheckOptions, LoadOptions

#: Files that the representative of a state depends on, in addition to the generated code.
_CANONICAL = ("canon.h", "normal.h")
#: The file that chooses, by the tables in the generated code, what a state fires under partial-order reduction.
_CHOICE = "stubborn.h"


def identity(system: System, load: LoadOptions, options: CheckOptions, relations: str = "") -> dict[str, Any]:
    """Returns the identity, by names that users read when something differs. Values of 64 digits are digests.
    ``relations``: the tables of partial-order reduction. A state that waits for another order of steps waits for ever
    if the states before and after a checkpoint fire what different tables choose."""
    layout = Layout(system)
    symmetry = options.symmetry and system.allows_symmetry and bool(system.scalarsets)
    places = [
        (variable.name, leaf_offsets(variable.type, start))
        for variable, start in zip(system.variables, layout.variable_offsets, strict=True)
    ]
    values = [(width(leaf), getattr(leaf, "low", None)) for leaf in system.leaf_types]
    canonical = [emit_normalise(system, layout, symmetry), *((NATIVE / name).read_text() for name in _CANONICAL)]
    return {
        "the text of the model": _digest(system.source.text),
        "an included file": _digest([each.text for each in system.included]) if system.included else None,
        "constant": {name: str(value) for name, value in system.constants.items()},
        **{flag_of(name): _shown(value) for name, (value, _) in load.language_options().items()},
        "--invariant": "; ".join(each.text for each in load.invariants) or None,
        "--deadlock": str(options.deadlock),
        "--symmetry": "on" if symmetry else "off",
        "--property": _skipped(system, options),
        "--reduce": str(options.reduce),
        "the relation between rules": _digest((relations, (NATIVE / _CHOICE).read_text())) if relations else None,
        "the representative of states": _digest(canonical) if symmetry else None,
        "the packing of states": _digest((places, values)),
    }


def _skipped(system: System, options: CheckOptions) -> str | None:
    """Returns what the search does not check, if anything. For states that are kept it does not matter."""
    return ", ".join(f"!{name}" for name in system.skipped) or None if options.keep_states is None else None


def _shown(value: object) -> object:
    """Returns the value of an option as on the command line: 0 if there is no limit, or none was given."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if isinstance(value, str) else value or 0


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
