"""Lines of a log as bits: the rule instances that a line may mean, and the bits of the state that it shows.

A million lines are encoded one by one, so that what repeats is looked up: the parts of a line by their text, and the
bits of a variable by its value.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from outcrop.errors import UsageError
from outcrop.ir.layout import Layout, encode
from outcrop.ir.system import Instantiable, Rule, System
from outcrop.ir.types import Multiset
from outcrop.kernels.observe import Label
from outcrop.kernels.states import States
from outcrop.validate.identities import Identities
from outcrop.validate.logs import Record, parsed
from outcrop.validate.mapping import EventMapping
from outcrop.validate.values import Impossible, Values

#: Largest number of values that are remembered, and of bytes of states as text.
_MOST_KNOWN = 1 << 18
_MOST_TEXT = 128 << 20
#: The beginning of the state in a line, and what may follow it: numbers, up to the end of the line.
_STATE = b'"state": '
_REST = re.compile(rb'\}(?:\s*,\s*"\w+"\s*:\s*-?[\d.eE+-]+)*\s*\}$')
_OBSERVED = re.compile(rb'"(?:rule|arguments|state|event)"')
_ARGUMENT = re.compile(r"(\w+): (.+)")


class Line(NamedTuple):
    """A line as bits. ``label`` is None if it names no rule. ``starts``: the label of the start states that it
    may mean. ``impossible``: why no state agrees with it."""

    label: int | None
    mask: int
    values: bytes
    starts: int | None = None
    impossible: str = ""


class Encoder:
    """The encoding of one log. ``normalise`` brings packed states into normal form, which sorts multisets."""

    def __init__(self, system: System, mapping: EventMapping, normalise: Callable[[bytes], bytes]) -> None:
        self.system = system
        self._mapping = mapping
        self._normalise = normalise
        self.labels: dict[Label, int] = {}  #: their numbers
        self.masks: dict[int, int] = {}
        self._has_multisets = any(isinstance(part, Multiset) for each in system.variables for part in each.type.parts())
        self._layout = Layout(self.system)
        self._size = self._layout.byte_count
        self._first_instance: dict[int, int] = {}
        first = 0
        for rule in system.rules:
            self._first_instance[id(rule)] = first
            first += rule.instance_count
        self.instance_count = first
        self.any_rule = self._label_number(Label(0, first))
        self.any_start = self._label_number(Label(0, sum(each.instance_count for each in system.start_states)))
        self.no_rule = self._label_number(Label(0, 0))
        self.begin()

    def begin(self, identities: Identities | None = None) -> None:
        """Prepares for a log, or for reading it again with the values that ``identities`` has reserved."""
        self.identities = identities or Identities(self.system)
        self.identities.forget()
        self._values = Values(self.system, self.identities, self._mapping.values)
        self._heads: dict[bytes, tuple[int | None, int | None]] = {}
        self._states: dict[bytes, tuple[int, bytes]] = {}
        self._room = _MOST_TEXT
        self._bits: dict[tuple[type, str, Any], tuple[int, int]] = {}
        self._rules: dict[Any, tuple[int | None, int | None]] = {}

    def line(self, record: Record) -> Line | None:
        """Returns a record as bits; None if it shows nothing."""
        if not isinstance(record, bytes):
            return self._encode(record)
        found = None if self._mapping.events else self._by_parts(record)
        return found or self._encode(parsed(record))

    def _by_parts(self, record: bytes) -> Line | None:
        """Returns a line whose parts are known: the text before its state, and the text of its state. Numbers after the
        state, such as a clock or a time, are left out. None if the line must be read as a whole.

        Both parts are read as objects of their own before they are known. So the state is that of the line, and no
        part of a text or of another object."""
        at = record.find(_STATE)
        rest = _REST.search(record) if at > 0 else None
        if rest is None or rest.start() < at or _OBSERVED.search(rest[0]):
            return None
        if record[at + len(_STATE) : rest.start() + 1] == b"{}":
            return None
        head, text = record[:at], record[at + len(_STATE) : rest.start() + 1]
        try:
            label, starts = self._heads.get(head) or self._head(head)
            mask, values = self._states.get(text) or self._state_text(text)
        except (ValueError, Impossible):
            return None
        return Line(label, mask, values, starts)

    def _head(self, head: bytes) -> tuple[int | None, int | None]:
        record = json.loads(head.rstrip(b", \t") + b"}")
        rule = record.get("rule", record.get("event"))
        found = (None, None) if rule is None else self._rule(rule, record.get("arguments") or ())
        if len(self._heads) < _MOST_KNOWN:
            self._heads[head] = found
        return found

    def _state_text(self, text: bytes) -> tuple[int, bytes]:
        mask, values = self._state(json.loads(text))
        found = self.masks.setdefault(mask, len(self.masks)), values.to_bytes(self._size, "little")
        if self._room >= len(text):
            self._room -= len(text)
            self._states[text] = found
        return found

    def _encode(self, record: dict[str, Any]) -> Line | None:
        line = self._mapping.translate(record)
        if line is None:
            return None
        state, rule = line.get("state"), line.get("rule")
        if not state and rule is None:
            return None
        try:
            label, starts = (None, None) if rule is None else self._rule(rule, line.get("arguments") or ())
            mask, values = self._state(state or {})
        except Impossible as error:
            number = self.masks.setdefault(0, len(self.masks))
            return Line(self.no_rule, number, bytes(self._size), impossible=str(error))
        return Line(label, self.masks.setdefault(mask, len(self.masks)), values.to_bytes(self._size, "little"), starts)

    # --- States ---

    def _state(self, state: Any) -> tuple[int, int]:
        if not isinstance(state, dict):
            raise UsageError("'state' must be an object with values of variables")
        mask = values = 0
        known = self._bits
        for name, value in state.items():
            simple = value.__class__
            is_plain = simple is int or simple is str or simple is bool
            key = (simple, name, value if is_plain else marshal.dumps(value))  # 1 and true are equal in Python
            bits = known.get(key)
            if bits is None:
                bits = self._bits_of(name, value)
                if len(known) < _MOST_KNOWN:
                    known[key] = bits
            if mask & bits[0] and (values ^ bits[1]) & mask & bits[0]:
                raise UsageError(f"the line shows two values of '{name}'")
            mask |= bits[0]
            values |= bits[1]
        return mask, values

    def _bits_of(self, name: str, value: Any) -> tuple[int, int]:
        """Returns the mask and the bits of a variable or a part of one."""
        mask = bits = 0
        for number, leaf in self._values.leaves(name, value):
            bit, width, kind = self._layout.leaves[number]
            mask |= (1 << width) - 1 << bit
            bits |= encode(kind, leaf) << bit
        if mask and self._has_multisets:
            bits = int.from_bytes(self._normalise(bits.to_bytes(self._size, "little")), "little") & mask
        return mask, bits

    @property
    def mask_rows(self) -> States:
        """The bits that each mask selects, as rows."""
        rows = b"".join(each.to_bytes(self._size, "little") for each in self.masks)
        return np.frombuffer(rows, dtype=np.uint8).reshape(len(self.masks), self._size)

    # --- Rules ---

    def _label_number(self, label: Label) -> int:
        return self.labels.setdefault(label, len(self.labels))

    def _rule(self, name: Any, arguments: Any) -> tuple[int | None, int | None]:
        """Returns the label of the rules with a name, and that of the start states with it."""
        key = name, marshal.dumps(arguments)
        if key not in self._rules:
            self._rules[key] = self._find_rule(str(name), arguments)
        return self._rules[key]

    def _find_rule(self, name: str, arguments: Any) -> tuple[int | None, int | None]:
        name, listed = self._split(name)
        if listed and arguments:
            raise UsageError(f"the line gives the arguments of '{name}' twice")
        rules = [each for each in self.system.rules if each.name == name]
        starts = [each for each in self.system.start_states if each.name == name]
        given = listed or arguments
        found = [self._first_instance[id(rule)] + at for rule in rules for at in self._instances(rule, given)]
        label = None if not rules else self._label_number(_label(found))
        begun, first = [], 0
        for start in self.system.start_states:
            begun += [first + at for at in self._instances(start, given)] if start in starts else []
            first += start.instance_count
        return label, self._label_number(_label(begun)) if starts else None

    def _split(self, text: str) -> tuple[str, dict[str, str]]:
        """Splits a label, as traces print it, into a name and arguments: ``Grant, n: 2``."""
        names = {each.name for each in (*self.system.rules, *self.system.start_states)}
        parts = text.split(", ")
        for count in range(len(parts), 0, -1):
            pairs = [_ARGUMENT.fullmatch(each) for each in parts[count:]]
            if ", ".join(parts[:count]) in names and all(pairs):
                return ", ".join(parts[:count]), {pair[1]: pair[2] for pair in pairs if pair}
        close = get_close_matches(text, names, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else "; 'outcrop show' lists the rules"
        raise UsageError(f"the model has no rule '{text}'{hint}")

    def _instances(self, rule: Instantiable, arguments: Any) -> Iterator[int]:
        """Yields the numbers of the instances that agree with arguments, given by name or, all of them, in order."""
        names = [each.local.name for each in rule.parameters]
        if isinstance(arguments, Sequence) and not isinstance(arguments, str):
            if arguments and len(arguments) != len(names):
                raise UsageError(f"'{rule.name}' has {len(names)} parameters, and the line gives {len(arguments)}")
            arguments = dict(zip(names, arguments, strict=False))
        if not isinstance(arguments, dict):
            raise UsageError("'arguments' must be an object with the parameters of the rule, or a list")
        unknown = [each for each in arguments if each not in names]
        if unknown:
            listed = f"it has {', '.join(names)}" if names else "it has none"
            raise UsageError(f"'{rule.name}' has no parameter '{unknown[0]}'; {listed}")
        wanted = {
            at: self._values.leaf(each.type, arguments[each.local.name], f"{rule.name}'s {each.local.name}")
            for at, each in enumerate(rule.parameters)
            if arguments.get(each.local.name) is not None
        }
        for number, values in enumerate(rule.instances()):
            if all(values[at] == value for at, value in wanted.items()):
                yield number

    def instances_of(self, names: Sequence[str]) -> list[int]:
        """Returns all instances of the rules with these names; all rules if there are none."""
        rules: Sequence[Rule] = self.system.rules
        if names:
            for name in names:
                self._split(name)
            rules = [each for each in rules if each.name in names]
        firsts = ((self._first_instance[id(rule)], rule.instance_count) for rule in rules)
        return [number for first, count in firsts for number in range(first, first + count)]


def _label(instances: list[int]) -> Label:
    if not instances:
        return Label(0, 0)
    first, end = min(instances), max(instances) + 1
    return Label(first, end, None if end - first == len(instances) else tuple(sorted(instances)))
