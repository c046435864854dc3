"""How many workers a search has, and how much memory for its states."""

from __future__ import annotations

from outcrop.dist.exchange import exchange_of
from outcrop.machine import available_memory, resident_bytes
from outcrop.options import CheckOptions

#: What the process needs beside states and tables: buffers of a worker, and what Python allocates on the way.
_BYTES_A_WORKER = 512 << 10
_BYTES_BESIDE = 6 << 20
#: What states get for each worker even where memory is too little: with less, notes on what is put aside take more.
_LEAST_BYTES_A_WORKER = 1 << 20


def worker_count(options: CheckOptions) -> int:
    return options.threads or exchange_of(options.ranks).cores


def state_budget(options: CheckOptions, beside: int = 0) -> int:
    """Bytes that states and tables may take, so that the whole process stays within its memory. ``beside``: what else a
    strategy needs for each worker."""
    usual = available_memory() * 3 // 4 // exchange_of(options.ranks).neighbours
    memory = options.memory if options.memory is not None else usual
    workers = worker_count(options)
    left = memory - resident_bytes() - _BYTES_BESIDE - workers * (_BYTES_A_WORKER + beside)
    left = max(workers * _LEAST_BYTES_A_WORKER, left)
    return left if options.state_memory is None else min(left, options.state_memory)
