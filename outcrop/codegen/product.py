"""The automaton of a product in C: its successors in a state, and the accepting states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from outcrop.codegen.code import Unit
from outcrop.codegen.functions import write_condition
from outcrop.codegen.text import braced, comment, integer
from outcrop.ir.automaton import Automaton, Product
from outcrop.ir.layout import encode, width
from outcrop.ir.nodes import Variable
from outcrop.ir.types import Simple


def write_product(unit: Unit) -> list[str]:
    """Returns the functions that product.h requires, and product.h itself; nothing for a plain model."""
    product = unit.system.product
    if product is None:
        return []
    return [
        "",
        comment(f"The automaton {product.automaton.name}"),
        *_write_targets(unit, product),
        "",
        *_write_accepting(unit, product),
        "",
        *_write_waiting(unit, product),
        "",
        *_write_enter(unit, product),
        "",
        '#include "product.h"',
    ]


def _leaf(unit: Unit, variable: Variable) -> tuple[str, Simple]:
    """Returns the position of a hidden variable, as get_bits and set_bits take it, and its type."""
    assert isinstance(variable.type, Simple)
    bit = unit.layout.variable_offsets[unit.system.variables.index(variable)]
    return f"{bit}, {width(variable.type)}", variable.type


def _packed(kind: Simple, value: int) -> str:
    return str(encode(kind, value))


def _write_targets(unit: Unit, product: Product) -> list[str]:
    """Returns ``model_targets``, which lists the next states of the automaton, once each; -FAILED if a guard fails."""
    automaton = product.automaton
    place, kind = _leaf(unit, product.location)
    lines: list[str] = []
    cases: list[str] = []
    written = 0
    for state in range(len(automaton.states)):
        body = []
        for target, guards in automaton.leaving(state).items():
            calls = []
            # Guards before an edge without a guard may fail.
            for guard in takewhile(lambda each: each is not None, guards):
                assert guard is not None
                name = f"edge_{written}"
                written += 1
                lines += write_condition(unit, name, automaton.parameters, [guard]).lines
                calls.append(_call(name, automaton))
            body += _write_target(calls, _packed(kind, target), None in guards)
        if body:
            cases += [*braced(f"case {_packed(kind, state)}:", [*body, "break;"])]
    function = [
        "uint32_t count = 0;",
        "(void)context, (void)targets;",
        *braced(f"switch (get_bits(state, {place}))", cases),
        "return (int)count;",
    ]
    signature = "static NOINLINE int model_targets(const uint8_t *state, Context *context, uint32_t *targets)"
    return [*lines, *braced(signature, function)]


def _call(name: str, automaton: Automaton) -> str:
    return f"{name}({', '.join(['state', 'context', *map(integer, automaton.arguments)])})"


def _write_target(calls: Sequence[str], packed: str, always: bool) -> list[str]:
    """Returns lines that add a target if one of the guards is true, in order, or ``always``, unless one of them
    fails."""
    keep = f"targets[count++] = {packed};"
    if not calls:
        return [keep]
    lines = [f"int holds = {calls[0]};"]
    lines += [f"if (!holds) holds = {call};" for call in calls[1:]]
    lines.append("if (unlikely(holds < 0)) return -FAILED;")
    return braced("", [*lines, keep if always else f"if (holds) {keep}"])


def _write_accepting(unit: Unit, product: Product) -> list[str]:
    """Returns ``model_accepting``, and ``automaton_accepts``, which tests the automaton alone."""
    place, kind = _leaf(unit, product.location)
    accepting = [f"at == {_packed(kind, each)}" for each in sorted(product.automaton.accepting)]
    alone = [f"const uint64_t at = get_bits(state, {place});", "(void)at;", f"return {' || '.join(accepting) or '0'};"]
    whole = "automaton_accepts(state)"
    if product.counter is not None:
        counter, counts = _leaf(unit, product.counter)
        whole += f" && get_bits(state, {counter}) == {_packed(counts, 0)}"
    return [
        *braced("static inline int automaton_accepts(const uint8_t *state)", alone),
        "",
        *braced("static UNUSED int model_accepting(const uint8_t *state)", [f"return {whole};"]),
    ]


def _write_waiting(unit: Unit, product: Product) -> list[str]:
    """Returns ``model_waiting``: the fairness set that a step from a state may satisfy, counted from 1; 0 for none."""
    if product.counter is None:
        return []
    place, kind = _leaf(unit, product.counter)
    body = [
        f"const uint32_t counter = (uint32_t)get_bits(state, {place}) - {_packed(kind, 0)};",
        "return counter ? counter : (uint32_t)automaton_accepts(state);",
    ]
    return braced("static inline uint32_t model_waiting(const uint8_t *state)", body)


def _write_enter(unit: Unit, product: Product) -> list[str]:
    """Returns ``model_enter``, which sets the hidden variables of a successor."""
    place, _ = _leaf(unit, product.location)
    body = [f"set_bits(state, {place}, target);"]
    if product.counter is None:
        body.append("(void)counter;")
    else:
        counter, kind = _leaf(unit, product.counter)
        body.append(f"set_bits(state, {counter}, counter + {_packed(kind, 0)});")
    return braced("static inline void model_enter(uint8_t *state, uint32_t target, uint32_t counter)", body)
