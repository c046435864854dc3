"""The kernels of a search over several ranks, as Python objects.

Each state belongs to one rank, its owner. Successors that belong to others stay with the worker that generated them,
grouped by owner, until they are sent.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from outcrop.kernels import SPARE_BYTES, Counts, Search, States

_FUNCTIONS = (
    "outcrop_route",
    "outcrop_sample_steps",
    "outcrop_filter",
    "outcrop_lacks_room",
    "outcrop_make_room",
    "outcrop_expand_part",
    "outcrop_add_message",
    "outcrop_most_packed",
    "outcrop_write_message",
    "outcrop_read_message",
    "outcrop_outgoing",
    "outcrop_take_outgoing",
    "outcrop_owners",
    "outcrop_count_foreign",
)


#: Packed states, preceded by their number and followed by spare bytes; see native/messages.c.
Message = NDArray[np.uint8]
_HEAD_BYTES = 8
#: Size of a message, in bytes: usual, smallest, and for all messages together, which limits it with many ranks.
_MESSAGE_BYTES = 1 << 18
_LEAST_MESSAGE_BYTES = 1 << 12
_ALL_MESSAGES_BYTES = 1 << 25


def sample_steps(search: Search, seed: int, steps: int, length: int, apart: int = 1) -> tuple[States, States]:
    """Returns the states before and after every ``apart``-th step of random walks of at most ``length`` steps.

    Walks start at states from all over the arena, in order, or at start states if it is empty. Nothing is counted."""
    width, most = search.native.model_bytes, steps // apart
    before, after = (np.empty(most * width + SPARE_BYTES, dtype=np.uint8) for _ in range(2))
    count = search.native.library_with(_FUNCTIONS).outcrop_sample_steps(
        *(search.handle, seed, steps, length, apart, before.ctypes.data, after.ctypes.data),
    )
    return before[: count * width].reshape(count, width), after[: count * width].reshape(count, width)


class Route:
    """The partition of the states of a search among ranks. ``bits``: number of hash bits that select the owner.
    ``parts``: masks of a state whose parities select the owner instead."""

    def __init__(self, search: Search, rank: int, ranks: int, bits: int = 64, parts: States | None = None) -> None:
        self._search = search
        self._library = search.native.library_with(_FUNCTIONS)
        masks = search.native.packed_states(0) if parts is None else np.ascontiguousarray(parts)
        if not self._library.outcrop_route(search.handle, rank, ranks, bits, len(masks), masks.ctypes.data):
            raise MemoryError("no memory for a search over several ranks")
        self._most_packed = int(self._library.outcrop_most_packed())
        room = min(_MESSAGE_BYTES, max(_LEAST_MESSAGE_BYTES, _ALL_MESSAGES_BYTES // (ranks * search.workers)))
        #: Number of states that make a message, unless a level ends.
        self.batch = max(1, room // search.native.model_bytes)
        self._counts = [np.zeros(ranks, dtype=np.uint64) for _ in range(search.workers)]

    def size_filter(self, count: int) -> None:
        """Sets the size of the filter of recently sent states, in bytes. No worker may be running."""
        self._library.outcrop_filter(self._search.handle, count)

    def lacks_room(self, states: int) -> bool:
        """Returns whether the visited set must grow to hold ``states`` states, and can."""
        return bool(self._library.outcrop_lacks_room(self._search.handle, states))

    def make_room(self, worker: int) -> None:
        """Lets the visited set grow. All workers call it at the same time, between levels."""
        self._library.outcrop_make_room(self._search.handle, worker)

    def expand_part(self, worker: int, blocks: int) -> bool:
        """Expands blocks of the current level in the arena, until they fill a message. Returns whether there may be
        more."""
        return bool(self._library.outcrop_expand_part(self._search.handle, worker, blocks, self.batch))

    def add(self, worker: int, message: Message) -> None:
        """Handles states that other ranks have sent as successors."""
        self._library.outcrop_add_message(self._search.handle, worker, message.ctypes.data)

    def outgoing(self, worker: int) -> Counts:
        """Returns the number of states that a worker has for each rank. The array is reused by the next call."""
        counts = self._counts[worker]
        self._library.outcrop_outgoing(self._search.handle, worker, counts.ctypes.data)
        return counts

    def most_bytes(self, count: int) -> int:
        """Returns the largest size of a message of ``count`` states, in bytes, including spare bytes."""
        return _HEAD_BYTES + count * self._most_packed + SPARE_BYTES

    def take(self, worker: int, rank: int, message: Message) -> int:
        """Makes a message of the states that a worker has for a rank. Returns its length."""
        return int(self._library.outcrop_take_outgoing(self._search.handle, worker, rank, message.ctypes.data))

    def write(self, states: States, message: Message) -> int:
        """Makes a message of states that lie anywhere. Returns its length."""
        return int(self._library.outcrop_write_message(states.ctypes.data, len(states), message.ctypes.data))

    def read(self, message: Message) -> States:
        """Returns the states of a message."""
        count, width = int(message[:_HEAD_BYTES].view(np.uint64)[0]), self._search.native.model_bytes
        states = np.empty(count * width + SPARE_BYTES, dtype=np.uint8)[: count * width]
        self._library.outcrop_read_message(message.ctypes.data, states.ctypes.data)
        return states.reshape(count, width)

    def owners(self, states: States) -> NDArray[np.uint32]:
        """Returns the owners of states that lie anywhere."""
        owners = np.empty(len(states), dtype=np.uint32)
        self._library.outcrop_owners(self._search.handle, states.ctypes.data, len(states), owners.ctypes.data)
        return owners

    def foreign(self) -> int:
        """Returns the number of successors that other ranks own, duplicates included. Raises MemoryError if some were
        lost."""
        lost = ctypes.c_uint64()
        count = int(self._library.outcrop_count_foreign(self._search.handle, ctypes.byref(lost)))
        if lost.value:
            raise MemoryError("no memory for the successors of a block")
        return count
