"""The speed of `outcrop validate`: lines a second, with full states and with a hidden variable.

    python bench/validate.py --lines 1000000

Each log is a random walk. ``numbered`` lines carry a number of their own, so that no line repeats. Times are processor
time, without compiling the model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from outcrop.api import Model, load
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.validate.follow import Follower
from outcrop.validate.logs import records
from outcrop.validate.options import ValidateOptions
from outcrop.views import StateView

EXAMPLES = Path(__file__).parents[1] / "examples"
HIDDEN = """
type Value: 0..9;
var shown: 0..99; hidden: Value;
startstate begin shown := 0; hidden := 0; end;
ruleset v: Value do rule "step" begin hidden := v; shown := (shown + 1) % 100; end; end;
"""


def lines_of(model: Model, hidden: tuple[str, ...]) -> Any:
    """Returns a function from a state to the lines that may follow it, each with its state."""
    interpreter, known = Interpreter(model.system, symmetry=False), dict[State, list[tuple[str, State]]]()

    def following(state: State) -> list[tuple[str, State]]:
        if state not in known:
            known[state] = [
                (text(each.label if not hidden else None, each.successor), each.successor)
                for each in interpreter.successors(state)
                if each.successor is not None
            ]
        return known[state]

    def text(label: str | None, state: State) -> str:
        shown = {name: value for name, value in StateView(model.system, state).to_dict().items() if name not in hidden}
        return json.dumps({**({} if label is None else {"rule": label}), "state": shown})

    return following, text, next(each.successor for each in interpreter.start_states() if each.successor)


def write(model: Model, path: Path, count: int, hidden: tuple[str, ...], numbered: bool) -> None:
    following, text, state = lines_of(model, hidden)
    random = Random(1)
    with path.open("w") as file:
        file.write(text(None, state) + "\n")
        for number in range(1, count):
            line, state = random.choice(following(state))
            file.write(f'{line[:-1]}, "t": {number}}}\n' if numbered else line + "\n")


def measure(model: Model, path: Path) -> tuple[float, int]:
    """Returns processor time, and the largest number of possible states."""
    with Follower(model.system, ValidateOptions()) as follower:
        begun = time.process_time()
        found = follower.follow(follower.encoded(records(str(path), lambda name: False), str(path)))
        assert found.conformity.exit_code == 0, found
        return time.process_time() - begun, found.widest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        hidden = Path(directory, "hidden.m")
        hidden.write_text(HIDDEN)
        cases = [
            *(
                (EXAMPLES / f"{name}.m", (), numbered)
                for name in ("peterson", "german_cache")
                for numbered in (False, True)
            ),
            (hidden, ("hidden",), False),
        ]
        print("| model | lines | numbered | bytes a line | widest | CPU s | µs a line |\n|---|---|---|---|---|---|---|")
        for path, names, numbered in cases:
            for count in (chosen.lines // 10, chosen.lines):
                model, log = load(path), Path(directory, "log.jsonl")
                write(model, log, count, names, numbered)
                seconds, widest = measure(model, log)
                size = log.stat().st_size // count
                row = [path.stem, f"{count:,}", "yes" if numbered else "no", str(size), str(widest)]
                print("| " + " | ".join([*row, f"{seconds:.2f}", f"{seconds / count * 1e6:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
