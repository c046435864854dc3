"""Comparison of what the ranks search. If a file differs between machines, the result would be meaningless."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from outcrop.dist.transport import Transport
from outcrop.errors import UsageError
from outcrop.options import CheckOptions
from outcrop.store.remote import COPIED

#: Options that may differ between ranks.
_OWN = {"threads", "memory", "state_memory", "disk", "workdir", "keep_c"}


def compare_ranks(transport: Transport, identity: dict[str, Any], options: CheckOptions) -> None:
    """Raises UsageError, on all ranks, if the ranks do not search the same. The message names the differences."""
    chosen = {name: value for name, value in asdict(options).items() if name not in _OWN}
    for name in ("checkpoint", "resume"):
        if chosen[name] is not None and Path(chosen[name]).parent.name.startswith(COPIED):
            chosen[name] = Path(chosen[name]).name  # each rank has its own copy of a remote checkpoint
    everyone = transport.gather((transport.host, {**identity, **chosen}))
    _, first = everyone[0]
    for rank, (host, theirs) in enumerate(everyone):
        names = [name for name in first if theirs[name] != first[name]]
        if names:
            differences = "; ".join(_difference(name, first[name], theirs[name]) for name in names)
            raise UsageError(
                f"rank {rank}, on {host}, does not search what rank 0 does: {differences}; start all ranks with the "
                "same files and options"
            )


def _difference(name: str, first: object, theirs: object) -> str:
    if isinstance(first, str) and len(first) == 64:  # digests are not readable
        return f"{name} differs"
    shown = name if name.startswith("-") else name.replace("_", " ")
    return f"{shown} is {first} on rank 0 and {theirs} there"
