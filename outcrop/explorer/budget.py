"""The resources of a search: the number of its workers, its memory budget, and the settings of its kernels."""

from __future__ import annotations

from typing import Any

from outcrop.dist.transport import transport_of
from outcrop.explorer.tuning import Tuning
from outcrop.kernels import FIRST_LINES, DeadlockRule, Settings
from outcrop.machine import available_memory, resident_bytes
from outcrop.options import CheckOptions, Deadlock
from outcrop.outcome import most_found

DEADLOCK_RULES = {
    Deadlock.OFF: DeadlockRule.OFF,
    Deadlock.STUTTERING: DeadlockRule.STUTTERING,
    Deadlock.STUCK: DeadlockRule.STUCK,
}

#: Memory of the process besides states and tables, in bytes: buffers of each worker, and allocations of Python.
_BYTES_A_WORKER = 512 << 10
_PROCESS_BYTES = 6 << 20
#: Smallest state memory for each worker, in bytes. With less, the notes on set-aside states take more than the states.
_LEAST_BYTES_A_WORKER = 1 << 20


def worker_count(options: CheckOptions) -> int:
    return options.threads or transport_of(options.ranks).cores


def state_budget(options: CheckOptions, worker_bytes: int = 0) -> int:
    """Returns the memory for states and tables, in bytes, that keeps the process within its budget. ``worker_bytes``:
    further bytes that a strategy needs for each worker."""
    usual = available_memory() * 3 // 4 // transport_of(options.ranks).neighbours
    memory = options.memory if options.memory is not None else usual
    workers = worker_count(options)
    left = memory - resident_bytes() - _PROCESS_BYTES - workers * (_BYTES_A_WORKER + worker_bytes)
    left = max(workers * _LEAST_BYTES_A_WORKER, left)
    return left if options.state_memory is None else min(left, options.state_memory)


def kernel_settings(options: CheckOptions, tuning: Tuning, **more: Any) -> Settings:
    """Returns the settings of the kernels that follow from the options. ``more`` adds or overrides settings."""
    usual: dict[str, Any] = {
        "workers": worker_count(options),
        "deadlock": DEADLOCK_RULES[options.deadlock],
        "most_states": options.states,
        "most_found": most_found(options),
        "first_lines": tuning.first_lines or FIRST_LINES,
        "wide": tuning.wide,
        "weak_hash": tuning.weak_hash,
    }
    return Settings(**(usual | more))


def cycle_settings(options: CheckOptions, tuning: Tuning, **more: Any) -> Settings:
    """Returns the settings of a search for accepting cycles, which ignores deadlocks."""
    usual = {"deadlock": DeadlockRule.OFF, "budget": state_budget(options)}
    return kernel_settings(options, tuning, **(usual | more))
