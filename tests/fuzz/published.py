"""Published Promela models against SPIN: ``python tests/fuzz/published.py FILE...``.

Each model is searched by SPIN without reductions and by the front-end, and compared: states, transitions, unreached
code, and the verdicts about assertions, invalid end states, acceptance and non-progress cycles and each claim. Prints
a line for each model: ``equal``, ``different`` with what is, or why it is not compared. Needs ``spin``, and ``tcc`` or
``gcc``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from compare_spin import Comparison, Limits, NotAccepted, has_spin

import outcrop
from outcrop.errors import OutcropError

#: What may be compared of a model.
PARTS = ("counts", "unreached", "verdicts", "cycles", "formula")


def compared(path: Path, limits: Limits, parts: tuple[str, ...], processes: int) -> tuple[str, str]:
    """Returns "equal", "different" or another outcome, and its reason."""
    with TemporaryDirectory() as directory:
        folder = Path(directory, "model")
        shutil.copytree(path.parent, folder, ignore=shutil.ignore_patterns(".git"))
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        loading = {"processes": processes} if processes else {}
        comparison = Comparison(folder, text, "native", path.name, limits, loading)
        done, left = [], []
        try:
            comparison.spin  # noqa: B018 - accepts the model, or raises
        except NotAccepted as error:
            return _only_here(folder / path.name, loading, _reason(error))
        for part in parts:
            try:
                if difference := getattr(comparison, part)():
                    return "different", difference
                done.append(part)
            except NotAccepted as error:
                left.append(f"{part}: {_reason(error)}")
            except OutcropError as error:
                return "refused", _reason(error)
    return ("equal" if done else "not compared"), "; ".join([", ".join(done), *left])


def _only_here(path: Path, loading: dict[str, int], refusal: str) -> tuple[str, str]:
    """Returns what becomes of a model that SPIN refuses."""
    try:
        outcrop.load(path, **loading)
    except OutcropError as error:
        return "both refuse", f"{_reason(error)}; SPIN: {refusal}"
    return "only SPIN refuses", refusal


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["not accepted"]
    return next((line for line in lines if "rror" in line), lines[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=40.0, help="for one run of a verifier of SPIN")
    parser.add_argument("--most-states", type=int, default=2_000_000)
    parser.add_argument("--total-seconds", type=float, default=400.0, help="for one model")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--processes", type=int, default=0, help="the option of Outcrop")
    parser.add_argument("--in-process", action="store_true", help="without a process for each model")
    chosen = parser.parse_args()
    if not has_spin():
        sys.exit("spin and a C compiler are needed: install them with the packages of your system")
    limits = Limits(chosen.seconds, 2_000_000, chosen.most_states, chosen.most_states, chosen.most_states)
    if chosen.in_process:
        for path in chosen.files:
            print(": ".join(compared(path, limits, tuple(chosen.parts), chosen.processes)))
        return
    tally: Counter[str] = Counter()
    options = [each for each in sys.argv[1:] if Path(each) not in chosen.files]
    for path in chosen.files:
        command = [sys.executable, __file__, str(path), *options, "--in-process"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=chosen.total_seconds, check=False, errors="replace"
            )
            said = done.stdout.strip() or f"failed: {done.stderr.strip()[-400:]}"
        except subprocess.TimeoutExpired:
            said = "not compared: too long"
        tally[said.partition(":")[0]] += 1
        print(f"{path}: {said}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())))


if __name__ == "__main__":
    main()
