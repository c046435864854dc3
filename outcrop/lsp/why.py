"""A process that answers why a rule is never enabled: ``python -m outcrop.lsp.why MODEL LINE TIME``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from outcrop.api import load
from outcrop.check.enabling import why_disabled
from outcrop.errors import OutcropError
from outcrop.options import CheckOptions
from outcrop.units import parse_duration


def main(arguments: Sequence[str]) -> int:
    """Prints one JSON document."""
    path, line, limit = arguments
    try:
        model = load(path)
        rules = [each for each in model.system.rules if each.span.line == int(line)]
        if not rules:
            raise OutcropError(f"there is no rule on line {line}")
        options = CheckOptions(time_limit=parse_duration(limit))
        answers = [why_disabled(model.system, model.options, each, options) for each in rules]
    except OutcropError as error:
        print(str(error), file=sys.stderr)
        return error.exit_code
    found = [
        {
            "rule": each.rule,
            "enabled": each.is_enabled,
            "complete": each.is_complete,
            "states": each.states,
            "message": each.text(),
            "conditions": [
                {"text": part.text, "line": part.span.line, "met": part.is_met, "joined": part.is_joined}
                for part in each.conditions
            ],
        }
        for each in answers
    ]
    # Several rules share a line where a process has several steps there. Enabled ones need no explanation.
    found.sort(key=lambda each: bool(each["enabled"]))
    print(json.dumps({**found[0], "rules": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
