"""The GPU compiler accepts what the emitter writes. Needs NVRTC, from CUDA or from the package nvidia-cuda-nvrtc, but
no GPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import site
from functools import cache
from pathlib import Path

import pytest
from devices import TINY_TUNING
from expectations import EXAMPLES, TEST_MODELS, expectation

from outcrop.api import load
from outcrop.codegen.c import emit
from outcrop.gpu.device import OPTIONS
from outcrop.gpu.source import translation_unit, why_not

_SMALL = [path for path in (*EXAMPLES, *TEST_MODELS) if expectation(path).verdict != "rejected"]


@cache
def _library() -> ctypes.CDLL | None:
    for folder in map(Path, site.getsitepackages()):
        found = sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*"))
        if found:
            # NVRTC finds its second library by name only.
            for half in found[-1].parent.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(str(half), ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(found[-1]))
    name = ctypes.util.find_library("nvrtc")
    return None if name is None else ctypes.CDLL(name)


def _compile(text: str) -> str:
    """Returns the errors of the compiler; "" if it accepts the text."""
    library = _library()
    if library is None:
        pytest.skip("there is no NVRTC")
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"model.cu", 0, None, None)
    options = [option.encode() for option in ("--gpu-architecture=sm_90", *OPTIONS)]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() if status else ""


def _objections(path: Path, *, symmetry: bool) -> str:
    model = load(path)
    emitted = emit(model.system, symmetry and model.system.allows_symmetry)
    return "" if why_not(model.system, emitted) else _compile(translation_unit(emitted, TINY_TUNING))


@pytest.mark.parametrize("path", EXAMPLES[:2], ids=lambda path: path.stem)
def test_examples_compile(path: Path) -> None:
    assert _objections(path, symmetry=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("path", _SMALL, ids=lambda path: path.stem)
def test_every_small_model_compiles(path: Path, symmetry: bool) -> None:
    assert _objections(path, symmetry=symmetry) == ""
