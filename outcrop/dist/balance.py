"""Which ranks own which states: by a hash, or by what is learned once a search has grown large.

A hash is even, whatever the model. But it scatters successors over all ranks, and to send them is most of what a search
over several ranks costs more than one without. So a search that has become large learns parts of states that seldom
change (outcrop/dist/owners.py), and begins anew with these: the little that it has done is soon done again. Should
they turn out to divide the states unevenly, it begins anew once more, by a hash.

All ranks know how many states each has when a level is complete, and so come to the same decisions.

By a hash, states of the same signature have the same owner. By parities they may have different ones, who then tell
them apart: of what compaction misses, several ranks may find some.
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

#: States of a search where it can be seen whether they are shared out evenly, and that may well restart; and after
#: which it is too late.
_TELLING = range(1_000_000, 4_000_000)
_TOO_LATE = 20_000_000
#: What one of two ranks may own, as a multiple of its share: then, and otherwise.
_MOST_UNEVEN = 1.1
_MOST_UNEVEN_ELSE = 1.5
#: How much more that may be with more ranks, for each step to another rank by a hash: these cost as much.
_MORE_UNEVEN = 0.4
#: By what factor a level is at most expected to be larger than the one before.
_MOST_GROWTH = 2.0


class Balance:
    def __init__(self, explorer: Explorer, transport: Transport) -> None:
        self._explorer = explorer
        self._transport = transport
        self._has_learned = False
        self.owned: Numbers = np.zeros(transport.size, dtype=np.int64)  #: states of each rank
        self._last: Numbers = np.zeros_like(self.owned)  #: ... in the last level
        self._growth = 1.0  #: of the last level, as a multiple of the one before

    @cached_property
    def parts(self) -> States | None:
        """Of states, whose parities say who owns these. None: a hash does."""
        explorer, owners = self._explorer, self._explorer.options.owners
        if explorer.checkpoints is not None and explorer.checkpoints.is_resumed:
            # Those that must be sent anyway may as well go where they will stay.
            return explorer.checkpoints.owner_parts if explorer.checkpoints.stays or owners == "hash" else self._learn()
        return None if owners in ("auto", "hash") else self._given(owners.split(","))

    def _given(self, texts: list[str]) -> States:
        """Masks may be shorter than a state."""
        width = self._explorer.native.state_bytes
        if self._transport.size != 1 << len(texts) or len(texts) > MOST_PARITIES:
            raise UsageError(f"{len(texts)} masks do not tell {self._transport.size} owners apart")
        parts = read_parts([text.ljust(2 * width, "0")[: 2 * width] for text in texts])
        assert parts is not None
        return parts

    def _learn(self) -> States | None:
        """From a sample to which all ranks contribute, each proposes something; the best of it is taken."""
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

    def judge(self, sizes: Numbers) -> None:
        """A level is complete, of which each rank owns so many."""
        self._growth = int(sizes.sum()) / max(1, int(self._last.sum()))
        self._last = sizes
        self.owned += sizes
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
        return Restart(f"states are to find their owners by {owners}", options, explorer.watch.seconds())

    @property
    def _most_uneven(self) -> float:
        return _MOST_UNEVEN + _MORE_UNEVEN * (1 / 2 - 1 / self._transport.size)

    def expected(self) -> int:
        """The most states that a rank will own after the next level, if levels go on growing as they do."""
        return int((self.owned + min(_MOST_GROWTH, self._growth) * self._last).max())

    @property
    def _may_learn(self) -> bool:
        """What a model has printed would be printed again."""
        explorer = self._explorer
        is_resumed = explorer.checkpoints is not None and explorer.checkpoints.is_resumed
        is_free = explorer.options.owners == "auto" and not is_resumed
        return is_free and not self._has_learned and not explorer.native.prints
