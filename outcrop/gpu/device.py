"""The GPU as the search uses it: memory, launches, clocks. CuPy does the work, and is imported only on demand.

standin.py has a second Device, which runs the same kernels on the processor. All of the search except this file is
therefore tested without a GPU.
"""

from __future__ import annotations

import gc
import importlib.util
import mmap
import re
import sys
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outcrop.errors import OutcropError

#: An array in the memory of the device: CuPy's, or NumPy's on the stand-in.
Array = Any

#: Compiler options. Functions of the model have no qualifiers, so they are taken for device functions.
OPTIONS = ("--std=c++17", "--device-as-default-execution-space")


#: cudaHostRegisterMapped: lets kernels access registered host memory.
_REGISTER_MAPPED = 2

#: Matches the name of each kernel in a translation unit.
KERNEL = re.compile(r"^KERNEL (?:LAUNCH_BOUNDS\(.*\)\s+)?(\w+)\(", re.MULTILINE)


class NoDevice(OutcropError):
    """Raised when there is no usable GPU; the message says why."""

    exit_code = 2


class OutOfDeviceMemory(Exception):
    """Raised when the device has no memory for an array."""


class Refused(Exception):
    """Raised when the kernels of a model cannot be compiled for the device."""


class Device(Protocol):
    """A device, as the search uses it. Launches run in order; reading waits for them."""

    name: str
    bandwidth: float  #: memory bandwidth in bytes per second, 0 if not known
    threads: int  #: number of threads that run at the same time
    failures: tuple[type[Exception], ...]  #: exceptions that it raises when it fails

    def free_bytes(self) -> int: ...

    def load(self, text: str) -> None:
        """Compiles kernels. Raises Refused."""

    def local_memory_bytes(self) -> int:
        """Returns the memory that kernels need besides arrays: the local memory of threads, in bytes."""

    def empty(self, count: int, kind: type = np.uint64) -> Array: ...

    def zeros(self, count: int, kind: type = np.uint64) -> Array: ...

    def put(self, array: NDArray[Any]) -> Array: ...

    def get(self, array: Array) -> NDArray[Any]: ...

    def copy(self, target: Array, source: Array) -> None:
        """Copies between arrays of the same length, in device or host memory."""

    def sort(self, array: Array) -> None:
        """Sorts words, if possible. Only speed may depend on it."""

    def pinned(self, count: int) -> NDArray[np.uint64]:
        """Allocates host memory with fast copies, which kernels can access. Raises MemoryError."""

    def address(self, array: Array) -> int: ...

    def set_constant(self, name: str, words: NDArray[np.uint64]) -> None: ...

    def launch(self, name: str, blocks: tuple[int, int], threads: int, *arguments: object, aside: bool = False) -> None:
        """Launches a kernel. ``aside``: in a second stream, which runs concurrently with the first."""

    def mark(self, *, aside: bool = False) -> object:
        """Returns a mark at the current end of a stream."""

    def wait(self, mark: object, *, aside: bool = False) -> None:
        """Makes later launches in a stream wait for everything before the mark."""

    def abandon(self, failure: BaseException) -> None:
        """Drops everything that a failed search has left."""

    def begin_timing(self) -> None: ...

    def end_timing(self) -> None: ...

    def kernel_seconds(self) -> float:
        """Returns the time between begin_timing and end_timing, summed over all pairs, in seconds."""


@dataclass
class _Timing:
    begin: Any
    end: Any = None


class CudaDevice:
    """The first GPU that CuPy sees."""

    def __init__(self) -> None:
        self._cupy = _cupy()
        try:
            self._open()
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise NoDevice(f"the GPU cannot be used ({error}); search with --device cpu") from None

    def _open(self) -> None:
        runtime = self._cupy.cuda.runtime
        properties = runtime.getDeviceProperties(self._cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.threads = int(properties["multiProcessorCount"]) * int(properties["maxThreadsPerMultiProcessor"])
        attributes = self._cupy.cuda.Device().attributes
        # Kilohertz and bits, with two transfers a clock.
        self.bandwidth = 2e3 * attributes.get("MemoryClockRate", 0) * attributes.get("GlobalMemoryBusWidth", 0) / 8
        self.failures: tuple[type[Exception], ...] = (
            runtime.CUDARuntimeError,
            self._cupy.cuda.driver.CUDADriverError,
            self._cupy.cuda.memory.OutOfMemoryError,
        )
        self._streams: tuple[Any, ...] = self._cupy.cuda.Stream.null, self._cupy.cuda.Stream(non_blocking=True)
        self._module: Any = None
        self._kernels: dict[str, Any] = {}
        self._timings: list[_Timing] = []
        self._seconds = 0.0

    def free_bytes(self) -> int:
        self._cupy.get_default_memory_pool().free_all_blocks()
        return int(self._cupy.cuda.runtime.memGetInfo()[0])

    def load(self, text: str) -> None:
        self._kernels = {}
        self._module = self._cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc")
        try:
            self._module.compile()
        except Exception as error:  # a missing compiler raises different exceptions
            raise Refused(f"its kernels cannot be compiled: {str(error)[:2000]}") from error

    def local_memory_bytes(self) -> int:
        kernels = (self._module.get_function(name) for name in KERNEL.findall(self._module.code))
        return self.threads * max(int(kernel.local_size_bytes) for kernel in kernels)

    def empty(self, count: int, kind: type = np.uint64) -> Array:
        """Allocates directly from the driver, so that freed memory can be reused for arrays of other sizes."""
        size = max(1, count) * np.dtype(kind).itemsize
        try:
            memory = self._cupy.cuda.Memory(size)
        except (self._cupy.cuda.runtime.CUDARuntimeError, self._cupy.cuda.memory.OutOfMemoryError):
            raise OutOfDeviceMemory from None
        return self._cupy.ndarray((count,), dtype=kind, memptr=self._cupy.cuda.MemoryPointer(memory, 0))

    def zeros(self, count: int, kind: type = np.uint64) -> Array:
        array = self.empty(count, kind)
        array.data.memset_async(0, array.nbytes, self._cupy.cuda.get_current_stream())
        return array

    def put(self, array: NDArray[Any]) -> Array:
        made = self.empty(array.size, array.dtype.type)
        made.set(np.ascontiguousarray(array).reshape(-1))
        return made

    def get(self, array: Array) -> NDArray[Any]:
        got: NDArray[Any] = self._cupy.asnumpy(array)
        return got

    def copy(self, target: Array, source: Array) -> None:
        """Copies in the first stream. The host waits for copies from and to its memory."""
        runtime, stream = self._cupy.cuda.runtime, self._streams[0]
        runtime.memcpyAsync(
            self.address(target), self.address(source), target.nbytes, runtime.memcpyDefault, stream.ptr
        )
        if isinstance(target, np.ndarray) or isinstance(source, np.ndarray):
            stream.synchronize()

    def sort(self, array: Array) -> None:
        with suppress(Exception):  # there may be no memory, or no library, for it
            array.sort()

    def pinned(self, count: int) -> NDArray[np.uint64]:
        """Allocates huge pages, if the host has them: registering and accessing them is many times faster."""
        runtime = self._cupy.cuda.runtime
        try:
            memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            raise MemoryError from None
        with suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
        words = np.frombuffer(memory, dtype=np.uint64)
        try:
            runtime.hostRegister(words.ctypes.data, words.nbytes, _REGISTER_MAPPED)
        except runtime.CUDARuntimeError:
            raise MemoryError from None
        weakref.finalize(words, _unregister, runtime, words.ctypes.data)
        return words

    def address(self, array: Array) -> int:
        return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)

    def set_constant(self, name: str, words: NDArray[np.uint64]) -> None:
        pointer = self._module.get_global(name)
        target = self._cupy.ndarray((len(words),), dtype=np.uint64, memptr=pointer)
        target.set(words)

    def launch(self, name: str, blocks: tuple[int, int], threads: int, *arguments: object, aside: bool = False) -> None:
        if name not in self._kernels:
            self._kernels[name] = self._module.get_function(name)
        given = tuple(_argument(each) for each in arguments)
        self._kernels[name](blocks, (threads,), given, stream=self._streams[aside])

    def mark(self, *, aside: bool = False) -> object:
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(self._streams[aside])
        return event

    def wait(self, mark: object, *, aside: bool = False) -> None:
        self._streams[aside].wait_event(mark)

    def abandon(self, failure: BaseException) -> None:
        """Drops all references to a failed device. Freeing arrays of it fails, and CuPy would report each one."""
        hooks = sys.excepthook, sys.unraisablehook
        sys.excepthook = lambda kind, error, traceback: None
        sys.unraisablehook = lambda details: None
        try:
            failure.__traceback__ = failure.__context__ = failure.__cause__ = None
            self._timings, self._kernels, self._module, self._streams = [], {}, None, ()
            gc.collect()
        finally:
            sys.excepthook, sys.unraisablehook = hooks

    def begin_timing(self) -> None:
        event = self._cupy.cuda.Event()
        event.record()
        self._timings.append(_Timing(event))

    def end_timing(self) -> None:
        event = self._cupy.cuda.Event()
        event.record()
        self._timings[-1].end = event

    def kernel_seconds(self) -> float:
        for timing in self._timings:
            if timing.end is not None:
                timing.end.synchronize()
                self._seconds += self._cupy.cuda.get_elapsed_time(timing.begin, timing.end) / 1e3
        self._timings = [timing for timing in self._timings if timing.end is None]
        return self._seconds


def _unregister(runtime: Any, address: int) -> None:
    with suppress(runtime.CUDARuntimeError):
        runtime.hostUnregister(address)


def _argument(value: object) -> object:
    """Converts an argument of a launch. Host memory has the same address on the device."""
    if isinstance(value, np.ndarray):
        return np.uint64(value.ctypes.data)
    return np.uint64(0) if value is None else value


def _cupy() -> Any:
    try:
        # An optional dependency that takes a second to import.
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise NoDevice(
            "searching on a GPU needs CuPy, which is not installed; install it with pip install 'outcrop[gpu]', or "
            "search with --device cpu"
        ) from None
    except ImportError as error:
        raise NoDevice(f"CuPy does not work here ({error}); search with --device cpu") from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NoDevice(f"CuPy finds no GPU ({error}); search with --device cpu") from None
    if not count:
        raise NoDevice("CuPy finds no GPU; search with --device cpu")
    return cupy


def is_there() -> bool:
    """Returns whether there seems to be a usable GPU. Every check calls it, so it must be fast."""
    has_driver = any(Path(path).exists() for path in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"))
    return has_driver and importlib.util.find_spec("cupy") is not None
