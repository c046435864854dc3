"""A Device without a GPU: the kernels, compiled for the processor and run by one thread that stands in for all."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.codegen.cache import cache_directory
from outcrop.errors import InternalError
from outcrop.gpu.device import Array, NoDevice, OutOfDeviceMemory

_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-shared", "-fwrapv", "-fno-strict-aliasing", "-w")


class StandIn:
    """The stand-in for a GPU. ``memory``: size of its memory, in bytes."""

    name = "stand-in"
    bandwidth = 0.0
    threads = 1
    failures: tuple[type[Exception], ...] = ()

    def __init__(self, memory: int = 1 << 28) -> None:
        self._compiler = shutil.which("g++") or shutil.which("clang++")
        if self._compiler is None:
            raise NoDevice("there is no C++ compiler for the stand-in of a GPU; install g++ or clang++")
        self._memory = memory
        self._library: ctypes.CDLL | None = None
        self._began = 0.0
        self._seconds = 0.0

    def free_bytes(self) -> int:
        return self._memory

    def load(self, text: str) -> None:
        library = cache_directory() / f"standin-{hashlib.sha256(text.encode()).hexdigest()}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=library.parent, prefix="compiling-") as scratch:
                source, made = Path(scratch, "model.cpp"), Path(scratch, "model.so")
                source.write_text(text, encoding="utf-8")
                command = [str(self._compiler), *_FLAGS, str(source), "-o", str(made)]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                if run.returncode:
                    raise InternalError(f"the kernels cannot be compiled:\n{run.stderr[:2000]}")
                made.replace(library)
        self._library = ctypes.CDLL(str(library))

    def local_memory_bytes(self) -> int:
        return 0

    def empty(self, count: int, kind: type = np.uint64) -> Array:
        if count * np.dtype(kind).itemsize > self._memory:
            raise OutOfDeviceMemory
        # With 16 bytes more, so that the array can start at a multiple of 16, as on a GPU.
        size = np.dtype(kind).itemsize
        room = np.empty(count * size + 16, dtype=np.uint8)
        skip = -room.ctypes.data % 16
        return room[skip : skip + count * size].view(kind)

    def zeros(self, count: int, kind: type = np.uint64) -> Array:
        array = self.empty(count, kind)
        array[:] = 0
        return array

    def put(self, array: NDArray[Any]) -> Array:
        made = self.empty(array.size, array.dtype.type)
        made[:] = array.reshape(-1)
        return made

    def get(self, array: Array) -> NDArray[Any]:
        return np.array(array)

    def copy(self, target: Array, source: Array) -> None:
        target[:] = source

    def sort(self, array: Array) -> None:
        array.sort()

    def pinned(self, count: int) -> NDArray[np.uint64]:
        return np.empty(count, dtype=np.uint64)

    def address(self, array: Array) -> int:
        return int(array.ctypes.data)

    def set_constant(self, name: str, words: NDArray[np.uint64]) -> None:
        assert self._library is not None
        (ctypes.c_uint64 * len(words)).in_dll(self._library, name)[:] = [int(word) for word in words]

    def mark(self, *, aside: bool = False) -> object:
        return None

    def wait(self, mark: object, *, aside: bool = False) -> None:
        pass

    def launch(self, name: str, blocks: tuple[int, int], threads: int, *arguments: object, aside: bool = False) -> None:
        assert self._library is not None
        row = ctypes.c_uint32.in_dll(self._library, "outcrop_row")
        given = [_argument(each) for each in arguments]
        for number in range(blocks[1]):
            row.value = number
            getattr(self._library, name)(*given)

    def abandon(self, failure: BaseException) -> None:
        pass

    def begin_timing(self) -> None:
        self._began = time.monotonic()

    def end_timing(self) -> None:
        self._seconds += time.monotonic() - self._began

    def kernel_seconds(self) -> float:
        return self._seconds


def _argument(value: object) -> Any:
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.uint32):
        return ctypes.c_uint32(int(value))
    return ctypes.c_uint64(int(value))  # type: ignore[call-overload]
