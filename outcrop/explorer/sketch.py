"""HyperLogLog: an estimate of the number of different states visited, from their hashes.

P. Flajolet, E. Fusy, O. Gandouet, F. Meunier, "HyperLogLog: the analysis of a near-optimal cardinality estimation
algorithm" (2007). Each hash belongs to a register, which keeps the largest number of leading zeros seen. The error is
about 1%.
"""

from __future__ import annotations

import math

import numpy as np

from outcrop.kernels import Counts

_BITS = 13
_REGISTERS = 1 << _BITS


class Sketch:
    """The registers of a HyperLogLog estimate."""

    def __init__(self) -> None:
        self._longest = np.zeros(_REGISTERS, dtype=np.uint8)

    def add(self, hashes: Counts) -> None:
        # The search partitions states by the first bits of their hash, so the last bits select the register.
        registers = (hashes & np.uint64(_REGISTERS - 1)).astype(np.int64)
        rest = (hashes >> np.uint64(_BITS)).astype(np.float64)
        zeros = 64 - _BITS - np.frexp(rest)[1]
        np.maximum.at(self._longest, registers, (zeros + 1).astype(np.uint8))

    def estimate(self) -> float:
        raw = 0.7213 / (1 + 1.079 / _REGISTERS) * _REGISTERS**2 / float(np.sum(np.exp2(-self._longest.astype(float))))
        empty = int(np.count_nonzero(self._longest == 0))
        return _REGISTERS * math.log(_REGISTERS / empty) if raw <= 2.5 * _REGISTERS and empty else raw
