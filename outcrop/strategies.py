"""The registry of strategies: what each is called, what it can do, and which options it has of its own.

The command line and its help, refusals, the table in docs/guides/strategies.md and the matrices of the tests are made
from this. A new strategy is a file in search/, an entry here and, if it remembers states in a new way, a file in
native/ with its binding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from outcrop.declared import declared_options, option

# --- Options ---------------------------------------------------------------------------------------------------


class Replacement(StrEnum):
    """What a full cache overwrites."""

    IDLE = "idle"  #: at random, something that was not met lately
    RANDOM = "random"  #: anything, as published


def parse_layers(text: str) -> int | str:
    """Reads a number, or a word.

    >>> parse_layers("10"), parse_layers("auto")
    (10, 'auto')
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


@dataclass(frozen=True)
class SqueezeOptions:
    squeeze: bool = option(
        True,
        "when memory ends, keep only those bits of a state that have been seen to change, and go on in RAM before "
        "going to disk",
    )


@dataclass(frozen=True)
class CachedOptions:
    replacement: Replacement = option(
        Replacement.RANDOM,
        "what a full cache overwrites: anything, as published (the default), or something not met lately",
    )
    chain: int = option(16, "entries of the cache among which a state may go", least=2, most=64)
    collision_limit: float = option(0.9, "collision rate past which cached gives up", least=0, most=1)


@dataclass(frozen=True)
class SerialOptions:
    threshold: float = option(0.1, "collision rate at which serial goes to disk", least=0, most=1)


@dataclass(frozen=True)
class LocalityOptions:
    """The constants of the papers, where these give them."""

    blocks: int = option(100, "blocks that the file of visited states is divided into", least=1)
    block_size: int = option(10_000, "states in such a block, at the least", least=1)
    cloud: float = option(1.0, "part of the blocks that locality reads at first", least=0, most=1)
    calibration: int = option(10, "checks from one calibration of that part to the next", least=1)
    speedup: float = option(0.15, "growth of that part when it misses too much", least=0)
    slowdown: float = option(0.15, "shrinking of that part when it misses next to nothing", least=0, most=1)
    beta_high: float = option(0.03, "part of the old states to miss that is too much", least=0, most=1)
    beta_low: float = option(0.01, "part of the old states to miss that is next to nothing", least=0, most=1)
    reset_above: float = option(0.9, "size of the part above which it may be reset", least=0, most=1)
    reset_after: int = option(5, "calibrations in a row above that size before a reset", least=0)
    reset_chance: float = option(0.5, "probability of a reset then", least=0, most=1)
    block_states: int | None = option(None, "states that are expanded at a time", least=1, shown="what is fast")
    curve: tuple[tuple[float, float], tuple[float, float]] = option(
        ((0.4, 0.4), (0.7, 0.6)),
        "probability that a block is read, by its place in the file: B up to A, and 1 at the end",
        shown="0.4:0.4,0.7:0.6",
    )


@dataclass(frozen=True)
class LayeredOptions:
    layers: int | str = option(
        "all",
        "layers that stay as they are: a number, all (the default), or auto, which follows the longest back edge; "
        "older ones are packed",
        convert=parse_layers,
    )
    forget: bool = option(False, "delete older layers: states may be visited again, and the search given up for that")


@dataclass(frozen=True)
class OwctyOptions:
    compact: bool = option(False, "keep signatures instead of states; a violation is real, but one may be missed")


@dataclass(frozen=True)
class BitstateOptions:
    hash_functions: int = option(3, "bits that each state sets, by as many hash functions", least=1, most=64)


# --- Strategies ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """A strategy of the native engine. ``search``: its function, as ``module:function`` in outcrop.search."""

    name: str
    search: str
    summary: str  #: for the help of --strategy
    remembers: str  #: for the table in the docs
    promises: str
    options: tuple[type, ...] = ()  #: dataclasses of its own
    kernels: tuple[str, ...] | None = ()  #: files in native/ that it needs beside what most searches do; None for all
    liveness: bool = True  #: checks liveness properties (AG EF)
    ranks: bool = True  #: runs over several processes
    checkpoints: bool = True
    revisits: bool = False  #: may visit a state more than once
    finds_cycles: bool = False  #: looks for runs that violate a formula, and for nothing else
    on_gpu: bool = False
    is_listed: bool = True  #: users can ask for it by name


_EVERY = (
    Strategy(
        "auto",
        "auto:search",
        "ram while memory lasts, then exact on disk",
        "states in RAM, squeezed when memory ends, then on disk in sorted runs",
        "exact",
        options=(SqueezeOptions,),
        on_gpu=True,
    ),
    Strategy(
        "ram",
        "ram:search",
        "whole states in RAM",
        "states in an arena in the order of their discovery",
        "exact",
        on_gpu=True,
    ),
    Strategy(
        "compact",
        "compact:search",
        "signatures, with a printed bound on the probability that a state was missed",
        "signatures in RAM, the queue on disk",
        "*holds* with an omission bound",
        on_gpu=True,
    ),
    Strategy(
        "cached",
        "cached:search",
        "what fits; states may be visited again",
        "a cache of fixed size, the queue on disk",
        "*holds* is exact, or has the bound of its signatures; given up past a collision rate",
        options=(CachedOptions,),
        kernels=None,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "disk",
        "locality:search_disk",
        "visited states on disk, all of which each check reads",
        "new states in RAM, all visited ones on disk",
        "exact with whole states, an omission bound with signatures",
        options=(LocalityOptions,),
        kernels=None,
        liveness=False,
    ),
    Strategy(
        "locality",
        "locality:search",
        "visited states on disk, of which each check reads those that it probably needs",
        "as `disk`, reading a calibrated disk cloud",
        "as `disk`; states may be visited again",
        options=(LocalityOptions,),
        kernels=None,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "serial",
        "serial:search",
        "cached, and from a threshold on locality",
        "as `cached`, then as `locality`",
        "as `cached` and `locality`",
        options=(CachedOptions, SerialOptions, LocalityOptions),
        kernels=None,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "layered",
        "layered:search",
        "the newest layers in RAM and all on disk, exact",
        "layers: the newest in RAM, all on disk, sorted",
        "exact; with `--forget` states may be visited again",
        options=(LayeredOptions, SqueezeOptions),
        kernels=None,
    ),
    Strategy(
        "bitstate",
        "bitstate:search",
        "a few bits for each state; finds violations, and never says holds",
        "`--hash-functions` bits of each state, the queue on disk",
        "a violation is real; else *unknown*, with about what part of the states was visited",
        options=(BitstateOptions,),
        kernels=("bitstate.c",),
        liveness=False,
        ranks=False,
        checkpoints=False,
    ),
    Strategy(
        "ndfs",
        "ndfs:search",
        "depth first, for runs that violate a formula",
        "states in RAM, and two bits each",
        "exact",
        kernels=None,
        ranks=False,
        checkpoints=False,
        finds_cycles=True,
    ),
    Strategy(
        "owcty",
        "owcty:search",
        "breadth first, for runs that violate a formula",
        "states in RAM with counts of predecessors; signatures with `--compact`",
        "exact; with `--compact` a cycle is real, and *holds* has an omission bound",
        options=(OwctyOptions,),
        checkpoints=False,
        finds_cycles=True,
    ),
    Strategy(
        "fair",
        "fair:search",
        "for fair runs that violate a formula; chosen by --fair",
        "states and edges in RAM",
        "exact",
        ranks=False,
        checkpoints=False,
        finds_cycles=True,
        is_listed=False,
    ),
)
STRATEGIES: dict[str, Strategy] = {each.name: each for each in _EVERY}


def names(**wanted: bool) -> list[str]:
    """Returns the strategies that users can name and that have such capabilities.

    >>> names(finds_cycles=True)
    ['ndfs', 'owcty']
    """
    return [
        each.name
        for each in _EVERY
        if each.is_listed and all(getattr(each, name) is value for name, value in wanted.items())
    ]


def own_options() -> Iterator[tuple[type, dataclasses.Field[Any], list[str]]]:
    """Returns the options that strategies have of their own, each with its dataclass and those that take it."""
    return declared_options((each.name, each.options) for each in _EVERY)


#: The options that strategies have of their own, by name.
OWN_OPTIONS: dict[str, dataclasses.Field[Any]] = {declared.name: declared for _, declared, _ in own_options()}


#: The files in native/ that single strategies need, of which a library with all kernels has every one.
OWN_KERNELS = sorted({file for each in _EVERY for file in each.kernels or ()})


def table() -> str:
    """Returns the table of strategies for docs/guides/strategies.md."""
    rows = [
        f"| `{each.name}` | {each.remembers} | {each.promises} | {_yes(each.liveness and not each.finds_cycles)} | "
        f"{_yes(each.ranks)} | {_yes(each.checkpoints)} |"
        for each in _EVERY
        if each.is_listed
    ]
    head = "| name | remembers | promises | liveness | ranks | checkpoints |\n|---|---|---|---|---|---|"
    return "\n".join([head, *rows, ""])


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


if __name__ == "__main__":
    print(table(), end="")
