"""Coverage-guided fuzzing of the front-ends: ``./dev fuzz-parsers --language dve --minutes 10``.

The result for every text must be a System or diagnostics; never another exception, and never a hang. atheris writes
its findings to ``crash-*`` files in the directory in which it was started.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["outcrop"]):
    from outcrop.errors import ModelError
    from outcrop.lang import front_end, load_text
    from outcrop.ltl.parser import parse
    from outcrop.options import LoadOptions

    front_end("fuzzed.m"), front_end("fuzzed.dve")  # imports them

REPOSITORY = Path(__file__).parents[2]
#: Largest text, in bytes. It is read within a fraction of a second; a text that takes longer than the limit is a hang.
MOST_BYTES, MOST_SECONDS = 4_096, 10


def read_model(language: str, data: bytes) -> None:
    try:
        load_text(data.decode("utf-8", errors="replace"), f"fuzzed.{language}", LoadOptions())
    except ModelError as error:
        assert str(error)


def read_formula(data: bytes) -> None:
    try:
        parse(data.decode("utf-8", errors="replace"))
    except ModelError as error:
        assert str(error)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev fuzz-parsers", description=__doc__)
    parser.add_argument("--language", choices=["m", "dve", "ltl"], default="m")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="0: by the time")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as corpus:
        for path in REPOSITORY.rglob(f"*.{chosen.language}"):
            Path(corpus, path.name).write_bytes(path.read_bytes()[:MOST_BYTES])
        arguments = [sys.argv[0], corpus, f"-max_total_time={int(chosen.minutes * 60)}", f"-max_len={MOST_BYTES}"]
        arguments += [f"-timeout={MOST_SECONDS}", "-rss_limit_mb=2048", f"-seed={chosen.seed}"]
        if chosen.language == "ltl":
            atheris.Setup(arguments, read_formula)
        else:
            atheris.Setup(arguments, lambda data: read_model(chosen.language, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
