"""``outcrop cache``: shows the cache of compiled models, or empties it."""

from __future__ import annotations

import argparse
from typing import Any

from outcrop.cli.files import dump
from outcrop.cli.output import emit
from outcrop.codegen.cache import cache_directory, evict, libraries, limit
from outcrop.units import size


def run(arguments: argparse.Namespace) -> int:
    """Prints the size of the cache, after emptying it if that was asked for."""
    directory = cache_directory()
    removed = evict(directory, 0) if arguments.clear else []
    kept = libraries(directory)
    document: dict[str, Any] = {
        "directory": str(directory),
        "models": len(kept),
        "bytes": sum(each.size for each in kept),
        "limit_bytes": limit(),
        "removed": len(removed),
        "removed_bytes": sum(each.size for each in removed),
    }
    if arguments.json:
        emit(dump(document))
        return 0
    rows = [
        ("directory", str(directory)),
        ("models", f"{len(kept):,}"),
        ("size", f"{size(document['bytes'])} of at most {size(document['limit_bytes'])}"),
    ]
    if arguments.clear:
        rows.append(("removed", f"{len(removed):,} models, {size(document['removed_bytes'])}"))
    emit("\n".join(f"{name:<10} {value}" for name, value in rows))
    return 0
