"""Expressions of a given type, from what is in scope."""

from __future__ import annotations

from random import Random

from generator.kinds import Array, Boolean, Enumeration, Kind, Multiset, Range, Real, Record, Scalarset, Union
from generator.scope import Name, Path, Scope

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_MOST_DEPTH = 3


class ExpressionGenerator:
    """A generator of expressions. ``safe`` expressions cannot fail; see the package's docstring."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # --- Places --------------------------------------------------------------------------------------------

    def places(self, scope: Scope, kind: Kind, *, writable: bool = False, safe: bool = False) -> list[Path]:
        """Returns the paths to places of exactly this kind whose indices can be filled in."""
        return [
            path
            for path in scope.paths()
            if path.kind == kind
            and (path.is_writable or not writable)
            and (path.is_place or path.is_defined or not safe)
            and all(self.can_make(scope, index, safe=safe) for index in path.indices)
        ]

    def fill(self, scope: Scope, path: Path, *, safe: bool = False) -> str:
        """Returns the text of a place, with an expression for each index."""
        text = path.pieces[0]
        for kind, piece in zip(path.indices, path.pieces[1:], strict=True):
            text += self._index(scope, kind, safe) + piece
        return text

    def _index(self, scope: Scope, kind: Kind, safe: bool) -> str:
        if isinstance(kind, Range) and not safe and self.chance(0.3):
            # Any integer place will do, even outside the index type.
            others = [path for each in scope.kinds.of(Range) for path in self.places(scope, each) if not path.indices]
            if others:
                return self.fill(scope, self.random.choice(others))
        return self.atom(scope, kind, safe=safe, flat=True)

    def place(self, scope: Scope, kind: Kind, *, writable: bool = False) -> str | None:
        found = self.places(scope, kind, writable=writable)
        return self.fill(scope, self.random.choice(found)) if found else None

    # --- Possible expressions ------------------------------------------------------------------------------

    def can_make(self, scope: Scope, kind: Kind, *, safe: bool = False) -> bool:
        """Returns whether there is an expression of this kind. Scalarsets and aggregates have no literals."""
        if isinstance(kind, Boolean | Enumeration | Range | Real | Union):
            return True
        if safe or isinstance(kind, Scalarset):
            return any(path.kind == kind and not path.indices and path.is_defined >= safe for path in scope.paths())
        return any(True for path in scope.paths() if path.kind == kind and not path.indices)

    def atom(self, scope: Scope, kind: Kind, *, safe: bool = False, flat: bool = False) -> str:
        """Returns a literal or a place; ``flat``: one without indices, so that indices do not nest without end."""
        paths = self.places(scope, kind, safe=safe) if self.chance(0.7) else []
        if isinstance(kind, Scalarset) or not kind.is_simple:
            paths = [path for path in scope.paths() if path.kind == kind and not path.indices]
            if safe:
                paths = [path for path in paths if path.is_defined]
        if flat:
            paths = [path for path in paths if not path.indices]
        if paths:
            path = self.random.choice(paths)
            text = self.fill(scope, path, safe=safe)
            if safe and not path.is_defined and not isinstance(kind, Union):
                return f"(isundefined({text}) ? {self.literal(kind)} : {text})"
            if not safe or path.is_defined:
                return text
        if isinstance(kind, Union):
            members = [member for member in kind.members if self.can_make(scope, member, safe=safe)]
            return self.atom(scope, self.random.choice(members), safe=safe, flat=flat)
        return self.literal(kind)

    def literal(self, kind: Kind) -> str:
        if isinstance(kind, Boolean):
            return self.random.choice(("true", "false"))
        if isinstance(kind, Enumeration):
            return self.random.choice(kind.members)
        if isinstance(kind, Range):
            return str(self.random.randint(kind.low, kind.high))
        assert isinstance(kind, Real), kind
        return self.random.choice(("0.5", "1.0", "0.333", "2.25"))

    # --- Expressions ---------------------------------------------------------------------------------------

    def expression(self, scope: Scope, kind: Kind, depth: int = _MOST_DEPTH, *, safe: bool = False) -> str:
        if depth <= 0 or self.chance(0.25):
            return self.atom(scope, kind, safe=safe)
        if isinstance(kind, Boolean):
            return self.condition(scope, depth, safe=safe)
        if isinstance(kind, Range):
            return self.in_range(self.integer(scope, depth, safe=safe), kind)
        if isinstance(kind, Real):
            return self._real(scope, kind, depth)
        if kind.is_simple and self.chance(0.5):
            return self._conditional(scope, kind, depth, safe)
        return self._call(scope, kind, depth) if not safe and self.chance(0.5) else self.atom(scope, kind, safe=safe)

    def in_range(self, text: str, kind: Range) -> str:
        """Returns an expression that wraps a value around into the range."""
        size = kind.high - kind.low + 1
        return f"((({text}) % {size} + {size}) % {size} + {kind.low})" if size > 1 else str(kind.low)

    def _conditional(self, scope: Scope, kind: Kind, depth: int, safe: bool) -> str:
        condition = self.condition(scope, depth - 1, safe=safe)
        if isinstance(kind, Union):
            # Both branches need one type, which literals of the members do not have.
            paths = [path for path in self.places(scope, kind, safe=safe) if path.is_defined or not safe]
            if not paths:
                return self.atom(scope, kind, safe=safe)
            first, second = (self.fill(scope, self.random.choice(paths), safe=safe) for _ in range(2))
        else:
            first, second = (self.expression(scope, kind, depth - 1, safe=safe) for _ in range(2))
        return f"({condition} ? {first} : {second})"

    def _call(self, scope: Scope, kind: Kind, depth: int) -> str:
        """Returns a call of a function without var parameters, or an atom if there is none."""
        functions = [
            each
            for each in scope.callables
            if each.result == kind
            and all(not is_var and self.can_make(scope, formal) for is_var, formal in each.formals)
        ]
        if not functions:
            return self.atom(scope, kind)
        function = self.random.choice(functions)
        arguments = ", ".join(self.expression(scope, formal, depth - 1) for _, formal in function.formals)
        return f"{function.name}({arguments})"

    def integer(self, scope: Scope, depth: int, *, safe: bool = False) -> str:
        """Returns an integer expression of any size."""
        ranges = scope.kinds.of(Range)
        kind = self.random.choice(ranges)
        if depth <= 0 or self.chance(0.2):
            return self.atom(scope, kind, safe=safe)
        choice = self.random.randint(0, 9)
        if choice <= 4:
            left, right = (self.integer(scope, depth - 1, safe=safe) for _ in range(2))
            return f"({left} {self.random.choice(('+', '-', '*', '+', '-'))} {right})"
        if choice == 5:
            divisor = self.random.choice(("2", "3", "-2"))
            if not safe and self.chance(0.3):
                divisor = self.atom(scope, kind)
                if divisor.lstrip("-").isdigit():
                    divisor = "2"
            return f"({self.integer(scope, depth - 1, safe=safe)} {self.random.choice('/%')} {divisor})"
        if choice == 6:
            operator = self.random.choice(("&", "|", "^", "<<", ">>"))
            left = self.integer(scope, depth - 1, safe=safe)
            # Small shifts, so that products of the result stay within 64 bits.
            right = self.literal(kind) if operator in ("<<", ">>") else self.integer(scope, depth - 1, safe=safe)
            return f"({left} {operator} {right})"
        if choice == 7:
            return f"({self.random.choice('-~')} {self.integer(scope, depth - 1, safe=safe)})"
        if choice == 8:
            return self._conditional(scope, kind, depth, safe)
        return self._count(scope, depth) if not safe else self.literal(kind)

    def _count(self, scope: Scope, depth: int) -> str:
        multisets = [path for path in scope.multisets() if not path.indices]
        if not multisets:
            kind = self.random.choice(scope.kinds.of(Range))
            return self._call(scope, kind, depth)
        path = self.random.choice(multisets)
        assert isinstance(path.kind, Multiset)
        name, text = scope.fresh("m"), path.pieces[0]
        element = Name(f"{text}[{name}]", path.kind.element, is_writable=False)
        return f"multisetcount({name}: {text}, {self.condition(scope.with_names(element), depth - 1)})"

    def _real(self, scope: Scope, kind: Real, depth: int) -> str:
        left = self.atom(scope, kind)
        choice = self.random.randint(0, 3)
        if choice == 0:
            return f"({left} / {self.random.choice(('2', '3.0', '1.5'))})"
        if choice == 1:
            return f"sqrt(fabs({left}))"
        return f"({left} {self.random.choice('+-*')} {self.expression(scope, kind, depth - 2)})"

    # --- Conditions ----------------------------------------------------------------------------------------

    def condition(self, scope: Scope, depth: int = _MOST_DEPTH, *, safe: bool = False) -> str:
        boolean = scope.kinds.declared[0]
        if depth <= 0:
            return self.atom(scope, boolean, safe=safe)
        choice = self.random.randint(0, 11)
        if choice <= 1:
            left, right = (self.condition(scope, depth - 1, safe=safe) for _ in range(2))
            return f"({left} {self.random.choice(('&', '|', '->', '&&', '||'))} {right})"
        if choice == 2:
            return f"!({self.condition(scope, depth - 1, safe=safe)})"
        if choice <= 5:
            left, right = (self.integer(scope, depth - 1, safe=safe) for _ in range(2))
            return f"({left} {self.random.choice(_COMPARISONS)} {right})"
        if choice <= 7:
            return self._equality(scope, depth, safe)
        if choice == 8:
            return self._quantified(scope, depth, safe)
        if choice == 9:
            return self._is_undefined(scope, safe)
        if choice == 10:
            return self._is_member(scope, safe)
        return self._call(scope, boolean, depth) if not safe else self.atom(scope, boolean, safe=True)

    def _equality(self, scope: Scope, depth: int, safe: bool) -> str:
        kinds = [kind for kind in scope.kinds.declared if self.can_make(scope, kind, safe=safe)]
        # Multisets cannot be compared; an aggregate inside them is no problem.
        kinds = [kind for kind in kinds if not _has_multiset(kind)]
        kind = self.random.choice(kinds)
        left, right = (self.expression(scope, kind, depth - 1, safe=safe) for _ in range(2))
        if isinstance(kind, Union):
            places = [path for path in self.places(scope, kind, safe=safe) if path.is_defined or not safe]
            if not places:
                return self.atom(scope, scope.kinds.declared[0], safe=safe)
            left = self.fill(scope, self.random.choice(places), safe=safe)
        return f"({left} {self.random.choice(('=', '!='))} {right})"

    def _quantified(self, scope: Scope, depth: int, safe: bool) -> str:
        word = self.random.choice(("forall", "exists"))
        names, quantifiers = [], []
        for _ in range(self.random.randint(1, 2)):
            name = scope.fresh("q")
            if self.chance(0.2):
                kind: Kind = self.random.choice(scope.kinds.of(Range))
                assert isinstance(kind, Range)
                step = self.random.choice(("", " by 2", " by 1"))
                quantifiers.append(f"{name} := {kind.low} to {kind.high}{step}")
            else:
                kind = self.random.choice(scope.kinds.finite())
                quantifiers.append(f"{name}: {kind.name}")
            names.append(Name(name, kind, is_writable=False, is_defined=True))
        inner = scope.with_names(*names)
        safe = safe or any(name.kind.is_symmetric for name in names)
        body = self.condition(inner, depth - 1, safe=safe)
        return f"({word} {'; '.join(quantifiers)} do {body} end)"

    def _is_undefined(self, scope: Scope, safe: bool) -> str:
        kind = self.random.choice([each for each in scope.kinds.declared if each.is_simple])
        paths = [path for path in self.places(scope, kind, safe=safe) if path.is_place and not path.is_defined]
        if not paths:
            return self.atom(scope, scope.kinds.declared[0], safe=safe)
        return f"isundefined({self.fill(scope, self.random.choice(paths), safe=safe)})"

    def _is_member(self, scope: Scope, safe: bool) -> str:
        unions = scope.kinds.of(Union)
        paths = [path for kind in unions for path in self.places(scope, kind, safe=safe)]
        if not paths:
            return self.atom(scope, scope.kinds.declared[0], safe=safe)
        path = self.random.choice(paths)
        assert isinstance(path.kind, Union)
        return f"ismember({self.fill(scope, path, safe=safe)}, {self.random.choice(path.kind.members).name})"


def _has_multiset(kind: Kind) -> bool:
    if isinstance(kind, Multiset):
        return True
    if isinstance(kind, Record):
        return any(_has_multiset(each) for _, each in kind.fields)
    return isinstance(kind, Array) and _has_multiset(kind.element)
