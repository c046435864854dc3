"""Reduction of automata by simulation (Somenzi and Bloem, CAV 2000).

State t simulates s if for every transition of s it has one that asks for no more, promises no more, and leads to a
state that simulates the target. States that simulate each other are merged. A transition is dropped if another one of
the same state can do all that it can. The same is done backwards, with the transitions that enter a state.
"""

from __future__ import annotations

from outcrop.ltl.tableau import Edge

#: Largest number of pairs of transitions that are compared. Beyond it only states with equal transitions merge.
MAX_PAIRS = 2_000_000

#: Largest number of propositions for which labels are compared by the assignments that satisfy them.
MAX_COVERED = 6

Edges = list[list[Edge]]
#: For each state, the set of states that simulate it, as bits.
Relation = list[int]


def reduce(edges: Edges, thorough: bool) -> Edges:
    """Returns an automaton with the same language; state 0 stays the initial one. ``thorough`` also finds transitions
    that only several others together can replace, and takes longer."""
    while True:
        before = size(edges)
        edges = merge_labels(reachable(edges))
        if _too_large(edges):
            return _merge_alike(edges)
        edges = _apply(edges, [0] * len(edges), thorough)
        edges = reachable(_reduce_backwards(edges, thorough))
        if size(edges) >= before:
            return edges


def size(edges: Edges) -> tuple[int, int]:
    """Returns the numbers of states and transitions."""
    return len(edges), sum(map(len, edges))


def _too_large(edges: Edges) -> bool:
    return sum(map(len, edges)) ** 2 > MAX_PAIRS


def _reduce_backwards(edges: Edges, thorough: bool) -> Edges:
    """Reduces by the transitions that enter a state. The initial state stays alone. States with different promises stay
    apart; in a Büchi automaton these are the accepting ones and the others."""
    entering: Edges = [[] for _ in edges]
    for state, leaving in enumerate(edges):
        for each in leaving:
            entering[each.target].append(Edge(each.label, each.promises, state))
    colours = [min((each.promises for each in leaving), default=0) for leaving in edges]
    colours[0] = -1
    entering = _apply(entering, colours, thorough)
    result: Edges = [[] for _ in entering]
    for state, arriving in enumerate(entering):
        for each in arriving:
            result[each.target].append(Edge(each.label, each.promises, state))
    return result


def _weaker_targets(edges: Edges) -> dict[tuple[int, int], list[int]]:
    """Returns, for each label and promises, the states that each state reaches asking for and promising no more, as
    bits."""
    kinds: dict[tuple[int, int], list[int]] = {(each[0], each[1]): [] for leaving in edges for each in leaving}
    for (label, promises), targets in kinds.items():
        for leaving in edges:
            bits = 0
            for other_label, other_promises, target in leaving:
                if not (other_label & ~label or other_promises & ~promises):
                    bits |= 1 << target
            targets.append(bits)
    return kinds


def _simulation(edges: Edges, colours: list[int], minterms: Minterms) -> Relation:
    """Returns the greatest simulation among states of the same colour."""
    weaker = _weaker_targets(edges)
    moves = [[(weaker[each[0], each[1]], each[2]) for each in leaving] for leaving in edges]
    classes: dict[int, int] = {}
    for state, colour in enumerate(colours):
        classes[colour] = classes.get(colour, 0) | 1 << state
    relation = [classes[colour] for colour in colours]
    changed = True
    while changed:
        changed = False
        for state, leaving in enumerate(moves):
            others = relation[state] & ~(1 << state)
            while others:
                other = others.bit_length() - 1
                others ^= 1 << other
                for number, (targets, target) in enumerate(leaving):
                    if not (
                        targets[other] & relation[target]
                        or _covered(edges[state][number], edges[other], relation, minterms)
                    ):
                        relation[state] ^= 1 << other
                        changed = True
                        break
    return relation


class Minterms:
    """For each label, the assignments to the propositions that satisfy it, as bits, to decide whether several labels
    together cover another one. Empty if there are too many propositions."""

    def __init__(self, edges: Edges) -> None:
        labels = {each.label for leaving in edges for each in leaving}
        count = max((label.bit_length() + 1 for label in labels), default=0) // 2
        self.sets: dict[int, int] = {}
        if count <= MAX_COVERED:
            everything = (1 << (1 << count)) - 1
            # Bit a of a mask is assignment a; proposition i is true in every second range of 2^i assignments.
            positive = [everything // ((1 << (1 << index)) + 1) << (1 << index) for index in range(count)]
            signs = [mask for each in positive for mask in (each, everything ^ each)]
            for label in labels:
                mask = everything
                for bit, sign in enumerate(signs):
                    if label >> bit & 1:
                        mask &= sign
                self.sets[label] = mask


def _covered(edge: Edge, candidates: list[Edge], relation: Relation, minterms: Minterms) -> bool:
    """Returns whether every position that allows the edge allows one of the candidates, which promise no more and lead
    to states that can do more."""
    if not minterms.sets:
        return False
    left, promises, better = minterms.sets[edge.label], ~edge.promises, relation[edge.target]
    for each in candidates:
        if better >> each.target & 1 and not each.promises & promises:
            left &= ~minterms.sets[each.label]
            if not left:
                return True
    return False


def _apply(edges: Edges, colours: list[int], thorough: bool) -> Edges:
    """Merges and prunes. Merged states are left behind without transitions."""
    minterms = Minterms(edges if thorough else [])
    relation = _simulation(edges, colours, minterms)
    leader = [_leader(state, relation) for state in range(len(edges))]
    result: Edges = [[] for _ in edges]
    for state, leaving in enumerate(edges):
        if leader[state] == state:
            moved = sorted({Edge(label, promises, leader[target]) for label, promises, target in leaving})
            kept = [
                one for one in moved if not any(other is not one and _beats(other, one, relation) for other in moved)
            ]
            for each in [*kept]:
                others = [other for other in kept if other is not each]
                if _covered(each, others, relation, minterms):
                    kept = others
            result[state] = kept
    return result


def _leader(state: int, relation: Relation) -> int:
    """Returns the first of the states that simulate this one and are simulated by it."""
    return next(other for other in range(state + 1) if relation[state] >> other & relation[other] >> state & 1)


def _beats(one: Edge, other: Edge, relation: Relation) -> bool:
    """Returns whether ``one`` asks for no more, promises no more, and leads to a state that can do more."""
    return not (one.label & ~other.label or one.promises & ~other.promises) and bool(
        relation[other.target] >> one.target & 1
    )


def separate(edges: Edges) -> Edges:
    """Makes transitions exclude one another where that takes one more literal. Where q holds, a transition is not
    needed next to one with the label q that can do all that it can. A search then has fewer runs to follow."""
    relation = [1 << state for state in range(len(edges))]
    if not _too_large(edges):
        relation = _simulation(edges, [0] * len(edges), Minterms([]))
    return [_separate_leaving(leaving, relation) for leaving in edges]


def _separate_leaving(leaving: list[Edge], relation: Relation) -> list[Edge]:
    result = sorted(leaving)
    for index, edge in enumerate(result):
        for other in result:
            extra = other.label & ~edge.label
            if (
                other is not edge
                and extra.bit_count() == 1
                and not other.promises & ~edge.promises
                and relation[edge.target] >> other.target & 1
            ):
                opposite = 1 << (extra.bit_length() - 1 ^ 1)
                edge = edge._replace(label=edge.label | opposite)
                result[index] = edge
    return result


def _merge_alike(edges: Edges) -> Edges:
    """Merges states with equal transitions until nothing changes."""
    while True:
        first: dict[frozenset[Edge], int] = {}
        leader = [first.setdefault(frozenset(leaving), state) for state, leaving in enumerate(edges)]
        if len(first) == len(edges):
            return edges
        edges = reachable(
            [sorted({Edge(each.label, each.promises, leader[each.target]) for each in leaving}) for leaving in edges]
        )


def reachable(edges: Edges) -> Edges:
    """Renumbers the states from the initial one on, and drops unreachable ones."""
    numbers = {0: 0}
    waiting = [0]
    for state in waiting:
        for each in sorted(edges[state]):
            if each.target not in numbers:
                numbers[each.target] = len(numbers)
                waiting.append(each.target)
    return [[Edge(each.label, each.promises, numbers[each.target]) for each in edges[state]] for state in waiting]


def merge_labels(edges: Edges) -> Edges:
    """Merges two transitions to the same state whose labels differ only in the sign of one proposition."""
    return [_merge_opposites(leaving) for leaving in edges]


def _merge_opposites(leaving: list[Edge]) -> list[Edge]:
    left = {*leaving}
    waiting = sorted(left)
    while waiting:
        edge = waiting.pop()
        if edge not in left:
            continue
        label = edge.label
        while label:
            bit = label & -label
            label ^= bit
            position = bit.bit_length() - 1
            opposite = edge._replace(label=edge.label ^ bit ^ 1 << (position ^ 1))
            if opposite in left:
                left -= {edge, opposite}
                joined = edge._replace(label=edge.label ^ bit)
                left.add(joined)
                waiting.append(joined)
                break
    return sorted(left)
