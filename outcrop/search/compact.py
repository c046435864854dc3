"""Breadth-first search that remembers a b-bit signature of each state instead of the state.

U. Stern and D. L. Dill, "A new scheme for memory-efficient probabilistic verification" (1996), with the bound in the
form that their "Using magnetic disk instead of main memory in the Murphi verifier" (1998) gives as formula (1).

Two states with the same signature are taken for one, so states may be missed. Whatever is reported as violated is
real; *holds* comes with a bound on the probability that some state was missed on every path to a violation. The
hash is drawn from a strongly universal family by ``seed``, so the bound holds whatever the model, and runs with
different seeds multiply their bounds.

The full states go to a file without a name under ``workdir``, in the order of their discovery. It is the queue, of
which memory holds only what is being read and written, and the log from which traces are rebuilt: the levels
are expanded again, as in RAM, which makes the trace independent of the number of workers; the predecessor links of the
1998 paper would be smaller but not that. Costs 5 to 8 bytes a state in RAM for 40 bits, and the packed state on disk.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from pathlib import Path

from outcrop.errors import UsageError
from outcrop.kernels import Native, Search, Settings
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, TakePut, most_found
from outcrop.search.outcome import Outcome
from outcrop.store.workdir import work_place

#: Of a signature.
_BITS = 40


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    bits = options.bits or _BITS
    directory = work_place(options.workdir)
    with nameless_file(directory) as file:
        settings = Settings(
            workers=worker_count(options),
            bits=bits,
            seed=options.seed,
            deadlock=DEADLOCK_RULES[options.deadlock],
            budget=state_budget(options),
            most_states=options.states,
            most_found=most_found(options),
            file=file,
            disk_limit=disk_limit(options, directory),
        )
        with native.search(settings) as visited:
            return Compact(visited, options, progress, put, bits).run()


class Compact(Exploration):
    def __init__(
        self, search: Search, options: CheckOptions, progress: ShowProgress | None, put: TakePut | None, bits: int
    ) -> None:
        super().__init__(search, options, progress, put)
        self.bits = bits
        self.owner_bits = bits
        self.keys = f"compact, {bits} bits, seed {options.seed}"

    def omission_bound(self, levels: list[int]) -> float:
        return omission_bound(accumulate(levels), self.bits)


def omission_bound(table_sizes: Iterable[int], bits: int) -> float:
    """Formula (1). A state is missed when its signature is that of one of the states before it: of the k - 1 others
    that the table holds when its level ends. A violation is missed only if on a shortest path to it some state is,
    one a level.

    >>> omission_bound([1, 2**20], 40)
    9.5...e-07
    """
    space = 2.0**bits
    log_found = 0.0
    for table_size in table_sizes:
        if table_size - 1 >= space:
            return 1.0
        log_found += math.log1p(-(table_size - 1) / space)
    return -math.expm1(log_found)


@contextmanager
def nameless_file(directory: Path) -> Iterator[int]:
    """A file that is gone when it is closed, or when the process ends in whatever way."""
    with ExitStack() as opened:
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = opened.enter_context(tempfile.TemporaryFile(dir=directory, prefix="outcrop-"))
        except OSError as error:
            raise UsageError(f"cannot make a file in '{directory}': {error.strerror}") from None
        yield file.fileno()


def disk_limit(options: CheckOptions, directory: Path, share: float = 1.0) -> int:
    """What a file there may take of the disk."""
    free = shutil.disk_usage(directory).free
    return int(share * (free if options.disk is None else min(free, options.disk)))
