"""The state log of a search past RAM: the states of all levels, one after the other, in the form that it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from outcrop.kernels import Search, States
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import WorkDirectory

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Size of a block that is expanded at a time, in bytes.
_BLOCK_BYTES = 1 << 17


class PackedLog:
    """The state log of a search with squeezed states. Its file holds states as the model packs them."""

    def __init__(self, log: RowFile, search: Search) -> None:
        self._log = log
        self._search = search
        self.block_rows = log.block_rows
        self.file = log.file

    def __len__(self) -> int:
        return len(self._log)

    def append(self, states: States) -> None:
        self._log.append(self._search.packed_form(states))

    def blocks(self, begin: int, end: int) -> Iterator[States]:
        return map(self._search.kept_form, self._log.blocks(begin, end))


def open_log(explorer: Explorer, directory: WorkDirectory) -> RowFile | PackedLog:
    """Opens the state log of a search."""
    width = explorer.native.state_bytes
    log = explorer.open_log(directory, log_block_rows(width))
    return log if log.width == width else PackedLog(log, explorer.search)


def log_block_rows(width: int) -> int:
    """Returns the number of states in a block of the log."""
    return max(256, _BLOCK_BYTES // width)
