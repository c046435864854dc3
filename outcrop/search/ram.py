"""Breadth-first search in RAM, with full states.

Exact. All states lie in one arena in the order of their discovery; a level is a range of it, so it is queue, visited
states and trace log at once. A table of indexes with a few hash bits each finds a state again.

Costs the packed state and 5 to 9 bytes a state, 11 and more from half a billion states on. At the end of memory:
unknown.
"""

from __future__ import annotations

from outcrop.kernels import Native, Settings
from outcrop.options import CheckOptions
from outcrop.search.budget import state_budget, worker_count
from outcrop.search.driver import DEADLOCK_RULES, Exploration, ShowProgress, TakePut, most_found
from outcrop.search.outcome import Outcome


def search(
    native: Native, options: CheckOptions, progress: ShowProgress | None = None, put: TakePut | None = None
) -> Outcome:
    settings = Settings(
        workers=worker_count(options),
        deadlock=DEADLOCK_RULES[options.deadlock],
        budget=state_budget(options),
        most_states=options.states,
        most_found=most_found(options),
    )
    with native.search(settings) as visited:
        return Exploration(visited, options, progress, put).run()
