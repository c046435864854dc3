"""A cache of fixed size as a visited set: it evicts states, which may then be revisited."""

from __future__ import annotations

from itertools import accumulate
from types import TracebackType
from typing import TYPE_CHECKING, Self

from outcrop.explorer.file_arena import QUEUE_SHARE
from outcrop.explorer.visited import omission_bound, signature_keys
from outcrop.kernels.tables import Cache
from outcrop.strategies import CachedOptions, Replacement

if TYPE_CHECKING:
    from outcrop.explorer.explorer import Explorer


class CacheTable:
    """The cache, which replaces the visited set of the kernels. ``bits`` None keeps whole states. ``most_collisions``:
    collision rate past which no more blocks are expanded."""

    drops_revisited = True
    counts_deeper = False

    def __init__(self, explorer: Explorer, bits: int | None, memory: int, most_collisions: float) -> None:
        options, own = explorer.options, explorer.options.of(CachedOptions)
        self.bits = bits
        self.keys = signature_keys(options.strategy, bits, options.seed)
        self._search = explorer.search
        most_bytes = memory - int(memory * QUEUE_SHARE)
        self._cache = Cache(
            explorer.search,
            min(explorer.tuning.first_table_bytes, most_bytes),
            bits,
            own.chain,
            idle=own.replacement is Replacement.IDLE,
            seed=options.seed,
            most_bytes=most_bytes,
            most_collisions=most_collisions,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory, unless abandoned workers may still use it."""
        if not self._search.is_abandoned:
            self._cache.close()

    @property
    def gives_up(self) -> bool:
        """Whether the collision rate has passed its limit."""
        return self._cache.gives_up

    @property
    def collision_rate(self) -> float:
        return self._cache.collision_rate

    @property
    def revisits(self) -> bool:
        return self._cache.has_forgotten

    @property
    def bytes(self) -> int:
        return self._cache.bytes

    def omission_bound(self, levels: list[int]) -> float:
        return 0.0 if self.bits is None else omission_bound(accumulate(levels), self.bits)
