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

from outcrop.dist.exchange import Exchange, Numbers
from outcrop.dist.owners import (
    MOST_PARITIES,
    can_be_parities,
    join_samples,
    propose,
    read_parts,
    take_sample,
    write_parts,
)
from outcrop.errors import UsageError
from outcrop.kernels import States
from outcrop.options import CheckOptions
from outcrop.search.anew import BeginAnew

if TYPE_CHECKING:
    from outcrop.search.driver import Exploration

#: States of a search that is large; of one where it can be seen whether they are shared out evenly, and that may well
#: begin anew; and after which it is too late.
LARGE = 100_000
_TELLING = range(1_000_000, 4_000_000)
_TOO_LATE = 20_000_000
#: What one of two ranks may own, as a multiple of its share: then, and otherwise.
_MOST_UNEVEN = 1.1
_MOST_UNEVEN_ELSE = 1.5
#: How much more that may be with more ranks, for each step to another rank by a hash: these cost as much.
_MORE_UNEVEN = 0.4
#: By what factor a level is at most expected to be larger than the one before.
_MOST_GROWTH = 2.0


class OtherOwners(BeginAnew):
    """States are to find their owners otherwise."""

    def __init__(self, owners: str, seconds: float) -> None:
        super().__init__(f"states are to find their owners by {owners}", seconds)
        self._owners = owners

    def options(self, options: CheckOptions) -> CheckOptions:
        return dataclasses.replace(super().options(options), owners=self._owners)


class Balance:
    def __init__(self, run: Exploration, exchange: Exchange) -> None:
        self._run = run
        self._exchange = exchange
        self._has_learned = False
        self.owned: Numbers = np.zeros(exchange.size, dtype=np.int64)  #: states of each rank
        self._last: Numbers = np.zeros_like(self.owned)  #: ... in the last level
        self._growth = 1.0  #: of the last level, as a multiple of the one before

    @cached_property
    def parts(self) -> States | None:
        """Of states, whose parities say who owns these. None: a hash does."""
        run, owners = self._run, self._run.options.owners
        if run.checkpoints is not None and run.checkpoints.is_resumed:
            # Those that must be sent anyway may as well go where they will stay.
            return run.checkpoints.owner_parts if run.checkpoints.stays or owners == "hash" else self._learn()
        return None if owners in ("auto", "hash") else self._given(owners.split(","))

    def _given(self, texts: list[str]) -> States:
        """Masks may be shorter than a state."""
        width = self._run.native.state_bytes
        if self._exchange.size != 1 << len(texts) or len(texts) > MOST_PARITIES:
            raise UsageError(f"{len(texts)} masks do not tell {self._exchange.size} owners apart")
        parts = read_parts([text.ljust(2 * width, "0")[: 2 * width] for text in texts])
        assert parts is not None
        return parts

    def _learn(self) -> States | None:
        """From a sample to which all ranks contribute, each proposes something; the best of it is taken."""
        self._has_learned = True
        search, exchange, look = self._run.search, self._exchange, self._run.look_at_clock
        if not can_be_parities(search, exchange.size):
            return None
        sample = join_samples(exchange.gather(take_sample(search, exchange.size, exchange.rank), look))
        if sample is None:
            return None
        proposal = propose(sample, exchange.size.bit_length() - 1, exchange.rank, exchange.size)
        proposals = [each for each in exchange.gather(proposal, look) if each is not None]
        return min(proposals, key=lambda each: each.cost).parts if proposals else None

    def judge(self, sizes: Numbers) -> None:
        """A level is complete, of which each rank owns so many."""
        self._growth = int(sizes.sum()) / max(1, int(self._last.sum()))
        self._last = sizes
        self.owned += sizes
        states, seconds = int(self.owned.sum()), self._run.seconds()
        if not LARGE <= states < _TOO_LATE:
            return
        if self.parts is not None:
            most = self._most_uneven if states in _TELLING else _MOST_UNEVEN_ELSE
            if int(self.owned.max()) * self._exchange.size > most * states:
                raise OtherOwners("hash", seconds)
        elif self._may_learn:
            learned = self._learn()
            if learned is not None:
                raise OtherOwners(",".join(write_parts(learned)), seconds)

    @property
    def _most_uneven(self) -> float:
        return _MOST_UNEVEN + _MORE_UNEVEN * (1 / 2 - 1 / self._exchange.size)

    def expected(self) -> int:
        """The most states that a rank will own after the next level, if levels go on growing as they do."""
        return int((self.owned + min(_MOST_GROWTH, self._growth) * self._last).max())

    @property
    def _may_learn(self) -> bool:
        """What a model has printed would be printed again."""
        run = self._run
        is_resumed = run.checkpoints is not None and run.checkpoints.is_resumed
        is_free = run.options.owners == "auto" and not is_resumed
        return is_free and not self._has_learned and not run.native.prints
