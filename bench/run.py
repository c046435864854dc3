"""Times `outcrop check` on models of known size and prints ratios to other tools.

    python bench/run.py --models ../shared/models/murphi [--peer rumur=/usr/bin/rumur]
        [--prototype ../shared/prototype/peterson.c] [--only NAME]... [--threads 1,2] [--repeat N]

Each figure is the least of N runs. Counts are compared with the expected ones: a fast wrong result ends the benchmark.
A peer is given the model as it is. `rumur` generates C, which is compiled with `cc -O3`; only its search is timed.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from command import check


@dataclass(frozen=True)
class Model:
    name: str
    file: str
    constants: dict[str, int]
    states: int
    rules: int
    peers: tuple[str, ...] = ()  #: the peers that can read it

    @property
    def label(self) -> str:
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.constants.items())])


#: The models, all with symmetry off. The counts of ldash and of mcslock1 N=5 are our own; there are no published ones.
MODELS = (
    Model("n_peterson", "mux/n_peterson.m", {"N": 5}, 628_868, 3_144_340, ("rumur",)),
    Model("n_peterson", "mux/n_peterson.m", {"N": 6}, 17_704_917, 106_229_502, ("rumur",)),
    Model("mcslock1", "mux/mcslock1.m", {}, 554_221, 2_216_884, ("rumur",)),
    Model("mcslock1", "mux/mcslock1.m", {"N": 5}, 59_318_541, 296_592_705, ("rumur",)),
    Model("mcslock2", "mux/mcslock2.m", {}, 3_240_032, 9_720_096, ("rumur",)),
    Model("german", "others/german.m", {"NODE_NUM": 4}, 1_105_434, 5_922_288, ("rumur",)),
    Model("german", "others/german.m", {"NODE_NUM": 5}, 22_031_028, 147_274_200, ("rumur",)),
    Model("sci", "sci/sci.m", {"NumDataValues": 2}, 4_156_844, 14_746_956),
    Model("newlist6", "multiset+sym/newlist6.m", {"CellCount": 6}, 22_589_028, 113_320_488),
    Model("ldash", "dash/ldash.m", {}, 6_049_932, 62_814_536),
    Model("adash", "dash/adash.m", {}, 41_848, 550_644),
)


@dataclass(frozen=True)
class Timing:
    seconds: float  #: seconds of the search alone
    compile_seconds: float
    bytes_a_state: float  #: peak RSS divided by states, less the packed state


def outcrop(model: Model, directory: Path, threads: int, extra: list[str]) -> Timing:
    options = ["--symmetry", "off", "--deadlock", "off", "--threads", str(threads), *extra]
    for name, value in model.constants.items():
        options += ["-D", f"{name}={value}"]
    report = check(directory / model.file, options)
    if "compact" not in extra and (report["states"], report["rules_fired"]) != (model.states, model.rules):
        sys.exit(f"{model.label}: {report['states']} states, {report['rules_fired']} rules; expected {model}")
    packed = -(-report["state_bits"] // 8)
    return Timing(report["seconds"], report["compile_seconds"], report["peak_rss_bytes"] / report["states"] - packed)


def rumur(binary: str, model: Model, directory: Path, threads: int) -> float:
    text = (directory / model.file).read_text(errors="replace")
    for name, value in model.constants.items():
        text, count = re.subn(rf"(?mi)^(\s*(?:const\s+)?{name}\s*:\s*)[^;]*;", rf"\g<1>{value};", text, count=1)
        if not count:
            sys.exit(f"{model.label}: no constant {name} to change")
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch, "model.c"), Path(scratch, "model")
        (Path(scratch) / "model.m").write_text(text)
        options = ["--threads", str(threads), "--symmetry-reduction", "off", "--deadlock-detection", "off"]
        subprocess.run([binary, *options, "-o", source, Path(scratch, "model.m")], check=True, capture_output=True)
        compiler = ["cc", "-std=c11", "-O3", "-march=native", "-w", source, "-o", program, "-lpthread", "-latomic"]
        subprocess.run(compiler, check=True, capture_output=True)
        started = time.monotonic()
        subprocess.run([program], check=True, capture_output=True)
        return time.monotonic() - started


def prototype(source: str) -> float:
    """Returns the seconds that the hand-written search of n_peterson N=6 takes."""
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch, "prototype")
        subprocess.run(["cc", "-O3", "-march=native", "-DN=6", source, "-o", program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return float(printed.split(" rules in ")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path(os.environ.get("OUTCROP_MODELS", ".")) / "models/murphi")
    parser.add_argument("--peer", action="append", default=[], metavar="rumur=PATH")
    parser.add_argument("--prototype", metavar="FILE.c")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--most-states", type=int, default=10**12)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--strategy", default="ram")
    arguments = parser.parse_args()
    peers = dict(each.split("=", 1) for each in arguments.peer)
    threads = [int(each) for each in arguments.threads.split(",")]
    chosen = [
        model
        for model in MODELS
        if model.states <= arguments.most_states and (not arguments.only or model.name in arguments.only)
    ]
    extra = ["--strategy", arguments.strategy]
    ratios: list[float] = []
    print("| model | states | compile s | " + " | ".join(f"{each} thr. s" for each in threads), end="")
    print(
        " | M rules/s | speed-up | bytes a state over packed |"
        + "".join(f" {peer} 1 thr. s | ratio |" for peer in peers)
    )
    print("|---" * (6 + len(threads) + 2 * len(peers)) + "|")
    for model in chosen:
        rows: dict[int, list[Timing]] = {each: [] for each in threads}
        for each in threads * arguments.repeat:  # alternating, because the speed of a machine varies
            rows[each].append(outcrop(model, arguments.models, each, extra))
        seconds = {each: min([timing.seconds for timing in row]) for each, row in rows.items()}
        first = rows[threads[0]][0]
        cells = [model.label, f"{model.states:,}", f"{first.compile_seconds:.2f}"]
        cells += [f"{seconds[each]:.2f}" for each in threads]
        cells += [f"{model.rules / seconds[threads[0]] / 1e6:.1f}", f"{seconds[threads[0]] / seconds[threads[-1]]:.2f}"]
        cells += [f"{first.bytes_a_state:.1f}"]
        for peer, binary in peers.items():
            if peer in model.peers:
                theirs = min([rumur(binary, model, arguments.models, 1) for _ in range(arguments.repeat)])
                ratios.append(theirs / seconds[threads[0]])
                cells += [f"{theirs:.2f}", f"{ratios[-1]:.1f}"]
            else:
                cells += ["", ""]
        print("| " + " | ".join(cells) + " |", flush=True)
    if ratios:
        print(f"\ngeometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f}")
    if arguments.prototype:
        model = next(each for each in MODELS if each.label == "n_peterson N=6")
        pairs = [
            (prototype(arguments.prototype), outcrop(model, arguments.models, 1, extra).seconds)
            for _ in range(arguments.repeat)
        ]
        by_hand, ours = min([pair[0] for pair in pairs]), min([pair[1] for pair in pairs])
        print(f"\nn_peterson N=6: written by hand {by_hand:.2f} s, ours {ours:.2f} s, ratio {ours / by_hand:.2f}")


if __name__ == "__main__":
    main()
