"""Ends of queues: which instances append to a queue, and which take from it, and use it in no other way.

Where an instance of each kind is enabled, the queue is neither full nor empty. The one appends behind the item that the
other looks at or removes, and neither changes whether the other is enabled, so that both accord.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop.ir.layout import encode
from outcrop.ir.system import QueueEnd, Rule, System
from outcrop.ir.types import Array
from outcrop.reduction.effects import TooLarge, Tracer
from outcrop.reduction.leaves import Known, mask_of

if TYPE_CHECKING:
    from outcrop.reduction.instances import Instance


def ends_of(system: System, rule: Rule, each: Instance, known: Known) -> dict[int, bool]:
    """Returns the leaves of queues of which an instance uses one end alone, with whether it appends to the queue.
    ``known``: values that leaves have where its guard is true."""
    return dict(found for end in rule.ends if (found := _use(system, rule, each, known, end)) is not None)


def _use(system: System, rule: Rule, each: Instance, known: Known, end: QueueEnd) -> tuple[int, bool] | None:
    tracer = Tracer(system, rule, each.arguments, known)
    try:
        places = [tracer.place(place) for place in (end.length, end.items) if place is not None]
    except TooLarge:
        return None
    starts = [place.single for place in places if place.single is not None]
    # A later statement of a body may find another queue there than the first.
    if len(starts) != len(places) or tracer.effects.reads & each.effects.writes:
        return None
    length, *items = starts
    leaves, oldest = 1 << length, 0
    for start in items:
        assert end.items is not None and isinstance(end.items.type, Array)
        leaves |= mask_of((start,), end.items.type.leaf_count)
        oldest = mask_of((start,), end.items.type.element.leaf_count)
    kind = system.leaf_types[length]
    lengths = range(kind.low, kind.low + kind.cardinality)
    lengths = lengths[:-1] if end.appends else lengths[1:]
    if each.demands.get(length, -1) & ~sum(1 << encode(kind, value) for value in lengths):
        return None  # it is enabled where the other end is not
    looks = _looks_at(system, rule, each, length, lengths, leaves)
    if looks & ~oldest or (looks and end.appends):
        return None
    body = rule.body[: end.statements.start] + rule.body[end.statements.stop :]
    known = {leaf: value for leaf, value in known.items() if not each.effects.writes >> leaf & 1}
    others = Tracer(system, rule, each.arguments, known).body(body)
    return None if (others.reads | others.writes) & leaves else (leaves, end.appends)


def _looks_at(system: System, rule: Rule, each: Instance, length: int, lengths: Sequence[int], leaves: int) -> int:
    """Returns the leaves of a queue that the guard of an instance looks at. A conjunct that is true with each of
    ``lengths`` does not count."""
    whole = 0
    for conjunct in each.conjuncts:
        if conjunct.reads & leaves:
            outside = {leaf: value for leaf, value in conjunct.known.items() if not leaves >> leaf & 1}
            tracers = (Tracer(system, rule, each.arguments, {**outside, length: value}) for value in lengths)
            try:
                is_true = all(tracer.value(conjunct.node) == 1 for tracer in tracers)
            except TooLarge:
                is_true = False
            whole |= 0 if is_true else conjunct.reads & leaves
    return whole
