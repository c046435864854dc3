"""The operations of the explorer, each a function from plain data to plain data."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from outcrop.api import Model
from outcrop.errors import OutcropError, UsageError
from outcrop.explore.evaluate import Scope
from outcrop.explore.goals import GOAL, expression_source, looking_for, starting_from, without_runs
from outcrop.explore.layout import layered
from outcrop.explore.saved import parsed
from outcrop.ir.system import System
from outcrop.lang.report import LowerExpression
from outcrop.options import LoadOptions
from outcrop.result import Result, Verdict, Violation
from outcrop.serve.history import History
from outcrop.trace.chart import chart
from outcrop.trace.context import extent_of, place_of
from outcrop.trace.itf import trace_document

#: Enabled rules that a page lists.
_MOST_CHOICES = 500
_LONGEST_WALK = 2_000
_MOST_SECONDS = 600.0
#: States that are drawn in the graph of what was seen.
_MOST_DRAWN = 150


@dataclass
class Explorer:
    """A model that one reader explores. ``document`` has the variables and rules, as the JSON of a check has them."""

    system: System
    lower: LowerExpression
    options: LoadOptions
    document: dict[str, Any]
    engine: str = "native"
    lanes: str | None = None  #: lanes of the message chart, see ``chart``
    messages: tuple[str, ...] = ()
    history: History = field(init=False)
    first: int | None = None  #: the moment that a page shows first
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.history = History(self.system)

    def answer(self, request: Any) -> dict[str, Any]:
        """Returns the answer to a request: a view, or ``error`` with a message."""
        try:
            if not isinstance(request, dict) or request.get("do") not in _OPERATIONS:
                raise UsageError("The server does not know this request. Reload the page.")
            with self.lock:
                return _OPERATIONS[request["do"]](self, request)
        except OutcropError as error:
            return {"error": str(error)}
        except (KeyError, TypeError, ValueError) as error:
            return {"error": f"The request is incomplete: {error}"}

    # --- Operations ----------------------------------------------------------------------------------------------

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Shows what a page shows first: the end of a trace that was loaded, or the start state."""
        return self.begin(request) if self.first is None else self.view(self.first)

    def begin(self, request: dict[str, Any]) -> dict[str, Any]:
        """Goes to the start state, or before it where there are several."""
        choices = self.history.choices(0)
        is_only = len(choices) == 1 and not choices[0].failure
        return self.view(self.history.take(0, choices[0]) if is_only else 0)

    def show(self, request: dict[str, Any]) -> dict[str, Any]:
        """Shows a moment of the history."""
        return self.view(int(request["at"]))

    def fire(self, request: dict[str, Any]) -> dict[str, Any]:
        """Takes one of the choices of a moment."""
        at, number = int(request["at"]), int(request["choice"])
        choices = self.history.choices(at)
        if not 0 <= number < len(choices):
            raise UsageError(f"There is no choice {number} in this state. Reload the page.")
        return self.view(self.history.take(at, choices[number]))

    def evaluate(self, request: dict[str, Any]) -> dict[str, Any]:
        """Evaluates an expression at a moment."""
        session = self.history.session(int(request["at"]))
        return {"value": Scope(self.lower).evaluate(session, str(request["text"]))}

    def walk(self, request: dict[str, Any]) -> dict[str, Any]:
        """Walks at random until something is wrong, nothing is enabled, or the steps are used up."""
        at, steps = int(request["at"]), min(int(request["steps"]), _LONGEST_WALK)
        chance = random.Random(int(request.get("seed", 0)))
        for _ in range(steps):
            choices = [each for each in self.history.choices(at) if each.firing.successor is not None]
            if not choices:
                break
            at = self.history.take(at, chance.choice(choices))
            if self.history.at(at).wrong:
                break
        return self.view(at)

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Searches from a moment for a violation, or for a state in which an expression is true; goes there."""
        at, text = int(request["at"]), str(request.get("text", "")).strip()
        state = self.history.state(at)
        if state is None:
            raise UsageError("There is no state yet: choose a start state.")
        seconds = max(1.0, min(float(request.get("seconds", 20)), _MOST_SECONDS))
        result, found = self._found(starting_from(self.system, state), text, seconds)
        states = f"{result.states_visited:,} state{'' if result.states_visited == 1 else 's'}"
        if found is None or found.trace is None:
            is_complete = result.verdict is not Verdict.UNKNOWN and all(
                each.status != "unknown" for each in result.properties
            )
            how = "that can be reached from here" if is_complete else "reached so far"
            what = f"{text} is true in no state {how}" if text else f"Nothing is wrong in any state {how}"
            return {"said": f"{what} ({states}, {result.guarantee if is_complete else result.kind})."}
        for step in found.trace.steps[1:]:
            session = self.history.session(at)
            session.steps.append(step)
            at = self.history.add(at, step, session.wrong())
        count = len(found.trace.steps) - 1
        said = f"Reached in {count} step{'' if count == 1 else 's'}, the fewest there are, after {states}."
        fails = f" There {found.failing_step} fails: {found.message}." if found.failing_step else ""
        return {**self.view(at), "said": said + fails}

    def _found(self, system: System, text: str, seconds: float) -> tuple[Result, Violation | None]:
        """Returns the result of a search, and the violation that it was for. A run that ends in an error is not what a
        search for an expression is for; it then continues to the end."""
        if not text:
            result = self._check(without_runs(system), seconds, deadlock="stuttering")
            return result, next((each for each in result.violations if each.trace is not None), None)
        goal = looking_for(system, *self.lower(expression_source(text)))
        for most in (1, None):
            result = self._check(goal, seconds, deadlock="off", max_errors=most)
            found = next((each for each in result.violations if each.property == GOAL), None)
            if found is not None or all(each.trace is None for each in result.violations):
                break
        return result, found

    def _check(self, system: System, seconds: float, **options: Any) -> Result:
        return Model(system, (), self.options).check(engine=self.engine, time_limit=seconds, **options)

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Takes over a saved trace, and shows its end or the state after one of its steps."""
        session = self.history.session(0)
        session.load(request["document"] if "document" in request else parsed(request["text"], request["name"]))
        moments, steps = [0], session.steps
        asked = request.get("step")
        if asked is not None and asked >= len(steps):
            raise UsageError(f"The trace has no step {asked:,}; its last one is {len(steps) - 1:,}.")
        for number, step in enumerate(steps, 1):
            session.steps = steps[:number]
            moments.append(self.history.add(moments[-1], step, session.wrong()))
        at = self.first = moments[-1] if asked is None else moments[asked + 1]
        return {**self.view(at), "said": f"{len(steps):,} states of a saved trace."}

    # --- Views ---------------------------------------------------------------------------------------------------

    def view(self, at: int) -> dict[str, Any]:
        """Returns all that the page shows of a moment."""
        path = self.history.path(at)
        choices = self.history.choices(at)
        moment = self.history.at(at)
        return {
            "at": at,
            "path": [each.number for each in path],
            "wrong": moment.wrong,
            "trace": trace_document(self.history.trace(at)) if path else None,
            "choices": [self._choice(at, number) for number in range(min(len(choices), _MOST_CHOICES))],
            "more": max(0, len(choices) - _MOST_CHOICES),
            "place": None if moment.step is None else place_of(extent_of(self.system, moment.step)),
            "history": [
                [each.number, each.parent, each.step.label if each.step else "", bool(each.wrong)]
                for each in self.history.moments[1:]
            ],
            "chart": self._chart(at) if path else None,
            "graph": self._graph(),
        }

    def _choice(self, at: int, number: int) -> dict[str, Any]:
        choice = self.history.choices(at)[number]
        return {
            "label": choice.label,
            "failure": choice.failure,
            "leads_nowhere": choice.firing.successor is None,
            "changes_nothing": choice.firing.successor == self.history.state(at),
            "taken": choice.label in self.history.at(at).children,
        }

    def _chart(self, at: int) -> dict[str, Any]:
        message = self.history.at(at).wrong
        violation = {"message": message, "trace": trace_document(self.history.trace(at))}
        return chart(self.document, violation, self.lanes, self.messages).to_dict()

    def _graph(self) -> dict[str, Any]:
        """Returns the visited states, without duplicates, in rows by the fewest steps in which they were visited."""
        numbers: dict[Any, int] = {}
        layers: list[int] = []
        links: dict[tuple[int, int], str] = {}
        moments: list[list[int]] = []
        depth = {0: 0}
        for each in self.history.moments[1:]:
            assert each.step is not None and each.parent is not None
            depth[each.number] = depth[each.parent] + 1
            if each.step.state not in numbers:
                if len(numbers) >= _MOST_DRAWN:
                    continue
                numbers[each.step.state] = len(layers)
                layers.append(depth[each.number])
                moments.append([])
            here = numbers[each.step.state]
            layers[here] = min(layers[here], depth[each.number])
            moments[here].append(each.number)
            before = self.history.state(each.parent)
            if before in numbers:
                links.setdefault((numbers[before], here), each.step.label)
        boxes = layered(layers, list(links), [(26, 26)] * len(layers))
        return {
            "nodes": [{"x": box.x, "y": box.y, "moments": of} for box, of in zip(boxes, moments, strict=True)],
            "links": [{"source": a, "target": b, "label": label} for (a, b), label in links.items()],
            "more": max(0, len({each.step.state for each in self.history.moments if each.step}) - len(layers)),
        }


_OPERATIONS: dict[str, Callable[[Explorer, dict[str, Any]], dict[str, Any]]] = {
    "open": Explorer.open,
    "begin": Explorer.begin,
    "show": Explorer.show,
    "fire": Explorer.fire,
    "evaluate": Explorer.evaluate,
    "walk": Explorer.walk,
    "search": Explorer.search,
    "load": Explorer.load,
}
