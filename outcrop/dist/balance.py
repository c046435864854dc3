"""Ownership of states: by a hash, or by a function that is learned once a search has grown large.

A hash partitions states evenly for every model. But it scatters successors over all ranks, and sending them is most of
the extra cost of a search over several ranks. A search that has become large therefore learns which parts of states
seldom change (outcrop/dist/owners.py), and continues with ownership by these parts. If they turn out to partition the
states unevenly, it changes once more, to the hash. Each change hands a snapshot over, whose states go to their new
owners. A search that cannot be copied starts over: the work done so far is small.

When a level is complete, all ranks know the number of states of each rank, so they come to the same decisions.

By the hash, states with the same signature have the same owner. By parities they may have different owners, which keep
them apart. Several ranks may therefore find states that compaction misses in one process.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from outcrop.dist.owners import (
    MOST_PARITIES,
    can_be_parities,
    join_samples,
    propose,
    read_parts,
    take_sample,
    write_parts,
)
from outcrop.dist.transport import Numbers, Transport
from outcrop.errors import UsageError
from outcrop.kernels import States
from outcrop.outcome import Restart

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer

#: Number of states at which an uneven partition shows and a restart is cheap; and number after which a restart is too
#: expensive.
_TELLING = range(1_000_000, 4_000_000)
_TOO_LATE = 20_000_000
#: Largest number of states of one of two ranks, as a multiple of its share: within _TELLING, and otherwise.
_MOST_UNEVEN = 1.1
_MOST_UNEVEN_ELSE = 1.5
#: Increase of that limit with more ranks, in proportion to the successors that a hash would send to other ranks.
_MORE_UNEVEN = 0.4
#: Largest expected growth of a level, relative to the previous one.
_MOST_GROWTH = 2.0


class Balance:
    """The partition of states among ranks, and the decision to change it."""

    def __init__(self, explorer: Explorer, transport: Transport) -> None:
        self._explorer = explorer
        self._transport = transport
        self._has_learned = False
        self.owned: Numbers = np.zeros(transport.size, dtype=np.int64)  #: number of states of each rank
        self._last: Numbers = np.zeros_like(self.owned)  #: number of states of each rank in the last level
        self._growth = 1.0  #: size of the last level, relative to the previous one

    @cached_property
    def parts(self) -> States | None:
        """The masks of a state whose parities are the owner's number; None if a hash decides."""
        explorer, owners = self._explorer, self._explorer.options.owners
        if explorer.checkpoints is not None and explorer.checkpoints.is_resumed:
            # States that must be sent anyway may as well go to their learned owners.
            return explorer.checkpoints.owner_parts if explorer.checkpoints.stays or owners == "hash" else self._learn()
        return None if owners in ("auto", "hash") else self._given(owners.split(","))

    def _given(self, texts: list[str]) -> States:
        """Returns the masks that the options give. They may be shorter than a state."""
        width = self._explorer.native.model_bytes
        if self._transport.size != 1 << len(texts) or len(texts) > MOST_PARITIES:
            raise UsageError(
                f"{len(texts)} masks cannot tell {self._transport.size} ranks apart; give log2(ranks) masks, or use "
                "--owners auto"
            )
        parts = read_parts([text.ljust(2 * width, "0")[: 2 * width] for text in texts])
        assert parts is not None
        return parts

    def _learn(self) -> States | None:
        """Returns the best of the masks that the ranks propose, each from the same sample of all ranks; or None."""
        self._has_learned = True
        search, transport, look = self._explorer.search, self._transport, self._explorer.watch.look
        if not can_be_parities(search, transport.size):
            return None
        sample = join_samples(transport.gather(take_sample(search, transport.size, transport.rank), look))
        if sample is None:
            return None
        proposal = propose(sample, transport.size.bit_length() - 1, transport.rank, transport.size)
        proposals = [each for each in transport.gather(proposal, look) if each is not None]
        return min(proposals, key=lambda each: each.cost).parts if proposals else None

    def record(self, sizes: Numbers) -> None:
        """Records a level, of which rank i owns ``sizes[i]`` states."""
        self._growth = int(sizes.sum()) / max(1, int(self._last.sum()))
        self._last = sizes
        self.owned += sizes

    def review(self) -> None:
        """Raises Restart to change ownership. Called when a level is complete."""
        states = int(self.owned.sum())
        if not self._explorer.tuning.large <= states < _TOO_LATE:
            return
        if self.parts is not None:
            most = self._most_uneven if states in _TELLING else _MOST_UNEVEN_ELSE
            if int(self.owned.max()) * self._transport.size > most * states:
                raise self._restart("hash")
        elif self._may_learn:
            learned = self._learn()
            if learned is not None:
                raise self._restart(",".join(write_parts(learned)))

    def _restart(self, owners: str) -> Restart:
        explorer = self._explorer
        options = dataclasses.replace(explorer.options, owners=owners)
        restart = Restart(f"ownership changes to {owners}", options, explorer.watch.seconds())
        restart.snapshot = explorer.snapshot()
        return restart

    @property
    def _most_uneven(self) -> float:
        return _MOST_UNEVEN + _MORE_UNEVEN * (1 / 2 - 1 / self._transport.size)

    def expected(self) -> int:
        """Returns the largest number of states of a rank after the next level, if levels keep growing as they do."""
        return int((self.owned + min(_MOST_GROWTH, self._growth) * self._last).max())

    @property
    def _may_learn(self) -> bool:
        """Whether the search may restart with learned ownership. Not if the model prints: it would print twice."""
        explorer = self._explorer
        is_resumed = explorer.checkpoints is not None and explorer.checkpoints.is_resumed
        is_free = explorer.options.owners == "auto" and not is_resumed
        return is_free and not self._has_learned and not explorer.native.prints
