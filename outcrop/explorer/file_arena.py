"""Searches whose arena is a file. The file is their queue, and the state log from which traces are rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from outcrop.explorer.arena import disk_limit, nameless_file
from outcrop.explorer.budget import kernel_settings, state_budget
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.store.workdir import work_place

#: Fraction of the state memory for the two ends of the queue (see native/arena.c).
QUEUE_SHARE = 3 / 32


@contextmanager
def queue_on_disk(
    native: Native, options: CheckOptions, context: Context, share: float = 1.0, **more: Any
) -> Iterator[Explorer]:
    """Opens a search whose arena is a file. ``share``: its fraction of the disk budget. ``more``: settings of its
    kernels."""
    directory = work_place(options.workdir)
    with nameless_file(directory) as file:
        settings = kernel_settings(
            options,
            context.tuning,
            seed=options.seed,
            budget=state_budget(options),
            file=file,
            disk_limit=disk_limit(options, directory, share),
            **more,
        )
        with native.search(settings) as kernels:
            explorer = Explorer(kernels, options, context)
            if options.disk is not None and share < 1.0:
                explorer.disk.limit = options.disk - int(options.disk * share)
            yield explorer
