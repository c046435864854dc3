"""The GPU as the search sees it: memory, launches, clocks. CuPy does the work, and is imported only when it is wanted.

There is a second Device in standin.py, which runs the same kernels on the processor; so all of the search but this file
is tested without a GPU.
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

#: Functions of the model carry no qualifiers.
OPTIONS = ("--std=c++17", "--device-as-default-execution-space")


#: cudaHostRegisterMapped: kernels may use it.
_REGISTER_MAPPED = 2

#: The name of each kernel in a translation unit.
KERNEL = re.compile(r"^KERNEL (?:LAUNCH_BOUNDS\(.*\)\s+)?(\w+)\(", re.MULTILINE)


class NoDevice(OutcropError):
    """There is no GPU to search on, or nothing to use it with; the message says which."""

    exit_code = 2


class OutOfDeviceMemory(Exception):
    """The device has no room for an array."""


class Refused(Exception):
    """The kernels of a model could not be compiled for the device."""


class Device(Protocol):
    """What the search needs of a device. Launches follow one another; reading waits for them."""

    name: str
    bandwidth: float  #: bytes a second that the memory can deliver, 0 if not known
    threads: int  #: that work at the same time
    failures: tuple[type[Exception], ...]  #: what it raises when it cannot go on

    def free_bytes(self) -> int: ...

    def load(self, text: str) -> None:
        """Compiles kernels. Raises Refused."""

    def bytes_beside(self) -> int:
        """Memory that the kernels need beside arrays: what threads keep of their own."""

    def empty(self, count: int, kind: type = np.uint64) -> Array: ...

    def zeros(self, count: int, kind: type = np.uint64) -> Array: ...

    def put(self, array: NDArray[Any]) -> Array: ...

    def get(self, array: Array) -> NDArray[Any]: ...

    def copy(self, target: Array, source: Array) -> None:
        """Between arrays of the same length, wherever they are."""

    def sort(self, array: Array) -> None:
        """Puts words in order, if that can be done. Only speed may depend on it."""

    def pinned(self, count: int) -> NDArray[np.uint64]:
        """Words of host memory from which copies are fast, and which kernels can use. Raises MemoryError."""

    def address(self, array: Array) -> int: ...

    def set_constant(self, name: str, words: NDArray[np.uint64]) -> None: ...

    def launch(self, name: str, blocks: tuple[int, int], threads: int, *arguments: object, aside: bool = False) -> None:
        """``aside``: in a second row of launches, which runs beside the first."""

    def mark(self, *, aside: bool = False) -> object:
        """A point in a row of launches."""

    def wait(self, mark: object, *, aside: bool = False) -> None:
        """What is launched from now on begins when what came before the mark has ended."""

    def abandon(self, failure: BaseException) -> None:
        """Forgets what a search has left behind that ended so."""

    def begin_timing(self) -> None: ...

    def end_timing(self) -> None: ...

    def kernel_seconds(self) -> float:
        """Between begin_timing and end_timing, all pairs together, as far as they have been waited for."""


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
        # Kilohertz, bits; two transfers a clock.
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
        except Exception as error:  # a compiler that is missing shows in several ways
            raise Refused(f"its kernels cannot be compiled: {str(error)[:2000]}") from error

    def bytes_beside(self) -> int:
        kernels = (self._module.get_function(name) for name in KERNEL.findall(self._module.code))
        return self.threads * max(int(kernel.local_size_bytes) for kernel in kernels)

    def empty(self, count: int, kind: type = np.uint64) -> Array:
        """Straight from the driver: what is given back can be used for arrays of another size."""
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
        """In the first row of launches. The host waits for copies from and to its memory."""
        runtime, stream = self._cupy.cuda.runtime, self._streams[0]
        runtime.memcpyAsync(
            self.address(target), self.address(source), target.nbytes, runtime.memcpyDefault, stream.ptr
        )
        if isinstance(target, np.ndarray) or isinstance(source, np.ndarray):
            stream.synchronize()

    def sort(self, array: Array) -> None:
        with suppress(Exception):  # no memory for it, no library
            array.sort()

    def pinned(self, count: int) -> NDArray[np.uint64]:
        """In large pages, if the host has them: these are pinned, and found by the device, many times faster."""
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
        """A device that has failed takes nothing back, and CuPy would say so for every single array."""
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
    """Memory of the host has the same address on the device."""
    if isinstance(value, np.ndarray):
        return np.uint64(value.ctypes.data)
    return np.uint64(0) if value is None else value


def _cupy() -> Any:
    try:
        # An optional dependency, which takes a second to import.
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise NoDevice(
            "searching on a GPU needs CuPy, which is not installed: pip install 'outcrop[gpu]', or search with "
            "--device cpu"
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
    """Whether there seems to be a GPU and something to use it with: asked by every check, so it must cost nothing."""
    has_driver = any(Path(path).exists() for path in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"))
    return has_driver and importlib.util.find_spec("cupy") is not None
