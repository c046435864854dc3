"""``outcrop examples``: lists and copies the models that come with Outcrop."""

from __future__ import annotations

import argparse
from pathlib import Path

from outcrop.cli.output import emit
from outcrop.errors import UsageError
from outcrop.manual import example, examples, summary


def run(arguments: argparse.Namespace) -> int:
    """Prints the list of examples, or copies some."""
    known = examples()
    chosen = list(known.values()) if arguments.all else [example(name) for name in arguments.names]
    if not chosen:
        width = max(map(len, known), default=0)
        rows = [f"  {name:<{width}}  {summary(path)}" for name, path in known.items()]
        emit("\n".join([*rows, "", "'outcrop examples NAME' copies one into this directory; --all copies all."]))
        return 0
    for path in chosen:
        emit(f"wrote {_copy(path, Path(arguments.output))}")
    return 0


def _copy(path: Path, directory: Path) -> Path:
    """Copies an example and returns the place of the copy. Raises ``UsageError`` rather than replace a file."""
    target = directory / path.name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(path.read_text(encoding="utf-8"))
    except FileExistsError:
        raise UsageError(f"'{target}' exists already. Delete it, or choose another directory with -o DIR") from None
    except OSError as error:
        raise UsageError(f"cannot write '{target}': {error.strerror}. Choose another directory with -o DIR") from None
    return target
