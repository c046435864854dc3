"""The registry of strategies: the name, the capabilities and the options of each.

The command line and its help, refusals, the table in docs/guides/strategies.md and the matrices of the tests are made
from it. A new strategy is a file in search/, an entry here and, if it needs a new kind of visited set, a file in
native/ with its binding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from outcrop.declared import declared_options, option

# --- Options ---------------------------------------------------------------------------------------------------


class Replacement(StrEnum):
    """The entry that a full cache of visited states evicts."""

    IDLE = "idle"  #: a random entry that was not met lately
    RANDOM = "random"  #: any entry at random, as published


class Compression(StrEnum):
    """Lossless compression of visited states."""

    AUTO = "auto"  #: none until RAM is full
    TREE = "tree"  #: from the start, with the queue in RAM
    QUOTIENT = "quotient"  #: from the start, with the queue on disk
    OFF = "off"


def parse_layers(text: str) -> int | str:
    """Reads a number of layers, or a word.

    >>> parse_layers("10"), parse_layers("auto")
    (10, 'auto')
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


@dataclass(frozen=True)
class SqueezeOptions:
    squeeze: bool = option(
        True,
        "when RAM is full, keep only the bits of a state that have been seen to change, and continue in RAM before "
        "going to disk",
    )


@dataclass(frozen=True)
class CompressOptions:
    compress: Compression = option(
        Compression.AUTO,
        "lossless compression of visited states: auto (strategies auto and owcty: when RAM is full, the default), off, "
        "or, with strategies ram and owcty, tree (queue in RAM) or quotient (queue on disk) from the start",
    )


@dataclass(frozen=True)
class CachedOptions:
    replacement: Replacement = option(
        Replacement.RANDOM,
        "entry that a full cache evicts: any, as published (random, the default), or one not met lately (idle)",
    )
    chain: int = option(16, "number of cache entries that can hold a given state", least=2, most=64)
    collision_limit: float = option(
        0.9, "collision rate above which cached gives up, with the verdict unknown", least=0, most=1
    )


@dataclass(frozen=True)
class SerialOptions:
    threshold: float = option(0.1, "collision rate at which serial continues on disk", least=0, most=1)


@dataclass(frozen=True)
class LocalityOptions:
    """The constants of the locality algorithm, with the values of the papers where they are published."""

    blocks: int = option(100, "number of blocks in the file of visited states", least=1)
    block_size: int = option(10_000, "smallest size of a block of that file, in states", least=1)
    cloud: float = option(1.0, "initial size of the disk cloud, as a share of all blocks", least=0, most=1)
    calibration: int = option(10, "number of checks between two calibrations of the disk cloud", least=1)
    speedup: float = option(0.15, "relative growth of the disk cloud when it misses too much", least=0)
    slowdown: float = option(0.15, "relative shrinking of the disk cloud when it misses little", least=0, most=1)
    beta_high: float = option(0.03, "share of missed visited states from which the disk cloud grows", least=0, most=1)
    beta_low: float = option(0.01, "share of missed visited states up to which the disk cloud shrinks", least=0, most=1)
    reset_above: float = option(0.9, "size above which the disk cloud may be reset", least=0, most=1)
    reset_after: int = option(5, "number of calibrations in a row above that size before a reset", least=0)
    reset_chance: float = option(0.5, "probability of a reset at each calibration after those", least=0, most=1)
    block_states: int | None = option(
        None, "number of states that are expanded at a time", least=1, shown="chosen for speed"
    )
    curve: tuple[tuple[float, float], tuple[float, float]] = option(
        ((0.4, 0.4), (0.7, 0.6)),
        "probability that a block is read, by its position in the file: B up to A, and 1 at the end",
        shown="0.4:0.4,0.7:0.6",
    )


@dataclass(frozen=True)
class LayeredOptions:
    layers: int | str = option(
        "all",
        "number of layers that stay unpacked: a number, all (the default), or auto, which follows the longest back "
        "edge",
        convert=parse_layers,
    )
    forget: bool = option(False, "delete older layers; states may be revisited, and too many revisits end the search")
    ram_cache: bool = option(
        True,
        "find duplicates in the layers that RAM holds; off finds all of them on disk, when a layer is complete",
    )


@dataclass(frozen=True)
class OwctyOptions:
    compact: bool = option(False, "store signatures instead of states; violations are real, but some may be missed")


@dataclass(frozen=True)
class BitstateOptions:
    hash_functions: int = option(3, "number of bits that each state sets, one per hash function", least=1, most=64)


# --- Strategies ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """A strategy of the native engine. ``search`` names its function, as ``module:function`` in outcrop.search."""

    name: str
    search: str
    summary: str  #: text for the help of --strategy
    remembers: str  #: text for the table in the docs
    promises: str
    options: tuple[type, ...] = ()  #: dataclasses of options that it takes
    kernels: tuple[str, ...] | None = ()  #: files in native/ that it needs beyond those of most searches; None: all
    keeps: bool = False  #: stores whole states or signatures, as --keep says
    whole_states: bool = False  #: stores whole states unless --keep says otherwise
    signatures: bool = False  #: can store signatures, whose width --bits sets
    exact: bool = True  #: can keep whole states, so that it takes no two for one
    decides: bool = True  #: visits every state, so that it may say holds
    past_ram: bool = False  #: continues when its states do not fit into memory
    liveness: bool = True  #: checks liveness properties (AG EF)
    ranks: bool = True  #: can run over several ranks
    checkpoints: bool = True
    revisits: bool = False  #: may visit a state more than once
    finds_cycles: bool = False  #: searches for runs that violate a formula, and for nothing else
    on_gpu: bool = False
    is_listed: bool = True  #: users can choose it by name

    def function(self) -> Callable[..., Any]:
        """Returns the function that searches, and imports its module, which needs numpy and kernels."""
        module, _, name = self.search.partition(":")
        found: Callable[..., Any] = getattr(import_module(f"outcrop.search.{module}"), name)
        return found


_EVERY = (
    Strategy(
        "auto",
        "auto:search",
        "states in RAM, then on disk when RAM is full; exact",
        "states in RAM, compressed or squeezed when RAM is full, then sorted runs on disk",
        "exact",
        options=(SqueezeOptions, CompressOptions),
        past_ram=True,
        on_gpu=True,
    ),
    Strategy(
        "ram",
        "ram:search",
        "states in RAM; exact",
        "states in an arena, in order of discovery; compressed with `--compress`",
        "exact",
        options=(CompressOptions,),
        on_gpu=True,
    ),
    Strategy(
        "compact",
        "compact:search",
        "signatures in RAM, with a printed omission bound",
        "signatures in RAM, the frontier on disk",
        "*holds* with an omission bound",
        signatures=True,
        exact=False,
        on_gpu=True,
    ),
    Strategy(
        "cached",
        "cached:search",
        "a cache of visited states of fixed size; may revisit states",
        "a cache of fixed size, the frontier on disk",
        "*holds* is exact, or has an omission bound with signatures; *unknown* above a collision rate",
        options=(CachedOptions,),
        kernels=None,
        keeps=True,
        whole_states=True,
        signatures=True,
        past_ram=True,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "disk",
        "locality:search_disk",
        "visited states on disk, compared with all of them",
        "new states in RAM, all visited states on disk",
        "exact with whole states, an omission bound with signatures",
        options=(LocalityOptions,),
        kernels=None,
        keeps=True,
        signatures=True,
        past_ram=True,
        liveness=False,
    ),
    Strategy(
        "locality",
        "locality:search",
        "visited states on disk, compared with the part that matters most; may revisit states",
        "as `disk`, comparing with a calibrated disk cloud",
        "as `disk`; may revisit states",
        options=(LocalityOptions,),
        kernels=None,
        keeps=True,
        signatures=True,
        past_ram=True,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "serial",
        "serial:search",
        "cached, then locality above a collision rate",
        "as `cached`, then as `locality`",
        "as `cached` and `locality`",
        options=(CachedOptions, SerialOptions, LocalityOptions),
        kernels=None,
        keeps=True,
        signatures=True,
        past_ram=True,
        liveness=False,
        revisits=True,
    ),
    Strategy(
        "layered",
        "layered:search",
        "sorted layers on disk, the newest in RAM; exact",
        "layers: the newest in RAM, all on disk, sorted",
        "exact; with `--forget` it may revisit states",
        options=(LayeredOptions, SqueezeOptions),
        kernels=None,
        past_ram=True,
    ),
    Strategy(
        "bitstate",
        "bitstate:search",
        "a few bits for each state; finds violations, but never reports holds",
        "`--hash-functions` bits of each state, the frontier on disk",
        "violations are real; otherwise *unknown*, with an estimate of the share of visited states",
        options=(BitstateOptions,),
        kernels=("bitstate.c",),
        exact=False,
        decides=False,
        liveness=False,
        ranks=False,
        checkpoints=False,
    ),
    Strategy(
        "ndfs",
        "ndfs:search",
        "nested depth-first search for runs that violate a formula",
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
        "breadth-first search for runs that violate a formula",
        "states in RAM with predecessor counts; folded into trees with `--compress tree`, signatures with `--compact`",
        "exact; with `--compact` cycles are real, and *holds* has an omission bound",
        options=(OwctyOptions, CompressOptions),
        signatures=True,
        checkpoints=False,
        finds_cycles=True,
    ),
    Strategy(
        "fair",
        "fair:search",
        "search for fair runs that violate a formula; chosen by --fair",
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
    """Returns the strategies that users can choose and that have the given capabilities.

    >>> names(finds_cycles=True)
    ['ndfs', 'owcty']
    """
    return [
        each.name
        for each in _EVERY
        if each.is_listed and all(getattr(each, name) is value for name, value in wanted.items())
    ]


def own_options() -> Iterator[tuple[type, dataclasses.Field[Any], list[str]]]:
    """Returns the options of single strategies, each with its dataclass and the strategies that take it."""
    return declared_options((each.name, each.options) for each in _EVERY)


#: The options that several strategies take, each with the capability that it needs.
_COMMON_OPTIONS = {"keep": "keeps", "bits": "signatures"}


def takers(name: str) -> list[str]:
    """Returns the strategies that take an option, or an empty list if all of them do.

    >>> takers("layers"), takers("threads")
    (['layered'], [])
    """
    if name in _COMMON_OPTIONS:
        return names(**{_COMMON_OPTIONS[name]: True})
    return next((strategies for _, declared, strategies in own_options() if declared.name == name), [])


#: The options of single strategies, by name.
OWN_OPTIONS: dict[str, dataclasses.Field[Any]] = {declared.name: declared for _, declared, _ in own_options()}


#: The files in native/ that only single strategies need. A library with all kernels contains every one.
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
