"""The parts of a checkpoint, one for each rank of the search that wrote it.

A single process writes into the directory of the checkpoint itself, rank 2 of 4 into its subdirectory ``2-of-4``. A
search may resume with another number of ranks. Then each rank reads some of the parts, and sends states to the ranks
that own them now.

All ranks save when the same level is complete. If they die while only some have saved, the previous checkpoint is the
one that all of them have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from outcrop.dist.transport import Transport
from outcrop.errors import UsageError
from outcrop.options import CheckOptions
from outcrop.store.checkpoint import CheckpointDirectory, Manifest, is_in_use, remove_checkpoint

_NAME = re.compile(r"(\d+)-of-(\d+)")
#: Number of a part, and number of parts.
_Number = tuple[int, int]


@dataclass(frozen=True)
class Beginning:
    """The checkpoint that a search resumes from."""

    parts: list[tuple[CheckpointDirectory, Manifest]]  #: the parts that this rank reads
    manifests: list[Manifest]  #: the manifests of all parts
    stays: bool  #: whether every rank reads the states that it owns

    @property
    def level_count(self) -> int:
        return len(self.manifests[0].levels)

    @property
    def states(self) -> int:
        return sum(each.rows for each in self.manifests)


def part_path(base: str, transport: Transport) -> Path:
    return Path(base) / transport.part_name


def find_parts(base: str) -> dict[_Number, Path]:
    """Returns the parts that this rank can see, by number."""
    found: dict[_Number, Path] = {}
    for path in _places(base):
        match = _NAME.fullmatch(path.name) if path != Path(base) else None
        if CheckpointDirectory.holds_checkpoint(path):
            found[(int(match[1]), int(match[2])) if match else (0, 1)] = path
    return found


def find_beginning(
    base: str,
    transport: Transport,
    open_part: Callable[[Path], CheckpointDirectory],
    stays: Callable[[Manifest], bool],
    warn: Callable[[str], None],
) -> Beginning:
    """Returns the last checkpoint that all parts have. ``stays``: whether states still belong to the ranks that owned
    them, if the number of ranks is the same."""
    paths = find_parts(base)
    everyone = transport.gather(list(paths))
    sizes = sorted({size for seen in everyone for _, size in seen})
    if not sizes:
        raise UsageError(f"there is no checkpoint in '{base}'; name the directory given to --checkpoint")
    best: Beginning | None = None
    for size in sizes:
        readers = [_reader(everyone, (part, size), transport.size) for part in range(size)]
        if None in readers:
            continue
        own = {part: open_part(paths[part, size]) for part in range(size) if readers[part] == transport.rank}
        manifests = _common(own, transport, warn)
        if manifests is None or (best is not None and len(manifests[0].levels) <= best.level_count):
            continue
        is_ours = size == transport.size and (size == 1 or all(stays(each) for each in manifests))
        best = Beginning([(own[part], manifests[part]) for part in own], manifests, is_ours)
    if best is None:
        raise UsageError(
            f"some parts of the checkpoint in '{base}', which {sizes[-1]} ranks wrote, are missing; resume where all "
            "parts can be read"
        )
    return best


def _reader(everyone: list[list[_Number]], number: _Number, ranks: int) -> int | None:
    """Returns the rank that reads a part: its own rank if that sees it, otherwise one that does."""
    part, size = number
    seers = [rank for rank, seen in enumerate(everyone) if number in seen]
    if size == ranks and part in seers:
        return part
    return seers[part % len(seers)] if seers else None


def _common(
    own: dict[int, CheckpointDirectory], transport: Transport, warn: Callable[[str], None]
) -> list[Manifest] | None:
    """Returns the manifests of the last checkpoint that all parts have, in order; None if there is none."""
    loaded = {part: directory.load(warn) for part, directory in own.items()}
    least = min(
        count for counts in transport.gather([len(each.levels) for each in loaded.values()]) for count in counts
    )
    for part, manifest in loaded.items():
        if len(manifest.levels) > least:
            loaded[part] = own[part].load(warn, least)
    everyone = {part: manifest for each in transport.gather(loaded) for part, manifest in each.items()}
    manifests = [everyone[part] for part in sorted(everyone)]
    return manifests if all(len(each.levels) == least for each in manifests) else None


def discard(base: str, transport: Transport) -> None:
    """Removes the checkpoint of a search that is complete. If that fails, the checkpoint stays: the verdict matters
    more."""
    own = part_path(base, transport)
    with suppress(OSError):
        for path in {own, *(find_parts(base).values() if transport.rank == 0 else ())}:
            remove_checkpoint(path, with_directory=path != Path(base))
        if transport.rank == 0:
            remove_unfinished_parts(base)


def remove_unfinished_parts(base: str) -> None:
    """Removes files of ranks that were killed before their first checkpoint."""
    for path in _places(base):
        if not CheckpointDirectory.holds_checkpoint(path) and not is_in_use(path):
            remove_checkpoint(path, with_directory=path != Path(base))


def _places(base: str) -> list[Path]:
    """Returns the directories in which a checkpoint, or a part of one, may be."""
    return [Path(base), *(path for path in Path(base).glob("*-of-*") if _NAME.fullmatch(path.name))]


def discard_checkpoint(options: CheckOptions, transport: Transport) -> None:
    """Removes the checkpoint of a search that is to restart, on all ranks.

    Keeps the checkpoint that the search resumed from, or that replaced it.
    """
    if options.checkpoint is not None and options.checkpoint != options.resume:
        discard(options.checkpoint, transport)
        transport.gather_numbers([0])  # wait until all ranks have removed theirs, before one writes there again
