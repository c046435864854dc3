"""``python -m outcrop``, and the entry point of the ``outcrop`` command."""

from __future__ import annotations

import sys

from outcrop.interrupts import ignore, listen


def main() -> int:
    listen()
    from outcrop.cli.main import main as run  # slow to import, and signals must be handled meanwhile

    code = run()
    ignore()
    return code


if __name__ == "__main__":
    sys.exit(main())
