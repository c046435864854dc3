"""Goals of a test suite: what the runs must show, as keys of transitions.

A transition has a few keys, each a number in a column; -1 means no goal. Equal keys are the same goal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import UsageError
from outcrop.ir.layout import Layout, decode
from outcrop.ir.names import state_leaf_names
from outcrop.ir.system import Rule, System, has_symmetry
from outcrop.kernels.states import States

Keys = NDArray[np.int64]
Instance = tuple[Rule, tuple[int, ...]]

#: Most bits of a leaf whose values are covered.
_WIDEST = 20


@dataclass
class Goals:
    """The goals of one suite. ``columns`` gives the keys of transitions: states before, instances, states after."""

    columns: Callable[[States, NDArray[np.uint32], States], list[Keys]]
    name: Callable[[int, int], str]  #: names a goal: its column and key
    all_keys: set[tuple[int, int]] | None  #: every goal, if that is known before the search


def goals_of(system: System, cover: str) -> Goals:
    """Returns the goals that ``--cover`` names: rules, instances, values:VARIABLE, edges or edges:VARIABLE."""
    what, _, names = cover.partition(":")
    instances = [(rule, arguments) for rule in system.rules for arguments in rule.instances()]
    variables = [each.strip() for each in names.split(",") if each.strip()]
    if what == "rules" and not names:
        numbers = [number for number, rule in enumerate(system.rules) for _ in rule.instances()]
        return _by_instance(numbers, lambda key: system.rules[key].name)
    if what == "instances" and not names:
        return _instances(instances)
    if what == "values" and variables:
        return _values(system, variables)
    if what == "edges":
        return _edges(system, variables)
    raise UsageError(
        f"--cover cannot be '{cover}'; choose rules, instances, values:VARIABLE, edges or edges:VARIABLE,VARIABLE"
    )


def _by_instance(numbers: list[int], name: Callable[[int], str]) -> Goals:
    """Returns goals that depend on the rule instance alone."""
    table = np.array([*numbers, -1], dtype=np.int64)
    return Goals(
        lambda before, instances, after: [table[instances]], lambda _, key: name(key), {(0, each) for each in numbers}
    )


def _instances(instances: list[Instance]) -> Goals:
    """Returns a goal for each instance of each rule, up to a renaming of scalarset values."""
    numbers: dict[Hashable, int] = {}
    labels: list[str] = []
    of_instance = []
    for rule, arguments in instances:
        pattern: list[Hashable] = []
        seen: dict[str, list[int]] = {}
        for parameter, value in zip(rule.parameters, arguments, strict=True):
            if has_symmetry(parameter.type):
                known = seen.setdefault(str(parameter.type), [])
                known += [] if value in known else [value]
                pattern.append(("same", known.index(value)))
            else:
                pattern.append(value)
        key = (id(rule), *pattern)
        if key not in numbers:
            numbers[key] = len(numbers)
            labels.append(rule.label(arguments))
        of_instance.append(numbers[key])
    return _by_instance(of_instance, lambda key: labels[key])


def _leaves(system: System, variables: list[str]) -> list[int]:
    """Returns the leaves of variables, or of parts of them, by their names."""
    names = state_leaf_names(system)
    found: list[int] = []
    for variable in variables:
        leaves = [
            at for at, name in enumerate(names) if name == variable or name.startswith((f"{variable}[", f"{variable}."))
        ]
        if not leaves:
            close = get_close_matches(variable, [each.name for each in system.variables], n=1)
            hint = f"; did you mean '{close[0]}'?" if close else "; 'outcrop show' lists the variables"
            raise UsageError(f"the model has no variable '{variable}'{hint}")
        found += leaves
    return found


def _leaf_values(rows: States, bit: int, width: int) -> Keys:
    """Returns the packed value of a leaf in each row."""
    first, end = bit // 8, -(-(bit + width) // 8)
    value = np.zeros(len(rows), dtype=np.int64)
    for at in range(first, end):
        value |= rows[:, at].astype(np.int64) << 8 * (at - first)
    return value >> bit % 8 & (1 << width) - 1


def _values(system: System, variables: list[str]) -> Goals:
    """Returns a goal for each change of a value: its leaf, the value before and the value after."""
    leaves, layout, names = _leaves(system, variables), Layout(system).leaves, state_leaf_names(system)
    wide = [names[at] for at in leaves if layout[at][1] > _WIDEST]
    if wide:
        raise UsageError(f"'{wide[0]}' has too many values to cover; choose other variables")

    def columns(before: States, instances: NDArray[np.uint32], after: States) -> list[Keys]:
        found = []
        for at in leaves:
            bit, width, _ = layout[at]
            old, new = _leaf_values(before, bit, width), _leaf_values(after, bit, width)
            found.append(np.where(old == new, -1, old << width | new))
        return found

    def name(column: int, key: int) -> str:
        _, width, kind = layout[leaves[column]]
        old, new = (kind.show(decode(kind, each)) for each in (key >> width, key & (1 << width) - 1))
        return f"{names[leaves[column]]}: {old} -> {new}"

    return Goals(columns, name, None)


@dataclass
class _Quotient:
    """Numbers of the edges of a quotient."""

    classes: dict[bytes, int] = field(default_factory=dict)
    edges: dict[tuple[int, int, int], int] = field(default_factory=dict)


def _edges(system: System, variables: list[str]) -> Goals:
    """Returns a goal for each edge, with its rule, of the quotient by some variables; by all without any."""
    layout = Layout(system)
    mask = 0
    for at in _leaves(system, variables) if variables else range(system.leaf_count):
        bit, width, _ = layout.leaves[at]
        mask |= (1 << width) - 1 << bit
    row = np.frombuffer(mask.to_bytes(layout.byte_count, "little"), dtype=np.uint8)
    numbers = np.array([at for at, rule in enumerate(system.rules) for _ in rule.instances()], dtype=np.int64)
    quotient = _Quotient()

    def classes(rows: States) -> list[int]:
        known = quotient.classes
        return [known.setdefault(each.tobytes(), len(known)) for each in rows & row]

    def columns(before: States, instances: NDArray[np.uint32], after: States) -> list[Keys]:
        rows = zip(classes(before), numbers[instances].tolist(), classes(after), strict=True)
        known = quotient.edges
        return [np.array([known.setdefault(edge, len(known)) for edge in rows], dtype=np.int64)]

    def name(_: int, key: int) -> str:
        source, rule, target = list(quotient.edges)[key]
        return f"{system.rules[rule].name}, from class {source} to class {target}"

    return Goals(columns, name, None)
