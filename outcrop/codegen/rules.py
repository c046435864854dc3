"""Rules in C: guards, bodies, and ``model_expand``, which fires all instances that a state enables.

Rules whose parameters begin with the same values share the loops over them, so that the C compiler loads values once
that several guards read. The conjuncts of a guard are evaluated at the outermost loop where their parameters are known.
That never changes the errors of a state: a conjunct may overtake another one only if that cannot fail. If an overtaking
conjunct fails itself, the whole guard is evaluated again in order, in the innermost loop.

The rules form groups, one function each. The groups of a large model are compiled as several units at the same time:
groups are never inlined, so that the code is the same. native/state.h has the macros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from outcrop.codegen.blocks import write_bodies
from outcrop.codegen.code import Unit
from outcrop.codegen.dispatch import Test, leading_tests, write_dispatch
from outcrop.codegen.functions import write_condition
from outcrop.codegen.movers import name_instance, name_movers
from outcrop.codegen.text import braced, comment, identifier, integer
from outcrop.ir.nodes import Call, Constant, Cover, Expression, LocalPlace, Put
from outcrop.ir.system import Function, Rule
from outcrop.ir.walk import conjuncts, walk

#: Largest number of rules in a function, since compile time grows faster than the length of a function.
RULES_PER_FUNCTION = 128

#: Longest text of rules that is compiled as one unit with the kernels, in characters: about two seconds.
MOST_IN_ONE_UNIT = 400_000

#: The compiler knows that a copy does not change, so that values loaded by guards stay known across firings.
_COPIED = ["PRIVATE_STATE(state, original);"]
#: With many functions, each would make its own copy.
_NOT_COPIED = ["const uint8_t *const state = original;"]


#: Lines for the firing of a rule inside the loops down to a level.
WriteFiring = Callable[["RuleCode", int], list[str]]


@dataclass
class RuleCode:
    """A rule in ``model_expand``: the functions to call at each loop level."""

    number: int
    rule: Rule
    name: str
    tests: list[Test] = field(default_factory=list)  #: tests at the beginning of the guard, which a switch decides
    guards: dict[int, str] = field(default_factory=dict)  #: level -> condition
    whole_guard: str | None = None  #: the guard in order, if the levels are not in order
    guard_can_fail: bool = False
    has_error_state: bool = False
    on_firing: list[str] = field(
        default_factory=list
    )  #: lines that name the fairness sets, or the instance, of a firing
    conditions: dict[str, list[str]] = field(default_factory=dict)  #: functions for its guards, by name
    functions: list[str] = field(default_factory=list)  #: its guards and its body

    def guard_variable(self, level: int) -> str:
        return f"enabled_{self.number}_{level}"

    def last_guard(self, level: int) -> str | None:
        """Returns the variable with the value of the guard inside the loops down to ``level``."""
        levels = [each for each in self.guards if each <= level]
        return self.guard_variable(max(levels)) if levels else None


def write_rules(unit: Unit) -> list[RuleCode]:
    """Returns the guards and bodies of all rules, and what ``model_expand`` calls of each."""
    codes: list[RuleCode] = []
    for number, rule in enumerate(unit.system.rules):
        if rule.instance_count:
            code = RuleCode(number, rule, identifier("rule", number, rule.name))
            code.has_error_state = unit.system.error_state is not None
            code.functions = ["", comment(f"Rule {rule.name}, line {rule.span.line}")]
            _write_guard(unit, code)
            code.on_firing = name_movers(unit.system, number)
            code.on_firing += name_instance(unit.system, number) if unit.instances else []
            codes.append(code)
    _share_guards(unit, codes)
    bodies = write_bodies(unit, [(f"{code.name}_body", code.rule) for code in codes])
    for code, body in zip(codes, bodies, strict=True):
        code.functions += [line for lines in code.conditions.values() for line in lines] + body
    return codes


def functions_of(codes: list[RuleCode]) -> list[str]:
    """Returns the guards and bodies of rules."""
    return [line for code in codes for line in code.functions]


# --- Guards ------------------------------------------------------------------------------------------------


def is_observable(unit: Unit, node: Expression) -> bool:
    """Returns whether a call in it counts, prints, or writes to the state, so that every evaluation is visible."""
    shown = (Cover, Put) if unit.prints else (Cover,)
    pending: list[object] = [node]
    called: set[Function] = set()
    while pending:
        for each in walk(pending.pop()):
            if isinstance(each, shown) or (isinstance(each, Call) and each.function.writes_state):
                return True
            if isinstance(each, Call) and each.function not in called:
                called.add(each.function)
                pending.append(each.function.body)
    return False


def _write_guard(unit: Unit, code: RuleCode) -> None:
    rule = code.rule
    if rule.guard is None or (isinstance(rule.guard, Constant) and rule.guard.value):
        return
    depth = len(rule.parameters)
    parts = [rule.guard] if is_observable(unit, rule.guard) else list(conjuncts(rule.guard))
    if not rule.parameters:
        code.tests = leading_tests(unit, parts)
        parts = parts[len(code.tests) :]
    if not parts:
        return
    levels = _levels(unit, rule, parts)
    for level in sorted(set(levels)):
        name = f"{code.name}_guard" if len(set(levels)) == 1 else f"{code.name}_guard_{level}"
        chosen = [part for part, at in zip(parts, levels, strict=True) if at == level]
        written = write_condition(unit, name, rule.parameters[:level], chosen)
        code.conditions[name] = written.lines
        code.guard_can_fail |= written.can_fail
        code.guards[level] = name
    if levels != sorted(levels):
        name = code.whole_guard = f"{code.name}_whole_guard"
        code.conditions[name] = write_condition(unit, name, rule.parameters[:depth], parts).lines


def _share_guards(unit: Unit, codes: list[RuleCode]) -> None:
    """Makes one function of guards with the same text, unless each evaluation is visible."""
    users: dict[tuple[str, ...], list[tuple[RuleCode, int]]] = {}
    for code in codes:
        if code.rule.guard is not None and not is_observable(unit, code.rule.guard):
            for level, name in code.guards.items():
                head, *lines = code.conditions[name]
                users.setdefault((head.replace(f" {name}(", " guard(", 1), *lines), []).append((code, level))
    for some in users.values():
        (first, level), *others = some
        shared = first.guards[level]
        if others:
            unit.shared[shared] = first.conditions[shared]
        for code, level in some if others else ():
            del code.conditions[code.guards[level]]
            code.guards[level] = shared


def _levels(unit: Unit, rule: Rule, parts: list[Expression]) -> list[int]:
    """Returns the loop level at which each conjunct is evaluated."""
    depth = len(rule.parameters)
    if not depth or (len(parts) == 1 and is_observable(unit, parts[0])):
        return [depth] * len(parts)
    positions = {parameter.local: number + 1 for number, parameter in enumerate(rule.parameters)}
    levels: list[int] = []
    in_order = 0  # least level of a conjunct that must not overtake any other
    unfailing = 0  # least level of a conjunct that may overtake those that cannot fail
    for part in parts:
        used = [positions.get(each.local, 0) for each in walk(part) if isinstance(each, LocalPlace)]
        written = write_condition(unit, "trial", rule.parameters, [part])
        level = max([*used, in_order if written.has_effects else unfailing])
        levels.append(level)
        in_order = max(in_order, level)
        if written.can_fail or written.has_effects:
            unfailing = max(unfailing, level)
    return levels


# --- Loops -------------------------------------------------------------------------------------------------


@dataclass
class Level:
    """The rules and inner loops of one loop."""

    rules: list[RuleCode] = field(default_factory=list)
    inner: dict[range, Level] = field(default_factory=dict)

    def insert(self, code: RuleCode, depth: int = 0) -> None:
        parameters = code.rule.parameters
        if depth == len(parameters):
            self.rules.append(code)
        else:
            self.inner.setdefault(parameters[depth].values, Level()).insert(code, depth + 1)

    def all_rules(self) -> Iterator[RuleCode]:
        yield from self.rules
        for level in self.inner.values():
            yield from level.all_rules()


def loop_head(name: str, values: range) -> str:
    """Returns the head of a loop over a non-empty range."""
    comparison = "<=" if values.step > 0 else ">="
    step = f"{name}++" if values.step == 1 else f"{name} += {integer(values.step)}"
    return f"for (Integer {name} = {integer(values[0])}; {name} {comparison} {integer(values[-1])}; {step})"


def expand_signature(unit: Unit) -> str:
    name = "model_expand" if unit.system.product is None else "model_moves"
    return f"static UNUSED int {name}(const uint8_t *state, Expansion *expansion)"


@dataclass
class Group:
    """A function that evaluates the guards of some rules."""

    codes: list[RuleCode]
    head: str  #: its signature
    body: list[str]

    @property
    def lines(self) -> list[str]:
        return ["", *braced(self.head, self.body)]


@dataclass
class Expand:
    """``model_expand`` and all rules. ``groups``: how many of the groups can be compiled apart, 0 if none.
    ``relations``: the tables of partial-order reduction; empty without it."""

    rules: list[str]
    function: list[str]
    groups: int = 0
    relations: str = ""


def write_expand(unit: Unit, codes: list[RuleCode]) -> Expand:
    """Returns ``model_expand``."""
    has_priorities = len({code.rule.priority for code in codes}) > 1
    groups, calls = write_groups(codes, "expand", "", lambda code, depth: _write_firing(code, depth, has_priorities))
    body = ["int enabled = 0;", *calls, "(void)state, (void)expansion, (void)enabled;", "return OK;"]
    title = comment("Fires every rule instance that the state enables.")
    function = ["", title, *braced(expand_signature(unit), body)]
    rules = functions_of(codes)
    if sum(map(len, rules)) <= MOST_IN_ONE_UNIT:
        return Expand([*rules, *(line for group in groups for line in group.lines)], function)
    apart = [line for number, group in enumerate(groups) for line in _write_apart(number, group)]
    return Expand(apart, function, len(groups))


def _write_apart(number: int, group: Group) -> list[str]:
    """Returns a group with its rules for the unit that has it, and its declaration for the others."""
    lines = [*functions_of(group.codes), *group.lines]
    return ["", f"#if HAS_GROUP({number})", *lines, "#else", f"{group.head};", "#endif"]


def write_groups(codes: list[RuleCode], prefix: str, more: str, write: WriteFiring) -> tuple[list[Group], list[str]]:
    """Returns functions that evaluate the guards of some rules each, and the lines that call them, in the order of
    priorities. ``more``: a further parameter of these functions, with its type; its name is also the argument."""
    by_priority = sorted(codes, key=lambda code: code.rule.priority)
    levels = [list(level) for _, level in groupby(by_priority, key=lambda code: code.rule.priority)]
    argument = f", {more.split('*')[-1]}" if more else ""
    copy = _COPIED if len(codes) <= RULES_PER_FUNCTION else _NOT_COPIED
    groups: list[Group] = []
    calls: list[str] = []
    for level in levels:
        if level is not levels[0]:
            calls.append("if (!enabled) {")
        for start in range(0, len(level), RULES_PER_FUNCTION):
            name = f"{prefix}_from_{level[start].number}"
            groups.append(_write_group(name, copy, level[start : start + RULES_PER_FUNCTION], more, write))
            calls.append(f"enabled |= {name}(state, expansion{argument});")
    return groups, [*calls, *["}"] * (len(levels) - 1)]


def _write_group(name: str, copy: list[str], codes: list[RuleCode], more: str, write: WriteFiring) -> Group:
    """Returns a function for the instances of some rules. It returns whether any is enabled, if that matters."""
    root = Level()
    for code in codes:
        if not code.tests:
            root.insert(code)
    body = [
        *copy,
        "Context *const context = expansion->context;",
        "(void)state, (void)context;",
        "int enabled = 0;",
        *_write_level(root, 0, write),
        *write_dispatch(
            [(code, code.tests) for code in codes if code.tests],
            lambda codes: _write_rules(codes, 0, write),
        ),
        "return enabled;",
    ]
    parameters = "const uint8_t *original, Expansion *expansion" + (f", {more}" if more else "")
    return Group(codes, f"ACROSS_UNITS int {name}({parameters})", body)


def _write_level(level: Level, depth: int, write: WriteFiring) -> list[str]:
    lines = _write_rules(level.rules, depth, write)
    for values, inner in level.inner.items():
        rules = list(inner.all_rules())
        for code in rules:
            lines += _write_guard_call(code, depth, {})
        loop = braced(loop_head(f"p{depth}", values), _write_level(inner, depth + 1, write))
        known = [code.last_guard(depth) for code in rules]
        if all(known):
            loop = braced(f"if ({' | '.join(each for each in known if each)})", loop)
        lines += loop
    return lines


def _write_rules(codes: list[RuleCode], depth: int, write: WriteFiring) -> list[str]:
    """Returns the lines for rules one after the other. A guard that several share is evaluated once."""
    lines: list[str] = []
    known: dict[str, str] = {}
    for code in codes:
        lines += _write_guard_call(code, depth, known)
        lines += write(code, depth)
    return lines


def _write_guard_call(code: RuleCode, level: int, known: dict[str, str]) -> list[str]:
    """Returns the line that evaluates a part of a guard. ``known``: variables with the values of some parts."""
    if level not in code.guards:
        return []
    call = f"{code.guards[level]}({arguments_of('state', level)})"
    before = code.last_guard(level - 1)
    value = call if before is None else f"{before} == 1 ? {call} : {before}"
    variable = code.guard_variable(level)
    line = f"const int {variable} = {known.get(value, value)};"
    known.setdefault(value, variable)
    return [line]


def arguments_of(state: str, level: int) -> str:
    return ", ".join([state, "context", *(f"p{number}" for number in range(level))])


def _write_firing(code: RuleCode, depth: int, has_priorities: bool) -> list[str]:
    fire = ["enabled = 1;"] if has_priorities else []
    fire += write_successor(code, f"{code.name}_body({arguments_of('next', depth)})")
    return write_outcomes(code, depth, fire, [])


def write_outcomes(code: RuleCode, depth: int, fire: list[str], fail: list[str]) -> list[str]:
    """Returns lines for a guard that is true, and for one that fails, where ``fail`` comes on top of what is always
    done."""
    guard = code.last_guard(depth)
    if guard is None:
        return braced("", fire)
    lines = braced(f"if ({guard} == 1)", fire)
    if not code.guard_can_fail:
        return lines
    failure = f"unlikely({guard} < 0)"
    if code.whole_guard is not None:
        failure += f" && {code.whole_guard}({arguments_of('state', depth)}) < 0"
    failed = [f"expansion_failed(expansion, original, {code.number});"]
    if code.has_error_state:
        failed = write_successor(code, "FAILED")
    other = braced(f"else if ({failure})", [*fail, *failed])
    return [*lines[:-1], f"{lines[-1]} {other[0]}", *other[1:]]


def write_successor(code: RuleCode, status: str) -> list[str]:
    return [
        *code.on_firing,
        "uint8_t *next = successor_begin(expansion, original);",
        f"successor_end(expansion, original, {code.number}, "
        + (f"settled(expansion, next, {status}));" if code.has_error_state else f"{status});"),
    ]
