"""The mapping file: from the events of a program to the rules, parameters and variables of a model.

```json
{
  "events": {
    "lock.granted": {"rule": "Grant", "arguments": {"n": "$client"}, "state": {"granted[$client]": true}},
    "heartbeat": null
  },
  "values": {"alice": 1, "bob": 2}
}
```

``$client`` stands for the field ``client`` of the line. An event with null is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from outcrop.errors import UsageError
from outcrop.reading import read_json

#: The keys of a line, and of an event in a mapping file, that say what was observed.
OBSERVED = ("rule", "arguments", "state")
_KEYS = {"events", "values"}
_FIELD = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class EventMapping:
    """The meaning of the events of a program, and other names of values."""

    events: Mapping[str, dict[str, Any] | None] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def translate(self, line: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns a line with its event translated; None if the event is skipped. An event without a translation is the
        name of a rule."""
        name = line.get("event")
        if name is None:
            return line
        if name not in self.events:
            if "rule" in line:
                return line
            if not self.events:
                return {**line, "rule": name}
            close = get_close_matches(str(name), self.events, n=1)
            hint = f"did you mean '{close[0]}'?" if close else "add it to 'events', with null if it is to be skipped"
            raise UsageError(f"the mapping file has no event '{name}'; {hint}")
        meaning = self.events[name]
        if meaning is None:
            return None
        found = {key: _filled(each, line) for key, each in meaning.items()}
        for key in ("arguments", "state"):
            if isinstance(line.get(key), dict) and isinstance(found.get(key), dict):
                found[key] = {**line[key], **found[key]}
        return {**line, **found}


def read_mapping(path: str | None) -> EventMapping:
    """Returns the content of a mapping file; an empty one without a file."""
    if path is None:
        return EventMapping()
    document = read_json(path)
    if not isinstance(document, dict) or not set(document) <= _KEYS:
        raise UsageError(f"'{path}' is not a mapping file: it must be an object with 'events' and 'values'")
    events = document.get("events", {})
    for name, meaning in events.items():
        if meaning is not None and not (isinstance(meaning, dict) and set(meaning) <= set(OBSERVED)):
            raise UsageError(f"'{path}': the event '{name}' must be null, or an object with {', '.join(OBSERVED)}")
    return EventMapping(events, document.get("values", {}))


def _filled(template: Any, line: Mapping[str, Any]) -> Any:
    """Returns a template with the fields of a line in place of their names. A text that is only a name keeps the type
    of the field."""
    if isinstance(template, dict):
        return {_filled(key, line): _filled(each, line) for key, each in template.items()}
    if isinstance(template, list):
        return [_filled(each, line) for each in template]
    if not isinstance(template, str):
        return template
    whole = _FIELD.fullmatch(template)
    if whole is not None:
        return _field(line, whole[1])
    return _FIELD.sub(lambda match: str(_field(line, match[1])), template)


def _field(line: Mapping[str, Any], name: str) -> Any:
    if name not in line:
        raise UsageError(f"the mapping file uses ${name}, and the line has no field '{name}'")
    return line[name]
