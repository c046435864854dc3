"""Symbolic names: the numbers of ``mtype`` names, and whether variables of that type hold nothing else.

SPIN gives an ``mtype`` variable a byte, which can hold any number. Where a model stores only names into such variables,
they need fewer bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.lang.promela import syntax


def numbered(lists: list[syntax.MtypeList]) -> Iterator[tuple[syntax.Name, int]]:
    """Yields all names with their numbers. The last name of a list has the least number, as in SPIN."""
    used: dict[str, int] = {}
    for each in lists:
        for name in reversed(each.names):
            used[each.subtype] = used.get(each.subtype, 0) + 1
            yield name, used[each.subtype]


def is_mtype(kind: syntax.Name) -> bool:
    """Returns whether the name of a type is ``mtype``, or that of a named mtype: ``mtype:fruit``."""
    return kind.text.partition(":")[0] == "mtype"


def labels_of(lists: list[syntax.MtypeList]) -> dict[str, tuple[str, ...]]:
    """Returns the names of the values from 0 on, for the name of each mtype."""
    labels: dict[str, list[str]] = {"mtype": ["0"]}
    for each in lists:
        known = labels.setdefault(f"mtype:{each.subtype}" if each.subtype else "mtype", ["0"])
        known += [name.text for name in reversed(each.names)]
    return {name: tuple(known) if len(known) > 1 else () for name, known in labels.items()}


def hold_names_only(model: syntax.Model) -> bool:
    """Returns whether everything that is stored into an ``mtype`` is a name or comes from another ``mtype``."""
    return _Stores(model).are_names()


class _Stores:
    def __init__(self, model: syntax.Model) -> None:
        self._names = {name.text for each in model.mtypes for name in each.names}
        self._variables: set[str] = set()
        self._others: set[str] = set()
        self._positions: dict[int, set[bool]] = {}  #: whether message fields are mtypes
        self._nodes = [model.declarations, model.typedefs, model.proctypes]
        for node in syntax.walk(self._nodes):
            if isinstance(node, syntax.Declaration):
                kind = self._variables if is_mtype(node.type) else self._others
                kind |= {each.name.text for each in node.declarators}
            if isinstance(node, syntax.ChannelValue):
                for at, name in enumerate(node.types):
                    self._positions.setdefault(at, set()).add(is_mtype(name))

    def are_names(self) -> bool:
        if self._variables & self._others:
            return False
        return all(map(self._is_harmless, syntax.walk(self._nodes)))

    def _is_harmless(self, node: object) -> bool:
        match node:
            case syntax.Assignment():
                return not self._is_mtype(node.target) or self._is_name(node.value)
            case syntax.Send():
                pairs = enumerate(node.arguments)
                return all(True not in self._positions.get(at, ()) or self._is_name(each) for at, each in pairs)
            case syntax.Receive():
                pairs = enumerate(node.arguments)
                return all(False not in self._positions.get(at, ()) or not self._is_mtype(each) for at, each in pairs)
            case syntax.Run():
                return not self._variables or not node.arguments or all(map(self._is_name, node.arguments))
            case syntax.Declaration() if is_mtype(node.type):
                values = [each.initial for each in node.declarators if each.initial is not None]
                return all(map(self._is_name, values))
        return True

    def _is_mtype(self, node: object) -> bool:
        while isinstance(node, syntax.Reference):
            if node.next is None:
                return node.name.text in self._variables
            node = node.next
        return False

    def _is_name(self, node: object) -> bool:
        if isinstance(node, syntax.Conditional):
            return self._is_name(node.then) and self._is_name(node.otherwise)
        if isinstance(node, syntax.Number):
            return node.value == 0
        if isinstance(node, syntax.Reference) and node.next is None and node.name.text in self._names:
            return True
        return self._is_mtype(node)
