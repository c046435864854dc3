"""A C function under construction: its lines, temporaries and checks.

An expression writes the statements that it needs into the current block and returns a ``Value``: C text without side
effects, which can be used any number of times later in that block. Anything that a call could change has been copied to
a temporary by then. A failing check leaves the function at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from outcrop.codegen.bounds import INT64, Interval
from outcrop.codegen.text import bare, braced, indented, integer, is_atom, negated, unsigned
from outcrop.ir.execute import cleared
from outcrop.ir.layout import Layout, encode, leaf_offsets, size
from outcrop.ir.nodes import Put, Variable
from outcrop.ir.system import Function, System
from outcrop.ir.types import INTEGER, Real, Simple, Type

#: Bytes after packed bits that a 64-bit access may touch.
SPARE_BYTES = 8


@dataclass(frozen=True)
class Value:
    """A simple value. ``text`` is an Integer or double, meaningless if undefined. ``defined`` is a condition, None if
    the value is always defined. ``packed``, if known, is the value as a leaf of type ``kind``."""

    text: str
    interval: Interval = INT64
    defined: str | None = None
    packed: str | None = None
    kind: Simple | None = None

    @property
    def constant(self) -> int | None:
        return self.interval.constant if self.defined is None else None


@dataclass(frozen=True)
class Address:
    """Bits in memory: a pointer, a constant position, and terms that are added to it."""

    base: str
    bit: int = 0
    terms: tuple[str, ...] = ()

    def plus(self, bits: int, *terms: str) -> Address:
        return Address(self.base, self.bit + bits, self.terms + terms)

    @property
    def position(self) -> str:
        parts = [unsigned(self.bit), *self.terms] if self.bit or not self.terms else list(self.terms)
        return " + ".join(parts)

    @property
    def text(self) -> str:
        """The two arguments that functions of state.h take."""
        return f"{self.base}, {self.position}"


@dataclass(frozen=True)
class Cell:
    """A C variable that holds a leaf in packed form."""

    name: str


Location = Address | Cell | Value


@dataclass(frozen=True)
class Callee:
    """The interface of a function: its C name and, for a simple result, whether it can be undefined."""

    name: str
    may_be_undefined: bool


@dataclass
class Unit:
    """The common state of the functions of one translation unit."""

    system: System
    layout: Layout
    functions: dict[Function, Callee] = field(default_factory=dict)
    notes: dict[int, int] = field(default_factory=dict)  #: note (see Property) -> its mark in a Context
    prints: bool = False  #: whether put statements record their output
    instances: bool = False  #: whether successors name the rule instance that made them
    puts: list[Put] = field(default_factory=list)
    clear_tables: dict[Type, tuple[str, int]] = field(default_factory=dict)  #: type -> name, packed bits
    shared: dict[str, list[str]] = field(default_factory=dict)  #: functions that several others may call, by name
    widest_buffer: int = 0  #: bytes of the largest complex value that is not part of the state
    has_reals: bool = False

    @cached_property
    def variable_offsets(self) -> dict[Variable, int]:
        """The first bit of each variable in a state."""
        return dict(zip(self.system.variables, self.layout.variable_offsets, strict=True))

    @property
    def integers(self) -> Interval:
        """The bounds of arithmetic."""
        return Interval.of(self.system.integers)

    def buffer(self, name: str, kind: Type) -> str:
        """Returns the declaration of a buffer for a value of a type."""
        self.widest_buffer = max(self.widest_buffer, buffer_bytes(kind))
        return f"BUFFER({name}, {buffer_bytes(kind)})"

    def mark(self, note: int) -> str:
        """Returns the mark in a Context that is set when a note occurs."""
        return f"context->noted[{self.notes.setdefault(note, len(self.notes))}]"

    def put_site(self, node: Put) -> int:
        self.puts.append(node)
        return len(self.puts) - 1

    def cleared(self, kind: Type) -> int:
        """Returns the packed bits of a cleared value: least values, and empty multisets."""
        # By words: changing one huge number for each of a million leaves would take long.
        words: dict[int, int] = {}
        for bit, leaf, value in zip(leaf_offsets(kind), kind.leaves(), cleared(kind), strict=True):
            words[bit // 64] = words.get(bit // 64, 0) | encode(leaf, value) << bit % 64
        data, carried = bytearray(), 0
        for number in range(max(words, default=-1) + 3):
            carried |= words.get(number, 0)
            data += (carried & 2**64 - 1).to_bytes(8, "little")
            carried >>= 64
        return int.from_bytes(data, "little")

    def clear_table(self, kind: Type) -> str:
        self.widest_buffer = max(self.widest_buffer, buffer_bytes(kind))
        name, _ = self.clear_tables.setdefault(kind, (f"cleared_{len(self.clear_tables)}", self.cleared(kind)))
        return name


def buffer_bytes(kind: Type) -> int:
    return -(-size(kind) // 8) + SPARE_BYTES


def fits_leaf(kind: Simple) -> bool:
    """Returns whether a leaf can hold the type. That of arithmetic has too many values next to undefined for a word."""
    return kind != INTEGER


class CannotTry(Exception):
    """Raised when code on trial does more than read."""


class Code:
    """The lines of one function."""

    def __init__(self, unit: Unit, *, is_condition: bool) -> None:
        self.unit = unit
        self.lines: list[str] = []
        self.state = "state"  #: the pointer through which state variables are read and written
        self.can_fail = False
        #: Whether it notes, counts, prints or calls, so that an early or second evaluation is visible.
        self.has_effects = False
        self._is_condition = is_condition
        self._temporaries = 0
        self._unknown: list[str] | None = None  #: on trial: conditions under which the attempt is meaningless

    # --- Lines ---

    def line(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def block(self) -> Iterator[list[str]]:
        """Redirects lines that are written inside to the list."""
        outer, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = outer

    def needed(self, write: Callable[[], None]) -> list[str]:
        """Returns the lines that ``write`` writes for an unused value: none if they can neither fail nor have an
        effect."""
        can_fail, has_effects = self.can_fail, self.has_effects
        temporaries, has_reals = self._temporaries, self.unit.has_reals
        self.can_fail = self.has_effects = False
        with self.block() as lines:
            write()
        is_needed = self.can_fail or self.has_effects
        self.can_fail, self.has_effects = self.can_fail or can_fail, self.has_effects or has_effects
        if not is_needed:
            self._temporaries, self.unit.has_reals = temporaries, has_reals
            lines.clear()
        return lines

    def nest(self, head: str, body: list[str]) -> None:
        self.lines += braced(head, body)

    def branch(self, condition: str, then: list[str], otherwise: list[str]) -> None:
        """Writes an ``if`` statement; an empty branch is left out."""
        if not then and otherwise:
            condition, then, otherwise = negated(condition), otherwise, []
        self.nest(f"if ({bare(condition)})", then)
        if otherwise:
            self.lines[-1] += " else {"
            self.lines += [*indented(otherwise), "}"]

    # --- Temporaries ---

    def name(self, prefix: str = "t") -> str:
        self._temporaries += 1
        return f"{prefix}{self._temporaries}"

    def keep(self, c_type: str, text: str) -> str:
        """Returns the name of a constant that holds ``text``, or the text itself if it is as short."""
        return text if is_atom(text) else self.constant_of(c_type, text)

    def constant_of(self, c_type: str, text: str) -> str:
        name = self.name()
        self.line(f"const {c_type} {name} = {bare(text)};")
        return name

    def buffer(self, kind: Type) -> Address:
        """Returns a buffer for a value of a type, undefined throughout."""
        name = self.name("b")
        self.line(f"{self.unit.buffer(name, kind)} = {{0}};")
        return Address(name)

    # --- Checks ---

    @contextmanager
    def trying(self) -> Iterator[list[str]]:
        """Opens a trial: code that is written inside must not fail, branch, or have effects. Undefined reads go to the
        list; anything else raises ``CannotTry``."""
        assert not self.is_trying
        self._unknown = []
        try:
            yield self._unknown
        finally:
            self._unknown = None

    @property
    def is_trying(self) -> bool:
        return self._unknown is not None

    def only_for_real(self) -> None:
        """Raises ``CannotTry`` during a trial."""
        if self.is_trying:
            raise CannotTry

    def check(self, failure: str) -> None:
        """Writes a check that fails if the condition ``failure`` is true."""
        self.only_for_real()
        self.can_fail = True
        leave = "return -FAILED;" if self._is_condition else "return FAILED;"
        self.line(leave if failure == "1" else f"if (unlikely({bare(failure)})) {leave}")

    def call(self, text: str) -> None:
        """Writes a call of a function that returns a status. A condition that is abandoned is false."""
        self.only_for_real()
        self.can_fail = self.has_effects = True
        status = self.name("status")
        result = f"{status} == FAILED ? -FAILED : 0" if self._is_condition else status
        self.line(f"const int {status} = {text};")
        self.line(f"if (unlikely({status})) return {result};")

    def require(self, value: Value) -> Value:
        """Writes a check that fails if a value is undefined."""
        if value.defined is None:
            return value
        failure = "1" if value.defined == "0" else f"!{value.defined}"
        if self._unknown is None:
            self.check(failure)
            return replace(value, defined=None)
        # The trial continues with the number of an undefined leaf, one less than its least value.
        self._unknown.append(failure)
        return replace(value, defined=None, interval=Interval(value.interval.low - 1, value.interval.high))

    def limit(self, value: Value, interval: Interval) -> Value:
        """Writes a check that fails if a defined value is outside the interval."""
        if value.interval.within(interval):
            return value
        value = replace(value, text=self.keep("Integer", value.text))
        tests = []
        if value.interval.low < interval.low:
            tests.append(f"{value.text} < {integer(interval.low)}")
        if value.interval.high > interval.high:
            tests.append(f"{value.text} > {integer(interval.high)}")
        failure = " || ".join(tests)
        self.check(failure if value.defined is None else f"{value.defined} && ({failure})")
        return replace(value, interval=value.interval.clipped(interval))

    # --- Packed values ---

    def real(self, text: str) -> str:
        """Returns C about reals unchanged, and records that there is some."""
        self.unit.has_reals = True
        return text

    def unpacked(self, kind: Simple, packed: str, *, may_be_undefined: bool) -> Value:
        """Returns the value of a leaf; ``packed`` must be short."""
        is_real = isinstance(kind, Real)
        text = self.real(f"real_of({packed})") if is_real else f"value_of({packed}, {integer(kind.low)})"
        return Value(text, Interval.of(kind), f"({packed} != 0)" if may_be_undefined else None, packed, kind)

    def constant(self, kind: Simple, value: int | float | None) -> Value:
        if value is None:
            return Value("0", Interval(0, 0), "0", "0" if fits_leaf(kind) else None, kind)
        if isinstance(kind, Real):
            return Value(self.real(f"({float(value).hex()})"))
        return Value(integer(int(value)), Interval(int(value), int(value)))

    def packed_as(self, kind: Simple, value: Value) -> str | None:
        """Returns the value as a leaf of ``kind``, if that needs no check."""
        if value.packed is not None and value.kind == kind:
            return value.packed
        if isinstance(kind, Real) or value.constant is None:
            return None
        is_member = kind.cardinality > 0 and kind.low <= value.constant <= kind.high
        return unsigned(encode(kind, value.constant)) if is_member else None

    def pack(self, kind: Simple, value: Value) -> str:
        """Returns the value as a leaf of ``kind``, as an assignment stores it: range-checked, reals rounded."""
        known = self.packed_as(kind, value)
        if known is not None:
            return known
        if isinstance(kind, Real):
            return self._pack_real(kind, value)
        interval = Interval(kind.low, kind.high) if kind.cardinality else Interval(0, -1)
        value = self.limit(value, interval)
        packed = f"packed_of({bare(value.text)}, {integer(kind.low)})"
        return packed if value.defined is None else f"({value.defined} ? {packed} : 0)"

    def _pack_real(self, kind: Real, value: Value) -> str:
        rounded = self.name()
        self.line(f"{self.real('double')} {rounded} = 0;")
        rounding = f"!round_real({bare(value.text)}, {kind.digits}, {kind.max_exponent}, &{rounded})"
        if value.defined is None:
            self.check(rounding)
            return f"packed_real({rounded})"
        self.check(f"{value.defined} && {rounding}")
        return f"({value.defined} ? packed_real({rounded}) : 0)"
