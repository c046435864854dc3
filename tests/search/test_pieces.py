"""Large models, whose rules are compiled as several units at the same time. Small models stand in for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import outcrop
from outcrop.codegen import compiler, processes
from outcrop.codegen.c import Emitted, emit
from outcrop.errors import InternalError, UsageError
from outcrop.kernels import Native

MODELS = Path(__file__).parents[1] / "models"
EXAMPLES = Path(__file__).parents[2] / "examples"
COUNTER = "var n: 0 .. 39; startstate begin n := 0; end;" + "".join(
    f'rule "r{number}" n % {number + 2} = 0 ==> n := (n + {number}) % 40; end;' for number in range(7)
)


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes every model a large one, on a machine with three cores and an empty cache."""
    monkeypatch.setattr("outcrop.codegen.rules.MOST_IN_ONE_UNIT", 0)
    monkeypatch.setattr("outcrop.codegen.rules.RULES_PER_FUNCTION", 2)
    monkeypatch.setattr("outcrop.codegen.processes.available_cores", lambda: 3)
    monkeypatch.setattr(compiler, "cache_directory", lambda: tmp_path)


def emitted_counter(directory: Path) -> Emitted:
    path = directory / "counter.m"
    path.write_text(COUNTER)
    return emit(outcrop.load(path).system, False)


def compiled(emitted: Emitted) -> Native:
    return compiler.compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, kernels=())


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (EXAMPLES / "two_phase_commit.m", {}),  # symmetry, which successor_end applies
        (MODELS / "assume_property.m", {"coverage": True}),
        (MODELS / "priorities.m", {}),
        (MODELS / "recursion.m", {}),
        (MODELS / "long_chains.dve", {}),
        (MODELS / "promela_atomic_rendezvous.pml", {}),
    ],
    ids=lambda each: each.name if isinstance(each, Path) else "",
)
def test_pieces_find_what_the_interpreter_finds(path: Path, options: dict[str, bool]) -> None:
    model = outcrop.load(path)
    assert emit(model.system, True).groups > 0
    native, reference = (model.check(engine=engine, **options) for engine in ("native", "interpreter"))
    assert (native.verdict, native.states, native.levels) == (reference.verdict, reference.states, reference.levels)
    assert native.rules_fired == reference.rules_fired


FAULTY = """
int x = 1; byte turn = 0;
process P { state a, b; init a; trans a -> b { effect turn = 1; }, b -> a { guard turn == 1; effect x = 4 / turn; }; }
process Q { state c; init c; trans c -> c { effect turn = 0; }; }
system async;
"""


@pytest.mark.parametrize("fairness", ["none", "weak", "strong"])
def test_pieces_of_a_product_with_an_error_state(fairness: str) -> None:
    model = outcrop.loads(FAULTY, "faulty.dve", ltl="G F {turn == 0}")
    native, reference = (model.check(engine=each, fair=fairness) for each in ("native", "interpreter"))
    assert (native.verdict, native.states) == (reference.verdict, reference.states)
    assert native.rules_fired == reference.rules_fired


def test_the_library_is_the_same_for_any_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = emitted_counter(tmp_path)
    started: list[int] = []
    run = processes.run_compilers

    def counted(commands: list[list[str]], *rest: object) -> object:
        started.append(len(commands))
        return run(commands, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(processes, "run_compilers", counted)
    compiled(emitted)
    assert started == [1 + emitted.groups, 1]
    monkeypatch.setattr(processes, "available_cores", lambda: 1)
    compiled(emitted)
    assert started == [1 + emitted.groups, 1], "the cache has it"
    (library,) = tmp_path.glob("*.so")
    library.unlink()
    compiled(emitted)
    assert started[2:] == [1], "a single core compiles one unit"


def test_a_unit_that_fails_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other compilers would run for a minute, and the test with them."""
    script = tmp_path / "cc"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *PIECE=2*) echo "cc1: out of memory" >&2; exit 1;; *PIECE*) exec sleep 60;; '
        "*) echo 1.0;; esac\n"
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    compiler.find_compiler.cache_clear()
    try:
        with pytest.raises(UsageError, match="ran out of memory"):
            compiled(emitted_counter(tmp_path))
    finally:
        compiler.find_compiler.cache_clear()
    assert not list(tmp_path.glob("*.so"))


def test_a_watcher_ends_all_units(tmp_path: Path) -> None:
    emitted, looks = emitted_counter(tmp_path), []

    def watch() -> None:
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiler.compile_model(emitted.source, notes=emitted.notes, groups=emitted.groups, watch=watch)
    assert [path.name for path in tmp_path.iterdir()] == ["counter.m"]


def test_kept_c_of_a_large_model_compiles_by_hand_as_one_unit(tmp_path: Path) -> None:
    emitted = emitted_counter(tmp_path)
    kept = tmp_path / "kept"
    compiler.compile_model(emitted.source, groups=emitted.groups, keep_c=str(kept), kernels=())
    assert os.system(f"cd {kept} && cc {' '.join(compiler.FLAGS)} model.c -o model.so") == 0


def test_refused_code_of_a_piece_is_our_bug_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = emitted_counter(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InternalError, match="bug in Outcrop"):
        compiler.compile_model(emitted.source.replace("rule_3_r3_body(", "rule_3_r3_body(?"), groups=emitted.groups)
    assert list(tmp_path.glob("outcrop-failed-*/model.c"))
