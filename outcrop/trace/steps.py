"""Steps of a model as a chart shows them: who acts, what changes, and which messages are sent and received.

Works on the JSON document of a check (docs/reference/json.md), where types are trees of objects and values are in ITF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.trace.changes import Change, changes
from outcrop.trace.lanes import Lanes, find_lanes
from outcrop.trace.messages import Message, Networks, find_networks


@dataclass(frozen=True)
class ChartStep:
    """A step. ``named``: lanes that its rule names; ``actors``: these or, where it names none, lanes that follow from
    its messages and changes."""

    named: tuple[int, ...] = ()
    actors: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    received: tuple[Message, ...] = ()
    sent: tuple[Message, ...] = ()


class StepReader:
    """Reads the steps of one model. ``lanes`` names the type to make lanes of; ``messages`` describe networks (see
    messages.py). Raises UsageError where these do not fit the model."""

    def __init__(self, document: dict[str, Any], lanes: str | None = None, messages: Sequence[str] = ()) -> None:
        self._variables = document.get("variables", [])
        self.lanes: Lanes = find_lanes(document, lanes)
        self._networks: Networks = find_networks(document, self.lanes, messages)

    @property
    def shared(self) -> int:
        """The number of the lane for what belongs to no other lane."""
        return len(self.lanes.names)

    def named(self, meta: dict[str, Any]) -> tuple[int, ...]:
        """Returns the lanes that the rule of a step names: its processes, or its arguments."""
        if self.lanes.are_processes:
            return self.lanes.of_step(meta)
        texts = [self.lanes.of_text(each["type"], each["value"]) for each in meta.get("arguments", [])]
        # The first of several arguments is the actor; the others are its partners.
        return tuple([lane for lane in texts if lane is not None][:1])

    def read(self, meta: dict[str, Any], before: dict[str, Any], state: dict[str, Any]) -> ChartStep:
        """Reads the step from one state to the next."""
        lay, lies = (self._networks.messages(self._variables, each) for each in (before, state))
        received, sent = tuple((lay - lies).elements()), tuple((lies - lay).elements())
        changed = tuple(changes(self.lanes, self._networks, self._variables, before, state))
        named = self.named(meta)
        return ChartStep(named, named or self._inferred(changed, received, sent), changed, received, sent)

    def _inferred(
        self, changed: Sequence[Change], received: Sequence[Message], sent: Sequence[Message]
    ) -> tuple[int, ...]:
        """Returns the lanes of the receivers, else of the senders, else of the changes."""
        for found in (
            [each.target for each in received],
            [each.source for each in sent],
            [each.lane for each in changed if each.lane != self.shared],
        ):
            lanes = tuple(dict.fromkeys(lane for lane in found if lane is not None))
            if lanes:
                return lanes
        return (self.shared,) if changed else ()
