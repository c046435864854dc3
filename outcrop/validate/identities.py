"""Identities of a log that the model does not name, such as host names, as values of scalarsets.

The values of a scalarset are interchangeable: if a log is a run under one choice of values for its identities, it is a
run under every other choice. So the first free value will do, and no search over choices is needed. Values that the log
names itself are not free. They are known only when the log has been read, so a value that turns out to be named after
it was given away starts the log again, with that value reserved.
"""

from __future__ import annotations

from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.ir.types import Scalarset


class Conflict(Exception):
    """Raised when a log names a value that one of its identities has been given. Start the log again."""


class Identities:
    """The values given to the identities of one log."""

    def __init__(self, system: System) -> None:
        self._scalarsets = {} if system.orders_scalarsets else {each.uid: each for each in system.scalarsets}
        self._given: dict[int, dict[str, int]] = {}
        self._reserved: dict[int, set[int]] = {}

    def forget(self) -> None:
        """Forgets the values given, but not those reserved; for a log that is read again."""
        self._given.clear()

    @property
    def shown(self) -> dict[str, str]:
        """The value of each identity, by their names."""
        return {
            name: self._scalarsets[uid].show(each) for uid, given in self._given.items() for name, each in given.items()
        }

    def known(self, scalarset: Scalarset, name: str) -> int | None:
        """Returns the ordinal that the model, or an earlier line, gives to a name."""
        names = [scalarset.show(each) for each in range(scalarset.size)]
        if name not in names:
            return self._given.get(scalarset.uid, {}).get(name)
        ordinal = names.index(name)
        if ordinal in self._given.get(scalarset.uid, {}).values():
            self._reserved.setdefault(scalarset.uid, set()).add(ordinal)
            raise Conflict
        self._reserved.setdefault(scalarset.uid, set()).add(ordinal)
        return ordinal

    def bind(self, scalarset: Scalarset, name: str) -> int | None:
        """Gives a new identity the first free ordinal; returns None if the values are not interchangeable."""
        if scalarset.uid not in self._scalarsets:
            return None
        given = self._given.setdefault(scalarset.uid, {})
        taken = {*given.values(), *self._reserved.get(scalarset.uid, ())}
        free = [each for each in range(scalarset.size) if each not in taken]
        if not free:
            raise UsageError(
                f"'{name}' is one identity too many: {scalarset} has {scalarset.size} values. Give the model more, or "
                "translate names with --map"
            )
        given[name] = free[0]
        return free[0]
