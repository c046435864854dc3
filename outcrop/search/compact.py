"""Breadth-first search that remembers a b-bit signature of each state instead of the state.

U. Stern and D. L. Dill, "A new scheme for memory-efficient probabilistic verification" (1996), with the bound in the
form that their "Using magnetic disk instead of main memory in the Murphi verifier" (1998) gives as formula (1).

Two states with the same signature count as one, so states may be missed. A reported violation is real. *Holds* comes
with a bound on the probability that some state was missed on every path to a violation. ``seed`` draws the hash from a
strongly universal family, so the bound holds for every model, and runs with different seeds multiply their bounds.

The full states go to an unnamed file under ``workdir``, in the order of their discovery. The file is the queue, of
which only the parts being read and written are in memory. It is also the log from which traces are rebuilt: the levels
are expanded again, as in ``ram``, so the trace does not depend on the number of workers. The predecessor links of the
1998 paper would take less space, but the trace would depend on the workers. Costs 5 to 8 bytes a state in RAM for 40
bits, and the packed state on disk.
"""

from __future__ import annotations

from functools import partial

from outcrop.explorer.context import DEFAULT_CONTEXT, Context
from outcrop.explorer.file_arena import queue_on_disk
from outcrop.explorer.visited import SignatureTable
from outcrop.kernels import Native
from outcrop.options import CheckOptions
from outcrop.outcome import Outcome
from outcrop.search.ram import breadth_first

#: Default size of a signature, in bits.
_BITS = 40


def search(native: Native, options: CheckOptions, context: Context = DEFAULT_CONTEXT) -> Outcome:
    bits = options.bits or _BITS
    with queue_on_disk(native, options, context, bits=bits) as explorer:
        explorer.visited = SignatureTable(bits, "compact", options.seed)
        return explorer.run(partial(breadth_first, explorer))
