"""Checks a list of models, each with some options, and prints each result as JSON. Runs under mpiexec, or alone.

Starting the processes takes most of the time, so one start serves many checks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from optimisation import compile_quickly

import outcrop
from outcrop.dist.launch import started_ranks
from outcrop.dist.transport import Transport, transport_of
from outcrop.explorer.tuning import tuned
from outcrop.result import Result

#: Fields that must not depend on the number of ranks.
SAME = (
    "verdict",
    "kind",
    "guarantee",
    "states",
    "states_visited",
    "rules_fired",
    "levels",
    "properties",
    "coverage",
    "duplicates",
)


def summary(result: Result) -> dict[str, Any]:
    document = result.to_dict()
    rows = {name: document[name] for name in SAME}
    rows["traces"] = [violation["trace"] for violation in document["violations"]]
    rows["messages"] = [violation["message"] for violation in document["violations"]]
    rows["notes"] = [note["message"] for note in document["notes"]]
    events = [{"kind": each.kind, **each.data} for each in result.events]
    return {"same": rows, "events": events, **{name: document[name] for name in ("ranks", "per_rank", "layers")}}


def begin() -> tuple[int, Transport]:
    """Returns the number of ranks and the transport. Ranks treat small models as they otherwise treat large ones."""
    compile_quickly()
    ranks = started_ranks()
    return ranks, transport_of(ranks)


#: Tuning with which ranks learn ownership early, and wake threads for few states.
SMALL = {"large": 200, "short_level": 0.0}


def main() -> None:
    ranks, transport = begin()
    for path, load, options in json.loads(sys.argv[1]):
        model = outcrop.load(path, **load)
        if "owners" in options:
            options["owners"] = options["owners"].get(str(ranks), "auto")
        printed: list[str] = []
        with tuned(**SMALL):
            result = model.check(**options, ranks=ranks, prints=True, output=printed.append)
        if transport.rank == 0:
            print(json.dumps({**summary(result), "printed": sorted("".join(printed).split("\n"))}))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
