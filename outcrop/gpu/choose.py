"""The choice of where a search runs: on the processor, or on a GPU if there is one and it pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from outcrop.explorer.context import Context
from outcrop.gpu.device import CudaDevice, Device, NoDevice, OutOfDeviceMemory, Refused
from outcrop.gpu.search import Program, search
from outcrop.options import CheckOptions, DeviceChoice
from outcrop.outcome import Event, EventKind, Outcome, Stop
from outcrop.strategies import STRATEGIES

#: Duration of a search on the processor, in seconds, from which a GPU pays. Its kernels take about as long to compile.
WORTH_SECONDS = 2.0

HostSearch = Callable[[CheckOptions], Outcome]


def search_somewhere(
    program: Program,
    options: CheckOptions,
    context: Context,
    on_host: HostSearch,
    open_device: Callable[[], Device] = CudaDevice,
) -> Outcome:
    """Runs a search on the processor or on a GPU. ``on_host``: the search that the options name."""
    reason = _why_not(program, options)
    if options.device is DeviceChoice.GPU:
        device = open_device()
        if reason is None:
            return _on_device(program, device, options, context, on_host)
        return _begun(on_host(options), f"device: searching on the processor, because {reason}")
    if reason is not None:
        return on_host(options)
    limit = options.time_limit
    if limit is not None and limit <= WORTH_SECONDS:
        return on_host(options)
    outcome = on_host(replace(options, time_limit=WORTH_SECONDS))
    if outcome.stop is not Stop.TIME:
        return outcome
    try:
        device = open_device()
    except NoDevice:
        return on_host(options)
    begun = f"device: {outcome.visited:,} states after {WORTH_SECONDS:.0f} s on the processor, starting over on a GPU"
    if limit is not None:
        options = replace(options, time_limit=limit - WORTH_SECONDS)
    return _begun(_on_device(program, device, options, context, on_host), begun)


def _begun(outcome: Outcome, text: str) -> Outcome:
    """Returns the outcome with a first event that says why the search ran where it did."""
    return replace(outcome, events=[Event(EventKind.SWITCHED, text), *outcome.events])


def _on_device(
    program: Program,
    device: Device,
    options: CheckOptions,
    context: Context,
    on_host: HostSearch,
) -> Outcome:
    """Runs a search on the device, with the processor as fallback if the device fails."""
    failures: tuple[type[Exception], ...] = (OutOfDeviceMemory, Refused, *device.failures)
    try:
        return search(program, device, options, context)
    except failures as failure:
        why = str(failure) or "too little memory"
        device.abandon(failure)
        return _begun(on_host(options), f"device: searching on the processor, because {device.name} failed: {why}")


def _why_not(program: Program, options: CheckOptions) -> str | None:
    if program.system.product is not None:
        return "formulas are checked on the processor only"
    if not STRATEGIES[options.strategy].on_gpu:
        return f"the strategy {options.strategy} does not run on a GPU"
    if options.strategy == "compact" and options.bits not in (None, 64):
        return f"signatures on a GPU have 64 bits, not {options.bits}"
    if options.checkpoint is not None or options.resume is not None:
        return "only searches on the processor keep checkpoints"
    if options.ranks is not None:
        return "searches over several ranks run on processors only"
    if options.coverage:
        return "only searches on the processor count how often rules are enabled"
    reason = program.why_not
    return None if reason is None else f"the model cannot run on a GPU: {reason}"
