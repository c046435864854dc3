"""A process that runs the front-end of a program: ``python -m outcrop.lsp.diagnose FILE``.

The program may do anything, so that the server stays out of it. Prints the diagnostics as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Sequence

from outcrop.errors import ModelError, OutcropError
from outcrop.lang import front_end
from outcrop.options import LoadOptions
from outcrop.reading import read_source
from outcrop.source import Severity

_SEVERITIES = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.NOTE: 3}


def main(arguments: Sequence[str]) -> int:
    """Prints one JSON list."""
    try:
        source = read_source(arguments[0])
        with contextlib.redirect_stdout(io.StringIO()):  # the program may print
            found = front_end(source.name)(source, LoadOptions())[1]
    except ModelError as error:
        found = list(error.diagnostics)
    except OutcropError as error:
        print(str(error), file=sys.stderr)
        return error.exit_code
    made = [
        {
            "start": 0 if each.span is None else each.span.start,
            "end": 0 if each.span is None else each.span.end,
            "message": each.message + (f"\nhint: {each.hint}" if each.hint else ""),
            "severity": _SEVERITIES[each.severity],
        }
        for each in found
        if each.span is None or each.span.source.name == source.name
    ]
    print(json.dumps(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
