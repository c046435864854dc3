"""The reachable states of a compiled model, level by level, with all transitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from outcrop.kernels import Native, Settings
from outcrop.kernels.observe import StepNamer, Steps
from outcrop.kernels.states import States

#: Number of states that are expanded at a time, with room for their successors.
_BLOCK, _ROOM = 4096, 1 << 18
#: Memory for visited states, in bytes; it is used as far as needed.
_BUDGET = 4 << 30


class Block(NamedTuple):
    """Some states of a level, and the transitions that lead to them or, after the first level, to known states.
    ``steps`` is None for start states."""

    new: States
    steps: Steps | None


def reachable(native: Native) -> Iterator[list[Block]]:
    """Yields the states of each level, those of the last one too, which are none. Raises MemoryError if they do not
    fit."""
    with native.search(Settings(budget=_BUDGET)) as search:
        search.start()
        level = search.read_block(0, search.finish_level())
        yield [Block(level, None)]
        namer = StepNamer(search, _ROOM)
        while len(level):
            blocks: list[Block] = []
            at = 0
            while at < len(level):
                done, steps = namer.expand(level[at : at + _BLOCK])
                is_new = search.insert_block(0, steps.successors)
                if len(is_new) < len(steps.successors):
                    raise MemoryError("no memory for all reachable states")
                blocks.append(Block(steps.successors[is_new], steps))
                at += done
            yield blocks
            level = np.concatenate([each.new for each in blocks])
