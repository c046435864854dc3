"""Do all ranks search the same? A file that differs from machine to machine would make nonsense of the result."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from outcrop.dist.transport import Transport
from outcrop.errors import UsageError
from outcrop.options import CheckOptions

#: What each rank may have for itself.
_OWN = {"threads", "memory", "state_memory", "disk", "workdir", "keep_c"}


def compare_ranks(transport: Transport, identity: dict[str, Any], options: CheckOptions) -> None:
    """Raises UsageError, on all ranks, that names what differs."""
    chosen = {name: value for name, value in asdict(options).items() if name not in _OWN}
    everyone = transport.gather((transport.host, {**identity, **chosen}))
    _, first = everyone[0]
    for rank, (host, theirs) in enumerate(everyone):
        names = [name for name in first if theirs[name] != first[name]]
        if names:
            differences = "; ".join(_difference(name, first[name], theirs[name]) for name in names)
            raise UsageError(f"rank {rank}, on {host}, does not search what rank 0 does: {differences}")


def _difference(name: str, first: object, theirs: object) -> str:
    if isinstance(first, str) and len(first) == 64:  # digests say nothing to anybody
        return f"{name} differs"
    shown = name if name.startswith("-") else name.replace("_", " ")
    return f"{shown} is {first} on rank 0 and {theirs} there"
