"""Processor time of the language server for one text: python bench/lsp.py MODEL [--repeat N]

Prints the least time of N runs for each question, in milliseconds. Diagnostics are asked after every change of a text.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types

from outcrop.lsp import answers
from outcrop.lsp.completion import completion
from outcrop.lsp.texts import Text


def main() -> None:
    """Measures each question on a new copy of the text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    content = arguments.model.read_text(encoding="utf-8", errors="replace")
    everything = types.Range(types.Position(0, 0), types.Position(10**6, 0))
    # A mistake in the middle: the parser has to go on.
    middle = content.index("\n", len(content) // 2)
    broken = content[:middle] + " := ;\n" + content[middle:]
    questions: dict[str, tuple[str, Callable[[Text], object]]] = {
        "diagnostics": (content, lambda text: [answers.diagnostic(text, each) for each in text.diagnostics]),
        "diagnostics, with a mistake": (broken, lambda text: text.diagnostics),
        "index of names": (content, lambda text: text.index.uses),
        "index of names, with a mistake": (broken, lambda text: text.index.uses),
        "semantic tokens": (content, answers.semantic_tokens),
        "outline": (content, answers.outline),
        "completion": (content, lambda text: completion(text, middle)),
        "inlay hints": (content, lambda text: answers.inlay_hints(text, everything)),
        "formatting": (content, answers.formatting),
    }
    print(f"{arguments.model.name}: {content.count(chr(10)):,} lines")
    for name, (text, ask) in questions.items():
        times = []
        for version in range(arguments.repeat):
            made = Text(arguments.model.resolve().as_uri(), text, version, types.PositionEncodingKind.Utf16)
            gc.collect()
            gc.disable()  # as the server does, which collects garbage when the user pauses
            begin = time.process_time()
            ask(made)
            times.append(time.process_time() - begin)
        print(f"{name:32} {1000 * min(times):7.1f} ms   (first {1000 * times[0]:.1f})")


if __name__ == "__main__":
    main()
