"""``python -m outcrop``, and the entry point of the ``outcrop`` command."""

from __future__ import annotations

import sys

from outcrop.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
