"""Whole models: types, variables, functions, startstates, rules and properties."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from generator.formulas import generate_formula
from generator.kinds import Array, Kind, Kinds, Multiset, Range, Record, generate_kinds, parts
from generator.scope import Callable, Name, Scope
from generator.statements import StatementGenerator, indent

#: Largest number of states. Variables are declared while it is not exceeded.
_MOST_STATES = 400
_MOST_INSTANCES = 12


def generate(random: Random) -> str:
    """Returns the text of a model that the front-end accepts."""
    return _ModelGenerator(random).model()


def generate_with_formulas(random: Random) -> str:
    """Returns such a model with a few formulas about its runs."""
    return _ModelGenerator(random).model(formulas=random.randint(1, 2))


class _ModelGenerator(StatementGenerator):
    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.callables: list[Callable] = []

    def model(self, formulas: int = 0) -> str:
        kinds = generate_kinds(self.random)
        variables = self._variables(kinds)
        scope = Scope(self.random, kinds, variables)
        declarations = "\n".join(f"  {name.text}: {name.kind.name};" for name in variables)
        pieces = [kinds.text(), f"var\n{declarations}"]
        pieces += [self._callable(scope) for _ in range(self.random.randint(0, 3))]
        scope.callables = tuple(self.callables)
        pieces += [self._startstate(scope) for _ in range(self.random.choice((1, 1, 1, 2)))]
        pieces += [self._rule_item(scope, is_rule=True) for _ in range(self.random.randint(2, 6))]
        pieces += [self._rule_item(scope, is_rule=False) for _ in range(self.random.randint(0, 3))]
        pieces += [self._formula(scope) for _ in range(formulas)]
        return "\n\n".join(pieces) + "\n"

    def _formula(self, scope: Scope) -> str:
        """Returns a formula, sometimes inside a ruleset over a type small enough for a search for each value."""
        kinds = [kind for kind in scope.kinds.finite() if kind.values <= 3]
        name = scope.fresh("formula ")
        if not kinds or self.chance(0.7):
            text = generate_formula(self.random, lambda: self.condition(scope, 2, safe=self.chance(0.9)))
            return f'ltl "{name}" : {text};'
        kind = self.random.choice(kinds)
        parameter = Name(scope.fresh("r"), kind, is_writable=False, is_defined=True)
        inner = scope.with_names(parameter)
        text = generate_formula(self.random, lambda: self.condition(inner, 2, safe=self.chance(0.9)), 2)
        return f'ruleset {parameter.text}: {kind.name} do\n  ltl "{name}" : {text};\nend;'

    def _variables(self, kinds: Kinds) -> tuple[Name, ...]:
        """Returns at least one variable. Larger types are tried first, because they are less likely to fit."""
        names: list[Name] = []
        states = 1
        order = sorted(kinds.declared, key=lambda kind: (self.random.random() < 0.3, -kind.values))
        for number, kind in enumerate((*order, *order)):
            if states * kind.values <= _MOST_STATES and self.chance(0.7):
                names.append(Name(f"v{number}", kind))
                states *= kind.values
        return tuple(names) or (Name("v0", kinds.declared[0]),)

    # --- Functions -----------------------------------------------------------------------------------------

    def _callable(self, scope: Scope) -> str:
        if self.chance(0.15):
            return self._recursive(scope)
        name = scope.fresh("f")
        finite = [kind for kind in scope.kinds.declared if not isinstance(kind, Multiset)]
        result = self.random.choice(finite) if self.chance(0.5) else None
        formals, names = [], []
        for _ in range(self.random.randint(0, 2)):
            kind = self.random.choice(finite)
            # A function is called in conditions, which must not change anything.
            is_var = result is None and self.chance(0.5)
            formal = scope.fresh("p")
            formals.append((is_var, kind, formal))
            names.append(Name(formal, kind, is_writable=is_var))
        locals_ = [Name(scope.fresh("local"), self.random.choice(finite)), Name(scope.fresh("counter"), _COUNTER)]
        globals_ = scope.names if result is None else tuple(_read_only(each) for each in scope.names)
        inner = Scope(self.random, scope.kinds, (*globals_, *names, *locals_), result=result, counter=scope.counter)
        if result is None:
            inner.callables = tuple(self.callables)
        if result is not None and not self.can_make(inner, result):
            result = inner.result = None
        head = "; ".join(f"{'var ' if is_var else ''}{formal}: {kind.name}" for is_var, kind, formal in formals)
        body = self._initialise_all(inner, locals_) + self.block(inner)
        if result is not None and self.chance(0.97):
            body += f"\nreturn {self.expression(inner, result)};"
        keyword = f"function {name}({head}): {result.name}" if result else f"procedure {name}({head})"
        declared = "".join(f"  {each.text}: {each.kind.name};\n" for each in locals_)
        self.callables.append(Callable(name, tuple((is_var, kind) for is_var, kind, _ in formals), result))
        return f"{keyword};\nvar\n{declared}begin\n{indent(body)}\nend;"

    def _recursive(self, scope: Scope) -> str:
        kind = self.random.choice(scope.kinds.of(Range))
        assert isinstance(kind, Range)
        name, formal = scope.fresh("f"), scope.fresh("p")
        text = self.in_range(f"{formal} * 2 - {name}({formal} - 1)", kind)
        self.callables.append(Callable(name, ((False, kind),), kind))
        return (
            f"function {name}({formal}: {kind.name}): {kind.name};\nbegin\n"
            f"  if {formal} <= {kind.low} then return {self.literal(kind)}; end;\n  return {text};\nend;"
        )

    # --- Rules ---------------------------------------------------------------------------------------------

    def _locals(self, scope: Scope) -> tuple[str, str, Scope]:
        """Returns declarations of locals, statements that initialise them, and the scope that has them."""
        kinds = [self.random.choice(scope.kinds.declared) for _ in range(self.random.randint(0, 1))]
        names = [Name(scope.fresh("local"), kind) for kind in kinds if kind.values <= _MOST_STATES]
        names.append(Name(scope.fresh("counter"), _COUNTER))
        text = "var\n" + "".join(f"  {each.text}: {each.kind.name};\n" for each in names)
        return text, self._initialise_all(scope, names), scope.with_names(*names)

    def _initialise_all(self, scope: Scope, names: Sequence[Name]) -> str:
        """Returns statements that initialise most of the variables."""
        fitting = [name for name in names if self._can_initialise(scope, name.kind) and self.chance(0.9)]
        return "".join(self._initialise(scope, name) + "\n" for name in fitting)

    def _can_initialise(self, scope: Scope, kind: Kind) -> bool:
        if kind.is_simple:
            return self.can_make(scope, kind, safe=True)
        return isinstance(kind, Multiset) or all(self._can_initialise(scope, part) for part in parts(kind))

    def _startstate(self, scope: Scope) -> str:
        parameters, quantifiers = [], []
        for kind in scope.kinds.finite():
            if kind.is_symmetric and kind.values <= 5:
                parameters.append(Name(scope.fresh("s"), kind, is_writable=False, is_defined=True))
                quantifiers.append(f"{parameters[-1].text}: {kind.name}")
        inner = scope.with_names(*parameters)
        lines = [self._initialise(inner, name) for name in scope.names if self.chance(0.96)]
        declared, initial, inner = self._locals(inner)
        lines.append(initial)
        if self.chance(0.3):
            lines.append(self.statement(inner, 1))
        body = f'startstate "start"\n{declared}begin\n{indent(chr(10).join(lines))}\nend;'
        return f"ruleset {'; '.join(quantifiers)} do\n{indent(body)}\nend;" if quantifiers else body

    def _initialise(self, scope: Scope, name: Name) -> str:
        """Returns statements that initialise every part of a variable, by ``clear`` if allowed, or part by part."""
        if not name.kind.is_symmetric:
            return f"clear {name.text};" if self.chance(0.5) or not name.kind.is_simple else self._set(scope, name)
        return self._set(scope, name)

    def _set(self, scope: Scope, name: Name) -> str:
        kind = name.kind
        if isinstance(kind, Record):
            return "\n".join(self._initialise(scope, Name(f"{name.text}.{field}", each)) for field, each in kind.fields)
        if isinstance(kind, Array):
            index = scope.fresh("i")
            parameter = Name(index, kind.index, is_writable=False, is_defined=True)
            inner = scope.with_names(parameter)
            element = self._initialise(inner, Name(f"{name.text}[{index}]", kind.element))
            return f"for {index}: {kind.index.name} do\n{indent(element)}\nend;"
        if isinstance(kind, Multiset):
            return f"undefine {name.text};"
        return f"{name.text} := {self.atom(scope, kind, safe=True)};"

    def _rule_item(self, scope: Scope, *, is_rule: bool) -> str:
        """Returns a rule or property, perhaps inside a ruleset, an alias or a choose."""
        inner = scope
        wrappers: list[str] = []
        instances = 1
        while self.chance(0.45) and len(wrappers) < 3:
            kind = self.random.choice(scope.kinds.finite())
            if instances * kind.values > _MOST_INSTANCES:
                break
            instances *= kind.values
            name = scope.fresh("r")
            wrappers.append(f"ruleset {name}: {kind.name} do")
            inner = inner.with_names(Name(name, kind, is_writable=False, is_defined=True))
        bags = [name for name in scope.names if isinstance(name.kind, Multiset)]
        remove = ""
        if bags and is_rule and self.chance(0.6):
            bag = self.random.choice(bags)
            assert isinstance(bag.kind, Multiset)
            name = scope.fresh("c")
            wrappers.append(f"choose {name}: {bag.text} do")
            inner = inner.with_names(Name(f"{bag.text}[{name}]", bag.kind.element))
            remove = f"multisetremove({name}, {bag.text});" if self.chance(0.5) else ""
        if self.chance(0.2):
            paths = self.writable(inner, lambda kind: True)
            if paths:
                path = self.random.choice(paths)
                name = scope.fresh("a")
                wrappers.append(f"alias {name}: {self.fill(inner, path)} do")
                inner = inner.with_names(Name(name, path.kind))
        text = self._rule(inner, remove) if is_rule else self._property(inner)
        for wrapper in reversed(wrappers):
            text = f"{wrapper}\n{indent(text)}\nend;"
        return text

    def _rule(self, scope: Scope, remove: str) -> str:
        priority = f"{self.random.randint(0, 2)} " if self.chance(0.1) else ""
        guard = self.random.choice(("true", self.condition(scope), self.condition(scope, 1)))
        declared, initial, inner = self._locals(scope)
        body = initial + (self.step(inner) + "\n" if self.chance(0.8) else "") + self.block(inner)
        if remove:
            body += f"\n{remove}"
        return f'rule {priority}"{scope.fresh("rule ")}"\n  {guard} ==>\n{declared}begin\n{indent(body)}\nend;'

    def _property(self, scope: Scope) -> str:
        name = scope.fresh("property ")
        choice = self.random.randint(0, 9)
        if choice <= 3:
            weak = f"({self.condition(scope)} | {self.condition(scope)} | true)"
            return f'invariant "{name}" {weak if self.chance(0.6) else self.condition(scope)};'
        if choice <= 5:
            return f'cover "{name}" {self.condition(scope)};'
        if choice <= 7:
            # The assumption must be weak, or no states would be left.
            return f'assume "{name}" ({" | ".join(self.condition(scope) for _ in range(4))});'
        return f'liveness "{name}" {self.condition(scope)};'


#: The type of counters of while loops.
_COUNTER: Kind = Range("0 .. 3", "", 0, 3)


def _read_only(name: Name) -> Name:
    return Name(name.text, name.kind, is_writable=False)
