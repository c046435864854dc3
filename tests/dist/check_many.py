"""Run by mpiexec, or alone: checks a list of models, each with some options, and prints what came of each as JSON.

One start of several processes for many checks: that is what takes the time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from optimisation import compile_quickly

import outcrop
from outcrop.dist.exchange import Exchange, exchange_of
from outcrop.dist.launch import started_ranks
from outcrop.result import Result
from outcrop.search import balance, sharing

#: What must not depend on the number of ranks.
SAME = ("verdict", "kind", "guarantee", "states", "states_visited", "rules_fired", "levels", "properties", "coverage", "duplicates")


def summary(result: Result) -> dict[str, Any]:
    document = result.to_dict()
    rows = {name: document[name] for name in SAME}
    rows["traces"] = [violation["trace"] for violation in document["violations"]]
    rows["messages"] = [violation["message"] for violation in document["violations"]]
    rows["notes"] = [note["message"] for note in document["notes"]]
    return {"same": rows, **{name: document[name] for name in ("ranks", "per_rank", "events", "layers")}}


def begin() -> tuple[int, Exchange]:
    """The ranks that were started, which do with small models what they otherwise do with large ones."""
    compile_quickly()
    balance.LARGE = 200
    sharing.SHORT_LEVEL = 0.0  # threads, however few the states
    ranks = started_ranks()
    return ranks, exchange_of(ranks)


def main() -> None:
    ranks, exchange = begin()
    for path, load, options in json.loads(sys.argv[1]):
        model = outcrop.load(path, **load)
        if "owners" in options:
            options["owners"] = options["owners"].get(str(ranks), "auto")
        printed: list[str] = []
        result = model.check(**options, ranks=ranks, output=printed.append)
        if exchange.rank == 0:
            print(json.dumps({**summary(result), "printed": sorted("".join(printed).split("\n"))}))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
