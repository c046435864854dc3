"""The common part of the lowering: scope, current frame, report, conversions.

The lowering is one object. Each file adds a layer to its class (types, places, expressions, statements, rules), because
types need constant expressions, expressions need types, and both need the names in scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from outcrop.ir.nodes import (
    Call,
    Conditional,
    Constant,
    Convert,
    Expression,
    GlobalPlace,
    Load,
    Local,
    LocalPlace,
    Undefined,
    Variable,
)
from outcrop.ir.system import Function
from outcrop.ir.types import BOOLEAN, DOUBLE, INTEGER, Range, Real, Scalarset, Simple, Type, Union
from outcrop.lang.frames import FrameBuilder
from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.hints import TYPES, WORDS, type_hint
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.lang.murphi.scope import UNKNOWN, Scope, Symbol, TypeSymbol, builtin_names, describe, kind_of
from outcrop.lang.murphi.undefined import converts_unread, copies_unread
from outcrop.lang.report import Report, did_you_mean
from outcrop.options import LoadOptions
from outcrop.source import Source, Span


class Context:
    """State and services that all layers of the lowering share."""

    def __init__(self, source: Source, options: LoadOptions, declared_later: dict[str, Span]) -> None:
        self.source = source
        self.options = options
        self.report = Report()
        self.integers = INTEGER  #: bounds of the model's arithmetic
        self.builtins = builtin_names(source)
        self.scope = Scope()
        self.frame = FrameBuilder()
        self._unknown_names: set[str] = set()  #: names that were reported already, in this frame
        #: Top-level names that are declared further down, for a better hint than "unknown".
        self.declared_later = declared_later
        self.function: Function | None = None  #: the function whose body is being lowered
        self.pure_context = ""  #: description of the context, such as "a guard", in which the state must not be written
        self.references_to_state: set[Local] = set()  #: reference locals through which the state may be written
        self.variables_read: set[Variable] = set()
        self.aliased_parts: set[Local] = set()  #: aliases of fields and elements, which are not variables
        #: The meaning of an undefined value where CMurphi lets it through (see undefined.py).
        permitted = self.options.of(MurphiOptions).undefined is UndefinedReads.PERMIT
        self.lenient = Undefined.NOTE if permitted else Undefined.ERROR

    # Provided by the layers above.
    def expression(self, node: syntax.Expression) -> Expression:
        raise NotImplementedError

    # --- Names ---------------------------------------------------------------------------------------------

    @contextmanager
    def block(self) -> Iterator[None]:
        """Opens a scope, and closes it on leaving."""
        outer = self.scope
        self.scope = Scope(outer)
        try:
            yield
        finally:
            self.scope = outer

    @contextmanager
    def fresh_frame(self) -> Iterator[FrameBuilder]:
        outer, outer_names = self.frame, self._unknown_names
        self.frame, self._unknown_names = FrameBuilder(), set()
        try:
            yield self.frame
        finally:
            self.frame, self._unknown_names = outer, outer_names

    @contextmanager
    def without_side_effects(self, where: str) -> Iterator[None]:
        outer = self.pure_context
        self.pure_context = where
        try:
            yield
        finally:
            self.pure_context = outer

    def declare(self, name: syntax.Name, symbol: Symbol) -> None:
        text = name.text
        if text.lower() in self.builtins:
            self.report.error(
                f"'{text}' is a word of the language and cannot be declared", name.span, "choose another name"
            )
            return
        names = self.scope.names
        earlier = names.get(text)
        if earlier is not None and earlier.span is not None:
            note = (f"'{text}' was declared here, as {kind_of(earlier)}", earlier.span)
            self.report.error(
                f"'{text}' is declared twice in one scope", name.span, "rename or delete one of the two", note
            )
            return
        names[text] = symbol

    def lookup(self, name: str, span: Span) -> Symbol | None:
        """Returns the symbol of a name; None, with an error reported, if the name is unknown."""
        symbol = self.scope.find(name) or self.builtins.get(name.lower())
        if symbol is None:
            later = self.declared_later.get(name)
            if later is not None:
                note = ("it is declared here", later)
                hint = "a name must be declared above its use"
                self.report.error(f"'{name}' is used before its declaration", span, hint, note)
            else:
                self._report_unknown(name, span)
        return symbol

    def _report_unknown(self, name: str, span: Span) -> None:
        """Reports an unknown name once per rule, per function, and for everything outside of these."""
        if name in self._unknown_names:
            return
        self._unknown_names.add(name)
        hint = TYPES.get(name.lower()) or WORDS.get(name.lower())
        owner = self.scope.find(name.rpartition("_")[0])
        if isinstance(owner, TypeSymbol) and isinstance(owner.type, Scalarset):
            hint = type_hint(INTEGER, owner.type)  # traces show these names, models cannot use them
        candidates = [*self.scope.visible(), *self.builtins]
        self.report.error(f"unknown name '{name}'", span, hint or did_you_mean(name, candidates))

    # --- Values --------------------------------------------------------------------------------------------

    def unknown(self, span: Span) -> Constant:
        """Returns the placeholder of an invalid expression whose error was reported."""
        return Constant(type=UNKNOWN, span=span, value=None)

    def relaxed(self, value: Expression, undefined: Undefined) -> Expression:
        """Returns the expression with ``undefined`` as the meaning of an undefined value that it reads. Notes refer to
        places in the model, so that a read in another source takes none."""
        if undefined is Undefined.NOTE and value.span.source.name != self.source.name:
            undefined = Undefined.ALLOW
        if not value.type.is_simple:
            return value
        if isinstance(value, Load | Call):
            return value if value.undefined is undefined else replace(value, undefined=undefined)
        if isinstance(value, Convert):
            return replace(value, operand=self.relaxed(value.operand, undefined))
        if isinstance(value, Conditional):
            then, otherwise = self.relaxed(value.then, undefined), self.relaxed(value.otherwise, undefined)
            return replace(value, then=then, otherwise=otherwise)
        return value

    def relaxed_unread(self, value: Expression, undefined: Undefined) -> Expression:
        """Returns the expression relaxed where CMurphi copies or converts a value without a test for undefined."""
        if isinstance(value, Conditional):
            then, otherwise = (self.relaxed_unread(each, undefined) for each in (value.then, value.otherwise))
            return replace(value, then=then, otherwise=otherwise)
        if isinstance(value, Convert) and converts_unread(value.operand.type):
            return replace(value, operand=self.relaxed_unread(value.operand, undefined))
        passes = copies_unread(value.type) and not isinstance(value, Convert)
        return self.relaxed(value, undefined) if passes else value

    def is_variable(self, node: syntax.Expression, value: Expression) -> bool:
        """Returns whether ``node``, lowered to ``value``, is the name of a variable or formal, or an alias of one."""
        if type(node) is not syntax.Identifier or not isinstance(value, Load):
            return False
        place = value.place
        return isinstance(place, GlobalPlace) or (
            isinstance(place, LocalPlace) and place.local not in self.aliased_parts
        )

    def converted(self, value: Expression, target: Type) -> Expression | None:
        """Returns ``value`` converted to ``target``; None if there is no conversion."""
        source = value.type
        if source is target or source is UNKNOWN or target is UNKNOWN:
            return value
        if isinstance(target, Range):
            return value if isinstance(source, Range) else None
        if isinstance(target, Real):
            if isinstance(source, Real):
                return value
            return self.as_real(value) if isinstance(source, Range) else None
        if source == target:
            return value
        if isinstance(target, Union) and isinstance(source, Simple) and _overlap(target, source):
            return self._convert(value, target)
        if isinstance(source, Union) and isinstance(target, Simple) and source.offset(target) is not None:
            return self._convert(value, target)
        return None

    def as_real(self, value: Expression) -> Expression:
        if isinstance(value, Constant) and value.value is not None:
            return Constant(type=DOUBLE, span=value.span, value=float(value.value))
        return Convert(type=DOUBLE, span=value.span, operand=value)

    def _convert(self, value: Expression, target: Type) -> Expression:
        if isinstance(value, Constant) and isinstance(target, Union) and isinstance(value.type, Simple):
            offset = target.offset(value.type)
            if offset is not None and value.value is not None:
                return Constant(type=target, span=value.span, value=offset + int(value.value))
        return Convert(type=target, span=value.span, operand=value)

    def fitted(self, value: Expression, target: Type, what: str) -> Expression:
        """Returns ``value`` converted to ``target``. If the types do not fit, reports an error that starts with
        ``what``."""
        converted = self.converted(value, target)
        if converted is None:
            message = f"{what} is {describe(value.type)}, not {describe(target)}"
            self.report.error(message, value.span, type_hint(value.type, target))
            return self.unknown(value.span)
        return converted

    def unified(self, left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
        """Returns both operands converted to a common type; None if there is none."""
        first, second = left.type, right.type
        if first is second or first is UNKNOWN or second is UNKNOWN:
            return left, right
        if isinstance(first, Range) and isinstance(second, Range):
            return left, right
        if isinstance(first, Real | Range) and isinstance(second, Real | Range):
            return (
                left if isinstance(first, Real) else self.as_real(left),
                right if isinstance(second, Real) else self.as_real(right),
            )
        if first == second:
            return left, right
        if isinstance(first, Union) and isinstance(second, Simple) and _covers(first, second):
            return left, self._convert(right, first)
        if isinstance(second, Union) and isinstance(first, Simple) and _covers(second, first):
            return self._convert(left, second), right
        return None

    def condition(self, node: syntax.Expression, what: str) -> Expression:
        """Returns a lowered boolean expression."""
        value = self.expression(node)
        if value.type is not BOOLEAN and value.type is not UNKNOWN:
            message = f"{what} must be a boolean, not {describe(value.type)}"
            self.report.error(message, value.span, type_hint(value.type, BOOLEAN))
        return value


def _overlap(union: Union, other: Simple) -> bool:
    if isinstance(other, Union):
        return any(union.offset(member) is not None for member in other.members)
    return union.offset(other) is not None


def _covers(union: Union, other: Simple) -> bool:
    """Returns whether every value of ``other`` is a value of ``union``."""
    if isinstance(other, Union):
        return all(union.offset(member) is not None for member in other.members)
    return union.offset(other) is not None
