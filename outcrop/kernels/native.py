"""A compiled model, loaded as a library."""

from __future__ import annotations

import _ctypes
import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from outcrop.kernels.abi import Signature, abi_hash, interface, read, structure
from outcrop.kernels.states import SPARE_BYTES, States

if TYPE_CHECKING:
    from outcrop.kernels.search import Search, Settings

#: Functions called before all others, to identify the library. Their types never change.
_IDENTIFYING = ("outcrop_abi",)
_FUNCTIONS = ("outcrop_shape", "outcrop_normalise_block")


class CompileCompressed(Protocol):
    """A function that compiles a model for a compressed search, with trees or without. ``kernels``: the files in
    native/ that are needed beyond those of most searches; None: all."""

    def __call__(self, tree: bool, kernels: Sequence[str] | None = ()) -> Native: ...


class Native:
    """A compiled model. ``notes``: the meaning of each of its marks, see Property. ``compile_all`` returns one with all
    kernels, if this one has only those that most searches need.

    Raises OSError if the library cannot be loaded or is not a compiled model.
    """

    def __init__(self, path: Path, notes: Sequence[int] = (), compile_all: Callable[[], Native] | None = None) -> None:
        self._path = path
        self._compile_all = compile_all
        self._loaded: dict[tuple[str, ...] | str, ctypes.CDLL] = {}  #: by the functions that it declares
        identified = self.library_with(_IDENTIFYING)
        if identified.outcrop_abi() != abi_hash():
            _ctypes.dlclose(identified._handle)
            raise OSError(f"{path} was compiled with another interface than native/abi*.h")
        self._library = self.library_with(_FUNCTIONS)
        shape = structure("Shape")()
        self._library.outcrop_shape(ctypes.byref(shape))
        self.state_bytes = int(shape.state_bytes)  #: bytes of a state as the search keeps it
        self.model_bytes = int(shape.model_bytes)  #: bytes as the model packs it; equal unless states are squeezed
        self.state_bits = int(shape.state_bits)
        self.rule_count = int(shape.rules)
        self.cover_count = int(shape.covers)
        self.note_count = int(shape.notes)
        self.liveness_count = int(shape.liveness)
        self.successor_room = int(shape.successor_room)  #: number of successors that a worker gathers
        #: The features that the model was compiled with: names of Features in native/abi.h.
        self.features = frozenset(name for name, *_ in shape.features._fields_ if getattr(shape.features, name))
        self.prints = "printing" in self.features
        self.has_coverage = "coverage" in self.features  #: whether it counts what Search.coverage returns
        self.notes = tuple(notes)
        self.identity: dict[str, Any] = {}  #: identity that checkpoints of its searches must have
        #: Whether it has the kernels of a compressed search, and whether that keeps states as roots of trees.
        self.is_compressed = hasattr(self._library, "outcrop_compressed_open")
        self.is_tree = hasattr(self._library, "outcrop_fold_block")
        self.strength = "general"  #: strength of the automaton in the model, see outcrop.ltl.graph
        self.compile_squeezed: Callable[[int], Native] | None = None  #: compiles it for a width in bytes
        #: Compiles it for a compressed search.
        self.compile_compressed: CompileCompressed | None = None
        self.seconds_to_compile = 0.0  #: estimated time of that, in seconds

    @cached_property
    def with_all_kernels(self) -> Native:
        """Returns this model with all kernels, which also work on the searches of this one. May compile it."""
        return self if self._compile_all is None else self._compile_all()

    def library_with(self, functions: tuple[str, ...]) -> ctypes.CDLL:
        """Returns the library for one part of the kernels, with functions of native/abi*.h declared.

        Raises OSError when the library was compiled without that part."""
        known = self._loaded.get(functions)
        if known is None:
            declared = interface().functions
            known = self._loaded[functions] = self._load({name: declared[name] for name in functions})
        return known

    def library_declaring(self, declarations: str) -> ctypes.CDLL:
        """Returns the library with functions, declared in C, that were compiled with the model and are not kernels."""
        known = self._loaded.get(declarations)
        if known is None:
            known = self._loaded[declarations] = self._load(read(declarations).functions)
        return known

    def _load(self, signatures: Mapping[str, Signature]) -> ctypes.CDLL:
        """Returns a new handle of the library. Other threads see it only when all types are set.

        A refused library is closed, because while it is open, no file that replaces it would be loaded."""
        library = ctypes.CDLL(str(self._path.resolve()))
        for name, (result, arguments) in signatures.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                _ctypes.dlclose(library._handle)
                raise OSError(f"{self._path} is not a compiled model: it lacks {name}") from None
            function.restype = result
            function.argtypes = arguments
        return library

    def search(self, settings: Settings) -> Search:
        from outcrop.kernels.search import Search  # imports this module

        return Search(self, settings)

    def states(self, count: int) -> States:
        """Returns an array for ``count`` states, all zero."""
        return np.zeros((count, self.state_bytes), dtype=np.uint8)

    def packed_states(self, count: int) -> States:
        """Returns an array for ``count`` states as the model packs them, all zero."""
        return np.zeros((count, self.model_bytes), dtype=np.uint8)

    def normalise(self, packed: bytes) -> bytes:
        """Returns the normal form of a packed state; if compiled with symmetry, the representative of its orbit."""
        room = np.zeros(self.model_bytes + SPARE_BYTES, dtype=np.uint8)
        room[: self.model_bytes] = np.frombuffer(packed, dtype=np.uint8)
        self._library.outcrop_normalise_block(room.ctypes.data, 1)
        return room[: self.model_bytes].tobytes()
