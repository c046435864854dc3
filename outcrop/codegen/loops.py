"""Loops over domains and over the slots of a multiset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from outcrop.codegen.bounds import Interval
from outcrop.codegen.code import Address, Value
from outcrop.codegen.places import Places
from outcrop.codegen.text import bare
from outcrop.ir.layout import slot_size
from outcrop.ir.nodes import Domain, Local, TypeDomain
from outcrop.ir.types import INTEGER, Multiset


class Loops(Places):
    """Writes the heads of loops; lines written inside the ``with`` are the body."""

    @contextmanager
    def loop(self, variable: Local, domain: Domain) -> Iterator[None]:
        """Writes a loop over the values of a domain, in order."""
        if isinstance(domain, TypeDomain):
            first, last, step = (self.constant(INTEGER, each) for each in (domain.type.low, domain.type.high, 1))
        else:
            nodes = (domain.first, domain.last, domain.step)
            first, last, step = (
                self.constant(INTEGER, 1) if node is None else self.frozen(self.require(self.value(node)), INTEGER)
                for node in nodes
            )
        name = self.name("i")
        if step.interval.low <= 0 <= step.interval.high:
            self.check(f"{step.text} == 0")
        upwards, downwards = f"{name} <= {last.text}", f"{name} >= {last.text}"
        if step.interval.low >= 0:
            condition, interval = upwards, Interval(first.interval.low, last.interval.high)
        elif step.interval.high <= 0:
            condition, interval = downwards, Interval(last.interval.low, first.interval.high)
        else:
            condition = f"{step.text} > 0 ? {upwards} : {downwards}"
            interval = first.interval.joined(last.interval)
        if interval.low > interval.high:
            interval = self.unit.integers  # it never runs
        reach = Interval(interval.low + min(step.interval.low, 0), interval.high + max(step.interval.high, 0))
        head = f"for (Integer {name} = {bare(first.text)}; {condition};"
        value = Value(name, interval)
        if reach.within(self.unit.integers):
            with self._body(f"{head} {name} += {bare(step.text)})", variable, value):
                yield
        else:
            with self._body(f"{head})", variable, value):
                yield
                self.line(f"if (__builtin_add_overflow({name}, (Integer){step.text}, &{name})) break;")

    @contextmanager
    def _body(self, head: str, variable: Local, value: Value) -> Iterator[None]:
        with self.block() as lines:
            self.bind(variable, value)
            yield
        self.nest(head, lines)

    @contextmanager
    def used_slots(self, variable: Local, multiset: Address, kind: Multiset) -> Iterator[Address]:
        """Writes a loop over the slots in use, and yields the address of the slot."""
        name = self.name("i")
        slot = multiset.plus(0, f"{slot_size(kind)} * (uint64_t){name}")
        with self.block() as lines:
            self.bind(variable, Value(name, Interval(0, kind.capacity - 1)))
            yield slot
        head = f"for (Integer {name} = 0; {name} < {kind.capacity}; {name}++)"
        with self.block() as body:
            self.nest(f"if ({self.slot_flag(slot)})", lines)
        self.nest(head, body)
