"""Statements: the bodies of rules, procedures and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from generator.expressions import ExpressionGenerator
from generator.kinds import Array, Boolean, Enumeration, Kind, Multiset, Range, Scalarset, contains
from generator.scope import Name, Path, Scope

_INDENT = "  "


def indent(text: str) -> str:
    return "\n".join(_INDENT + line for line in text.split("\n"))


class StatementGenerator(ExpressionGenerator):
    def block(self, scope: Scope, depth: int = 2, most: int = 3) -> str:
        return "\n".join(self.statement(scope, depth) for _ in range(self.random.randint(1, most)))

    def statement(self, scope: Scope, depth: int) -> str:
        simple: list[Callable[[Scope], str]] = [self._assign] * 16
        simple += [self._clear, self._call_procedure, self._multiset_add, self._check] * 2 + [self._undefine, self._put]
        if depth <= 0 or self.chance(0.6):
            return self.random.choice(simple)(scope)
        nested: list[Callable[[Scope, int], str]] = [
            self._if,
            self._if,
            self._switch,
            self._for,
            self._for_each_node,
            self._while,
            self._alias,
            self._remove_if,
        ]
        return self.random.choice(nested)(scope, depth)

    # --- Simple statements ---------------------------------------------------------------------------------

    def writable(self, scope: Scope, accept: Callable[[Kind], bool]) -> list[Path]:
        return [
            path
            for path in scope.paths()
            if path.is_writable and accept(path.kind) and all(self.can_make(scope, index) for index in path.indices)
        ]

    def _assign(self, scope: Scope) -> str:
        targets = self.writable(scope, lambda kind: kind.is_simple or self.chance(0.2))
        targets = [path for path in targets if self.can_make(scope, path.kind)]
        if self.chance(0.7):
            targets = [path for path in targets if is_state_variable(root(path.pieces[0]))] or targets
        if not targets:
            return self._put(scope)
        path = self.random.choice(targets)
        target = self.fill(scope, path)
        if path.kind.is_simple and self.chance(0.02):
            return f"{target} := undefined;"
        if isinstance(path.kind, Range) and self.chance(0.15):
            # It may leave the range in some states.
            return f"{target} := {target} {self.random.choice('+-')} 1;"
        return f"{target} := {self.expression(scope, path.kind)};"

    def step(self, scope: Scope) -> str:
        """Returns a statement that changes a part of the state, so that there are successors."""
        targets = self.writable(scope, lambda kind: kind.is_simple and self.can_make(scope, kind, safe=True))
        targets = [path for path in targets if is_state_variable(root(path.pieces[0]))]
        if not targets:
            return self._assign(scope)
        path = self.random.choice(targets)
        target = self.fill(scope, path, safe=all(self.can_make(scope, index, safe=True) for index in path.indices))
        if isinstance(path.kind, Boolean):
            return f"{target} := !{target};"
        if isinstance(path.kind, Range):
            return f"{target} := {self.in_range(f'{target} + 1', path.kind)};"
        if isinstance(path.kind, Enumeration):
            first, last = path.kind.members[0], path.kind.members[-1]
            return f"{target} := ({target} = {first} ? {last} : {first});"
        return f"{target} := {self.atom(scope, path.kind, safe=True)};"

    def _undefine(self, scope: Scope) -> str:
        targets = self.writable(scope, lambda kind: True)
        return f"undefine {self.fill(scope, self.random.choice(targets))};" if targets else self._put(scope)

    def _clear(self, scope: Scope) -> str:
        targets = self.writable(scope, lambda kind: not contains(kind, Scalarset) and not kind.is_symmetric)
        return f"clear {self.fill(scope, self.random.choice(targets))};" if targets else self._put(scope)

    def _call_procedure(self, scope: Scope) -> str:
        """Returns a call of a procedure, or of a function whose value is dropped."""
        fitting = [
            each
            for each in scope.callables
            if all(
                self.places(scope, kind, writable=True) if is_var else self.can_make(scope, kind)
                for is_var, kind in each.formals
            )
        ]
        if not fitting:
            return self._assign(scope)
        called = self.random.choice(fitting)
        arguments = [
            self.place(scope, kind, writable=True) if is_var else self.expression(scope, kind, 1)
            for is_var, kind in called.formals
        ]
        return f"{called.name}({', '.join(map(str, arguments))});"

    def _multiset_add(self, scope: Scope) -> str:
        bags = self.writable(scope, lambda kind: isinstance(kind, Multiset))
        if not bags:
            return self._assign(scope)
        path = self.random.choice(bags)
        assert isinstance(path.kind, Multiset)
        element = self.place(scope, path.kind.element)
        if element is None:
            return self._assign(scope)
        bag = self.fill(scope, path)
        add = f"multisetadd({element}, {bag});"
        if path.indices or self.chance(0.1):
            return add  # the multiset may be full
        count = f"multisetcount({scope.fresh('m')}: {bag}, true)"
        return f"if {count} < {path.kind.capacity} then\n{indent(add)}\nend;"

    def _check(self, scope: Scope) -> str:
        condition = self.condition(scope)
        choice = self.random.randint(0, 9)
        if choice == 0:
            return f'if {condition} then error "text"; end;'
        if choice <= 3:
            return f'cover {condition} "sometimes";'
        if choice <= 5 and scope.can_abandon:
            return f"assume {condition};"
        if choice == 6 and scope.can_abandon:
            value = f" {self.expression(scope, scope.result)}" if scope.result else ""
            return f"if {condition} then return{value}; end;"
        return f'assert ({condition} | {self.condition(scope)} | true) "never fails, though it may not be evaluable";'

    def _put(self, scope: Scope) -> str:
        paths = [path for path in scope.paths() if not path.indices]
        if paths and self.chance(0.5):
            return f"put {self.fill(scope, self.random.choice(paths))};"
        return 'put "text\\n";'

    # --- Nested statements ---------------------------------------------------------------------------------

    def _if(self, scope: Scope, depth: int) -> str:
        lines = [f"if {self.condition(scope)} then", indent(self.block(scope, depth - 1, 2))]
        if self.chance(0.3):
            lines += [f"elsif {self.condition(scope)} then", indent(self.block(scope, depth - 1, 2))]
        if self.chance(0.5):
            lines += ["else", indent(self.block(scope, depth - 1, 2))]
        return "\n".join([*lines, "end;"])

    def _switch(self, scope: Scope, depth: int) -> str:
        kinds = [kind for kind in scope.kinds.declared if isinstance(kind, Enumeration | Range)]
        kind = self.random.choice(kinds)
        labels = (
            list(kind.members) if isinstance(kind, Enumeration) else [str(n) for n in range(kind.low, kind.high + 1)]
        )
        lines = [f"switch {self.expression(scope, kind)}"]
        for label in labels[: self.random.randint(1, 3)]:
            other = f", {self.atom(scope, kind)}" if self.chance(0.2) else ""
            lines += [f"case {label}{other}:", indent(self.block(scope, depth - 1, 1))]
        if self.chance(0.5):
            lines += ["else", indent(self.block(scope, depth - 1, 1))]
        return "\n".join([*lines, "end;"])

    def _for(self, scope: Scope, depth: int) -> str:
        name = scope.fresh("i")
        if self.chance(0.4):
            kind: Kind = self.random.choice(scope.kinds.of(Range))
            first, last = self.atom(scope, kind), self.atom(scope, kind)
            step = ""
            # Constant bounds must not be reversed, and an alias may be constant.
            if first[0] == "a" or last[0] == "a":
                last = first
            if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
                step = f" by {1 if int(first) <= int(last) else -1}"
            elif self.chance(0.4):
                step = f" by {self.random.choice((1, 2, -1))}"
            head = f"{name} := {first} to {last}{step}"
            # A separate integer kind, because with computed bounds it may lie outside the range.
            inner = Name(f"({name} + 0)", kind, is_writable=False, is_defined=True)
        else:
            kind = self.random.choice([each for each in scope.kinds.finite() if not each.is_symmetric])
            head = f"{name}: {kind.name}"
            inner = Name(name, kind, is_writable=False, is_defined=True)
        return f"for {head} do\n{indent(self.block(scope.with_names(inner), depth - 1, 2))}\nend;"

    def _for_each_node(self, scope: Scope, depth: int) -> str:
        """Returns a loop over a scalarset, in which each iteration changes its own element."""
        rows = [
            path
            for path in scope.paths()
            if path.is_writable
            and not path.indices
            and isinstance(path.kind, Array)
            and path.kind.index.is_symmetric
            and path.kind.element.is_simple
        ]
        if not rows:
            return self._for(scope, depth)
        path = self.random.choice(rows)
        assert isinstance(path.kind, Array)
        index, element = path.kind.index, path.kind.element
        name = scope.fresh("n")
        target = f"{path.pieces[0]}[{name}]"
        inner = replace(scope, names=_apart_from(path.pieces[0], scope.names), can_abandon=False).with_names(
            Name(name, index, is_writable=False, is_defined=True), Name(target, element, is_writable=False)
        )
        change = f"undefine {target};"
        if self.can_make(inner, element, safe=True) and self.chance(0.9):
            change = f"{target} := {self.expression(inner, element, safe=True)};"
        condition = self.condition(inner, safe=True)
        return f"for {name}: {index.name} do\n  if {condition} then {change} end;\nend;"

    def _while(self, scope: Scope, depth: int) -> str:
        """Returns a loop of at most three iterations, bounded by a counter in an array of one element."""
        counters = [name for name in scope.names if name.text.startswith("counter")]
        if not counters:
            return self._if(scope, depth)
        counter = self.random.choice(counters).text
        body = indent(self.block(scope, depth - 1, 1))
        return (
            f"{counter} := 0;\nwhile {counter} < 3 & {self.condition(scope)} do\n"
            f"  {counter} := {counter} + 1;\n{body}\nend;"
        )

    def _alias(self, scope: Scope, depth: int) -> str:
        name = scope.fresh("a")
        paths = self.writable(scope, lambda kind: True)
        if paths and self.chance(0.8):
            path = self.random.choice(paths)
            target, alias = self.fill(scope, path), Name(name, path.kind)
        else:
            kind = scope.kinds.declared[self.random.randint(0, 2)]
            target, alias = f"({self.expression(scope, kind)})", Name(name, kind, is_writable=False, is_place=False)
        return f"alias {name}: {target} do\n{indent(self.block(scope.with_names(alias), depth - 1, 2))}\nend;"

    def _remove_if(self, scope: Scope, depth: int) -> str:
        bags = [path for path in self.writable(scope, lambda kind: isinstance(kind, Multiset)) if not path.indices]
        if not bags:
            return self._assign(scope)
        path = self.random.choice(bags)
        assert isinstance(path.kind, Multiset)
        bag, name = path.pieces[0], scope.fresh("m")
        inner = scope.with_names(Name(f"{bag}[{name}]", path.kind.element, is_writable=False))
        return f"multisetremovepred({name}: {bag}, {self.condition(inner)});"


def _apart_from(target: str, names: tuple[Name, ...]) -> tuple[Name, ...]:
    """Returns the names that cannot denote a part of the variable ``target``, as an alias or a var formal might."""
    variable = root(target)
    is_variable = is_state_variable(variable)
    return tuple(
        name
        for name in names
        if name.is_defined or (is_variable and is_state_variable(name.text) and name.text != variable)
    )


def root(place: str) -> str:
    """Returns the name that a place is a part of."""
    return place.split(".")[0].split("[")[0]


def is_state_variable(name: str) -> bool:
    return name.startswith("v") and name[1:].isdigit()
