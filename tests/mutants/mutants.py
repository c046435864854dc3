"""Mutation testing: ``./dev mutants`` plants each seeded bug in a copy of the repository and runs tests.

The quickest and likeliest tests come first, and the first failure is enough. A bug that no test notices is printed: a
test is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from seeded import MUTANTS, Mutant

REPOSITORY = Path(__file__).parents[2]
#: The tests that are likely to notice a bug in a file, which run first.
LIKELY = {
    "native/table.c": ("tests/kernels", "tests/search/test_compression.py", "tests/search/test_ram.py"),
    "native/lines.h": ("tests/kernels", "tests/search/test_auto.py"),
    "native/signatures.c": ("tests/kernels", "tests/search/test_past_ram.py"),
    "native/level.c": ("tests/kernels/test_kernels.py", "tests/search/test_ram.py", "tests/search/test_models.py"),
    "native/growth.c": ("tests/kernels", "tests/search/test_ram.py", "tests/search/test_limits.py"),
    "native/visited.c": ("tests/kernels", "tests/search/test_auto.py", "tests/search/test_limits.py"),
    "native/adding.c": ("tests/kernels", "tests/search/test_ram.py", "tests/search/test_limits.py"),
    "native/bitstate.c": ("tests/search/test_bitstate.py",),
    "native/paths.c": (
        *("tests/kernels", "tests/search/test_ram.py", "tests/search/test_past_ram.py"),
        "tests/search/test_shortest.py",
    ),
    "trace/switches.py": ("tests/unit/test_switches.py",),
    "native/liveness.c": ("tests/search/test_models.py", "tests/fuzz/test_differential.py"),
    "native/observe.c": ("tests/validate/test_against_reference.py",),
    "native/fair.c": ("tests/ltl/test_fairness.py",),
    "native/block_file.c": ("tests/kernels/test_tables.py", "tests/search/test_past_ram.py"),
    "native/squeeze.c": ("tests/search/test_squeezing.py",),
    "native/quotient.c": ("tests/search/test_compression.py",),
    "native/folding.c": ("tests/search/test_compression.py",),
    "native/tree.c": ("tests/search/test_compression.py",),
    "native/compressed.c": ("tests/search/test_compression.py",),
    "native/carry.c": ("tests/search/test_squeezing.py",),
    "native/findings.c": ("tests/kernels", "tests/search/test_ram.py", "tests/fuzz/test_differential.py"),
    "native/expand.h": ("tests/kernels", "tests/search/test_models.py"),
    "native/canon.h": ("tests/kernels/test_canonical.py", "tests/unit/test_symmetry.py", "tests/search/test_orbits.py"),
    "native/hash.h": ("tests/kernels", "tests/gpu/test_standin.py"),
    "native/cache.c": (
        "tests/kernels/test_tables.py",
        "tests/kernels/test_kernels.py::test_thread_sanitizer_finds_no_race_in_the_tables",
        "tests/search/test_past_ram.py",
    ),
    "native/cached.c": (
        "tests/kernels/test_tables.py",
        "tests/cli/test_strategies.py",
        "tests/search/test_past_ram.py",
    ),
    "native/dictionary.c": ("tests/kernels/test_tables.py", "tests/search/test_past_ram.py"),
    "native/memory_table.c": (
        "tests/kernels/test_tables.py",
        "tests/unit/test_stores.py",
        "tests/search/test_past_ram.py",
    ),
    "native/runs.c": ("tests/search/test_auto.py", "tests/unit/test_stores.py"),
    "native/spill.c": ("tests/search/test_auto.py",),
    "native/layers.c": ("tests/search/test_layered.py",),
    "native/ndfs.c": ("tests/ltl/test_cycles.py",),
    "native/owcty": ("tests/ltl/test_cycles.py", "tests/ltl/test_cycle_systems.py"),
    "native/cycles.c": ("tests/ltl/test_cycles.py",),
    "native/product.h": ("tests/ltl/test_product.py", "tests/ltl/test_temporal.py"),
    "native/worklist.c": ("tests/ltl/test_cycles.py",),
    "native/route.c": ("tests/dist/test_ranks.py",),
    "native/exchange.c": ("tests/kernels/test_route.py", "tests/dist/test_ranks.py"),
    "native/messages.c": ("tests/kernels/test_route.py",),
    "native/sampled.c": ("tests/unit/test_owners.py",),
    "dist/owners.py": ("tests/unit/test_owners.py",),
    "dist/merging.py": ("tests/dist/test_ranks.py",),
    "dist": ("tests/dist",),
    "ltl": ("tests/ltl/test_ltl_translate.py", "tests/ltl/test_ltl_words.py", "tests/ltl"),
    "check/temporal.py": ("tests/ltl/test_temporal.py",),
    "trace": ("tests/unit/test_replay.py", "tests/ltl/test_temporal.py", "tests/cli/test_check.py"),
    "report": ("tests/unit/test_report.py", "tests/cli"),
    "cli": ("tests/cli",),
    "sandbox.py": ("tests/cli/test_sandbox.py",),
    "codegen": ("tests/unit/test_codegen.py", "tests/unit/test_compiler.py", "tests/search/test_models.py"),
    "lang": ("tests/unit", "tests/search/test_models.py"),
    "ir/interpreter.py": ("tests/cli/test_verdicts.py", "tests/unit", "tests/search/test_models.py"),
    "ir": ("tests/unit", "tests/search/test_models.py"),
    "store/checkpoint.py": ("tests/unit/test_stores.py", "tests/faults/test_checkpoint.py"),
    "store/workdir.py": ("tests/unit/test_stores.py", "tests/cli/test_strategies.py", "tests/faults"),
    "store/layers.py": ("tests/search/test_layered.py", "tests/faults"),
    "store/runs.py": ("tests/search/test_auto.py", "tests/faults"),
    "store": ("tests/unit/test_stores.py", "tests/faults"),
    "native/blocks.c": ("tests/cli/test_memory.py", "tests/search/test_past_ram.py"),
    "codegen/blocks.py": ("tests/unit/test_codegen.py",),
    "codegen/expressions.py": ("tests/search/test_vacuity.py", "tests/unit/test_codegen.py"),
    "codegen/properties.py": (
        "tests/search/test_vacuity.py",
        "tests/cli/test_verdicts.py",
        "tests/unit/test_codegen.py",
    ),
    "codegen/identity.py": (
        "tests/search/test_reduction_resumed.py",
        "tests/cli/test_invariants.py",
        "tests/faults/test_checkpoint.py",
    ),
    "check/selection.py": ("tests/search/test_reduction_resumed.py",),
    "explorer/explorer.py": (
        "tests/search/test_limits.py",
        "tests/search/test_ram.py",
        "tests/search/test_past_ram.py",
    ),
    "explorer/paths.py": ("tests/unit/test_paths.py",),
    "explorer/arena.py": ("tests/search/test_ram.py", "tests/search/test_limits.py"),
    "explorer/watch.py": ("tests/search/test_limits.py", "tests/faults/test_limits_and_signals.py"),
    "explorer/workers.py": ("tests/unit/test_workers.py", "tests/faults/test_stopping.py", "tests/faults"),
    "explorer/findings.py": ("tests/search/test_ram.py", "tests/search/test_models.py"),
    "explorer/visited.py": ("tests/search/test_limits.py", "tests/search/test_ram.py", "tests/search/test_past_ram.py"),
    "explorer/checkpoints.py": ("tests/faults/test_checkpoint.py",),
    "explorer/squeezing.py": ("tests/search/test_squeezing.py",),
    "explorer/ram_then_disk.py": (
        "tests/search/test_squeezing.py",
        "tests/search/test_auto.py",
        "tests/search/test_layered.py",
    ),
    "explorer/sorted_runs.py": ("tests/search/test_auto.py",),
    "explorer/candidates.py": ("tests/search/test_auto.py", "tests/search/test_layered.py"),
    "explorer/delayed.py": ("tests/search/test_auto.py", "tests/search/test_layered.py"),
    "explorer/snapshot.py": ("tests/dist/test_ranks.py", "tests/faults/test_checkpoint.py"),
    "explorer/layer": ("tests/search/test_layered.py",),
    "explorer/lasso.py": ("tests/ltl/test_cycles.py",),
    "explorer/compacted.py": ("tests/ltl/test_cycles.py", "tests/ltl/test_cycle_systems.py"),
    "explorer/block_phases.py": ("tests/ltl/test_cycles.py", "tests/ltl/test_cycle_systems.py"),
    "explorer": ("tests/search/test_past_ram.py", "tests/search/test_limits.py"),
    "lang/registry.py": ("tests/unit/test_languages.py",),
    "reduction": (
        "tests/search/test_reduction_claims.py",
        "tests/search/test_reduction_traps.py",
        "tests/search/test_reduction_effects.py",
        "tests/search/test_reduction_priorities.py",
        "tests/search/test_reduction.py",
        "tests/search/test_reduction_formulas.py",
    ),
    "reduction/commuting.py": ("tests/search/test_reduction_commuting.py",),
    "reduction/symbols.py": ("tests/search/test_reduction_commuting.py",),
    "reduction/truths.py": ("tests/search/test_reduction_commuting.py", "tests/search/test_reduction_traps.py"),
    "lang/promela/preconditions.py": ("tests/unit/test_promela_words.py", "tests/search/test_reduction_channels.py"),
    "lang/promela/rules.py": ("tests/search/test_reduction_traps.py",),
    "check/reducing.py": ("tests/search/test_reduction.py",),
    "ltl/stuttering.py": ("tests/ltl/test_stuttering.py",),
    "check/kept.py": ("tests/recheck", "tests/search/test_reduction.py"),
    "check/conclusion.py": ("tests/cli/test_verdicts.py",),
    "native/stubborn.h": ("tests/search/test_reduction.py", "tests/search/test_reduction_emitted.py"),
    "codegen/reduced.py": (
        "tests/search/test_reduction_emitted.py",
        "tests/search/test_reduction_priorities.py",
        "tests/search/test_reduction_traps.py",
    ),
    "search/layered.py": ("tests/search/test_layered.py",),
    "search/auto.py": ("tests/search/test_auto.py",),
    "search/bitstate.py": ("tests/search/test_bitstate.py",),
    "search/cached.py": ("tests/search/test_past_ram.py", "tests/cli/test_strategies.py"),
    "search/ndfs.py": ("tests/ltl/test_cycles.py",),
    "search/owcty": ("tests/ltl/test_cycles.py", "tests/ltl/test_cycle_systems.py"),
    "search": ("tests/search/test_past_ram.py", "tests/search/test_limits.py"),
}
#: The tests that run after that: the whole suite, with its quick parts first.
REST = (
    ("tests/kernels", "tests/unit/test_stores.py", "tests/search/test_ram.py", "tests/search/test_past_ram.py"),
    ("tests/search", "tests/fuzz", "tests/faults"),
    ("tests/unit", "tests/cli", "tests/ltl", "tests/dist", "tests/gpu", "tests/browser"),
)
_NO_TESTS = 5  #: exit code of pytest if all tests are deselected


def stages(path: str) -> list[tuple[str, ...]]:
    """Returns the tests to run for a bug in a file, in order."""
    names = [name for name in LIKELY if path.startswith(name)]
    first = LIKELY[max(names, key=len)] if names else ()
    return [(each,) for each in first] + list(REST)


def plant(mutant: Mutant, root: Path) -> None:
    path = root / "outcrop" / mutant.path
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.text) != 1:
        raise ValueError(f"{mutant.path} has {text.count(mutant.text)} times: {mutant.text}")
    path.write_text(text.replace(mutant.text, mutant.instead), encoding="utf-8")


def catcher(mutant: Mutant, cache: str) -> str:
    """Returns the test that notices a mutant, "" if none does. ``cache`` is a directory for compiled models. Mutants
    may share it, because the key of a library contains its whole text."""
    with TemporaryDirectory(prefix="outcrop-mutant-") as directory:
        root = Path(directory, "repository")
        shutil.copytree(REPOSITORY, root, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info"))
        plant(mutant, root)
        environment = {
            **os.environ,
            "PYTHONPATH": f"{root}:{root / 'tests' / 'mutants'}",
            "XDG_CACHE_HOME": cache,
        }
        for tests in stages(mutant.path):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
            command += ["-p", "hanging", *tests]
            run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
            if run.returncode not in (0, _NO_TESTS):
                failed = [line.split()[1] for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0] if failed else _unfinished(run)
    return ""


def _unfinished(run: subprocess.CompletedProcess[str]) -> str:
    if run.returncode == -signal.SIGPROF or "Timeout" in run.stderr:
        return "a test that does not end"
    return f"the test process dies: {(run.stderr or run.stdout).strip().splitlines()[-1:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="of mutants (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", help="directory for compiled models that is kept (default: a temporary one)")
    chosen = parser.parse_args()
    numbers = chosen.numbers or range(len(MUTANTS))
    caught = 0

    def attempt(number: int) -> tuple[int, str, float]:
        started = time.monotonic()
        return number, catcher(MUTANTS[number], chosen.cache or temporary), time.monotonic() - started

    with TemporaryDirectory(prefix="outcrop-mutants-") as temporary, ThreadPoolExecutor(chosen.jobs) as pool:
        for number, test, seconds in pool.map(attempt, numbers):
            caught += bool(test)
            mutant = MUTANTS[number]
            print(f"{number:3} {mutant.path:24} {seconds:5.0f} s  {test or 'SURVIVES: ' + mutant.instead}", flush=True)
    print(f"{caught} of {len(numbers)} seeded bugs are noticed ({100 * caught / len(numbers):.0f}%)")
    return 0 if caught >= 0.95 * len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
