"""Generated models: the compiled code against the interpreter, every strategy, every number of threads.

The suite tries a few models. ``pytest -m slow tests/fuzz/test_differential.py`` tries a thousand, and

    python tests/fuzz/test_differential.py [COUNT [SEED]]

as many as you like, printing each model on which two searches disagree.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from expectations import QUICK_FLAGS
from generator import generate

from outcrop.codegen import compiler
from outcrop.codegen.c import emit
from outcrop.lang import load_text
from outcrop.options import CheckOptions, Deadlock, LoadOptions, UndefinedReads
from outcrop.search import compact, ram, reference
from outcrop.search.outcome import Outcome

_DEPTH = 6


@pytest.fixture(scope="module", autouse=True)
def private_cache() -> Iterator[None]:
    """Generated models are not worth keeping."""
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "cache_directory", lambda: Path(directory))
        yield


def comparable(outcome: Outcome, symmetry: bool) -> Outcome:
    """Without what may differ: times, and under symmetry which state stands for its orbit."""
    outcome = dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, omission_bound=0.0)
    if symmetry:
        outcome.findings = []
    return outcome


def disagreement(seed: int) -> str:
    """What the searches of a generated model disagree about, with the model; "" when they agree."""
    random = Random(seed)
    text = generate(random)
    undefined = random.choice(list(UndefinedReads))
    system, _ = load_text(text, "generated.m", LoadOptions(undefined=undefined, while_limit=100))
    for symmetry in {False, bool(system.scalarsets) and system.allows_symmetry}:
        emitted = emit(system, symmetry, coverage=True)
        native = compiler.compile_model(emitted.source, note_offsets=emitted.note_offsets, flags=QUICK_FLAGS)
        for max_errors, deadlock in ((1, Deadlock.STUTTERING), (None, random.choice(list(Deadlock)))):
            options = CheckOptions(symmetry=symmetry, depth=_DEPTH, max_errors=max_errors, deadlock=deadlock)
            expected = comparable(reference.search(system, options), symmetry)
            for name, search, more in (
                ("ram, 1 thread", ram.search, {"threads": 1}),
                ("ram, 3 threads", ram.search, {"threads": 3}),
                ("compact", compact.search, {"threads": 2, "bits": 64}),
            ):
                got = comparable(search(native, dataclasses.replace(options, **more)), symmetry)
                if name == "compact":  # which keeps no levels
                    got.deeper = expected.deeper
                if got != expected:
                    return f"model {seed}, {name}, {options}:\n{expected}\nis not\n{got}\n{text}"
    return ""


@pytest.mark.parametrize("seed", range(20))
def test_engines_agree(seed: int) -> None:
    found = disagreement(seed)
    assert not found, found


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_engines_agree_on_a_thousand_models(block: int) -> None:
    for seed in range(1_000 + block * 10, 1_010 + block * 10):
        found = disagreement(seed)
        assert not found, found


def main(count: int, first: int) -> int:
    failures = 0
    with TemporaryDirectory() as directory:
        compiler.cache_directory = lambda: Path(directory)  # type: ignore[assignment]
        for seed in range(first, first + count):
            found = disagreement(seed)
            if found:
                failures += 1
                print(found, end="\n\n", flush=True)
    print(f"{count} models, {failures} disagreements")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, [*sys.argv[1:], *(["100", "0"][len(sys.argv) - 1 :])])))
