"""The binary interface of the kernels, read from the C headers that they are compiled with.

The headers native/abi*.h are the only place where exported functions and shared structures are declared. ``read`` turns
them into ctypes. It knows the part of C that these headers use, and refuses everything else: it never guesses the
meaning of a declaration.

A hash of the headers is compiled into every library, and Native compares it when it loads one.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from outcrop.errors import InternalError

_NATIVE = Path(__file__).resolve().parent.parent / "native"

Type = type[Any]  #: a type of ctypes
Signature = tuple[Type | None, tuple[Type, ...]]  #: the result type and the parameter types of a function

_NUMBERS: dict[str, Type] = {
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: Include guards, and includes of headers that need no reading or are read anyway.
_DIRECTIVE = re.compile(r'^#(?:ifndef OUTCROP_\w+|define OUTCROP_\w+|endif|include (?:<stdint\.h>|"abi\w*\.h"))$', re.M)
_TYPE = r"(?:const )?(?P<type>\w+) (?P<stars>\**)"
_OPAQUE = re.compile(r"typedef struct (?P<name>\w+) (?P=name); ?")
_STRUCTURE = re.compile(r"typedef struct \{(?P<fields>[^{}]*)\} (?P<name>\w+); ?")
_CALLBACK = re.compile(rf"typedef {_TYPE}\(\*(?P<name>\w+)\)\((?P<parameters>[^()]*)\); ?")
_FUNCTION = re.compile(rf"{_TYPE}(?P<name>\w+)\((?P<parameters>[^()]*)\); ?")
_VARIABLE = re.compile(rf"{_TYPE}(?P<name>\w+)(?:\[(?P<length>\d+)\])?")


@dataclass(frozen=True)
class Interface:
    """Declarations as ctypes. All pointers are plain addresses."""

    functions: dict[str, Signature] = field(default_factory=dict)
    structures: dict[str, type[ctypes.Structure]] = field(default_factory=dict)
    callbacks: dict[str, Signature] = field(default_factory=dict)  #: functions that kernels call
    opaque: set[str] = field(default_factory=set)  #: structures whose fields only kernels know

    def __contains__(self, name: str) -> bool:
        return any(name in each for each in (self.functions, self.structures, self.callbacks, self.opaque))


@cache
def read(text: str) -> Interface:
    """Reads C declarations. Raises InternalError at the first one that it does not understand."""
    rest = " ".join(_DIRECTIVE.sub("", _COMMENT.sub(" ", text)).split())
    found, at = Interface(), 0
    while at < len(rest):
        at = _read_one(found, rest, at)
    return found


def _read_one(found: Interface, text: str, at: int) -> int:
    """Reads the declaration at a position. Returns the position after it."""
    for pattern in (_FUNCTION, _STRUCTURE, _OPAQUE, _CALLBACK):
        match = pattern.match(text, at)
        if match is None:
            continue
        name = match["name"]
        if name in found:
            raise _refusal(f"{name} a second time")
        if pattern is _OPAQUE:
            found.opaque.add(name)
        elif pattern is _STRUCTURE:
            # Without a dictionary, the structure refuses fields that it does not have.
            members = {"__slots__": (), "_fields_": tuple(_fields(found, match["fields"]))}
            found.structures[name] = type(name, (ctypes.Structure,), members)
        else:
            result = _type_of(found, match)
            if result is not None and issubclass(result, ctypes.Structure):
                raise _refusal(match[0])
            known = found.functions if pattern is _FUNCTION else found.callbacks
            known[name] = result, tuple(_parameters(found, match["parameters"]))
        return match.end()
    raise _refusal(text[at : at + 80])


def _fields(found: Interface, text: str) -> Iterator[tuple[str, Type]]:
    for line in text.split(";")[:-1]:
        first, *others = line.strip().split(", ")
        base = first.rpartition(" ")[0]
        for each in (first, *(f"{base} {other}" for other in others)):
            match, kind = _variable(found, each)
            yield match["name"], kind if match["length"] is None else kind * int(match["length"])


def _parameters(found: Interface, text: str) -> Iterator[Type]:
    if text == "void":
        return
    for each in text.split(", "):
        match, kind = _variable(found, each)
        if match["length"] is not None or issubclass(kind, ctypes.Structure):
            raise _refusal(each)
        yield kind


def _variable(found: Interface, text: str) -> tuple[re.Match[str], Type]:
    match = _VARIABLE.fullmatch(text)
    kind = _type_of(found, match) if match else None
    if match is None or kind is None:
        raise _refusal(text)
    return match, kind


def _type_of(found: Interface, match: re.Match[str]) -> Type | None:
    """Returns the type that a declaration begins with; None for void."""
    name = match["type"]
    is_number_or_void = name in _NUMBERS or name == "void"
    if not is_number_or_void and (name not in found or name in found.functions):
        raise _refusal(match[0])
    if match["stars"] or name in found.callbacks:
        return ctypes.c_void_p
    if name in found.opaque:
        raise _refusal(match[0])
    return found.structures.get(name) or _NUMBERS.get(name)


def _refusal(what: str) -> InternalError:
    return InternalError(f"Python cannot read the interface of the kernels, native/abi*.h: {what}")


# --- The headers -----------------------------------------------------------------------------------------------


@cache
def _headers() -> str:
    """Returns the text of all headers. abi.h, which the others include, comes first."""
    paths = sorted(_NATIVE.glob("abi*.h"), key=lambda path: path.stem)
    return "".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def abi_hash() -> int:
    """Returns the hash of the headers that Python has read: 64 bits, never 0."""
    return int.from_bytes(hashlib.sha256(_headers().encode()).digest()[:8], "little") | 1


def interface() -> Interface:
    """Returns the interface of the kernels."""
    return read(_headers())


def callback(name: str) -> Callable[..., Any]:
    """Returns the type of a callback. Calling it with a Python function makes the function that kernels call."""
    result, arguments = interface().callbacks[name]
    return ctypes.CFUNCTYPE(result, *arguments)


def structure(name: str) -> type[ctypes.Structure]:
    """Returns a structure of the headers. Calling it with its fields as keywords makes an instance."""
    return interface().structures[name]
