"""Murphi's normal form, and the published figures that depend on it."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import UsageError
from outcrop.ir.layout import encode
from outcrop.ir.symmetry import Normaliser
from outcrop.reproduce.murphi_symmetry import MurphiNormalForm, Structure, structure
from outcrop.reproduce.published_locality import PublishedLocality, TooLate
from outcrop.reproduce.tables import table

SHAPES = """
type who: scalarset(3); what: scalarset(2); both: union { who, enum { nobody } };
  message: record kind: 0..3; from: who; end;
var plain: 0..7; one: who; row: array [0..1] of who; flags: array [who] of boolean;
  next: array [who] of both; net: array [who] of array [what] of message;
  mixed: record owner: who; count: array [what] of 0..2; end;
startstate begin clear plain; end;
rule "go" true ==> begin plain := 7 - plain; end;
"""


def test_structures(tmp_path: Path) -> None:
    (tmp_path / "shapes.m").write_text(SHAPES)
    variables = outcrop.load(tmp_path / "shapes.m").system.variables
    assert {each.name: structure(each.type) for each in variables} == {
        "plain": Structure.NONE,
        "one": Structure.VARIABLE,
        "row": Structure.VARIABLE,
        "flags": Structure.PLAIN_ARRAY,
        "next": Structure.ARRAY,
        "net": Structure.COMPLEX,
        "mixed": Structure.COMPLEX,
    }


@pytest.mark.parametrize("name", ["examples/peterson.m", "tests/models/scalarset_two_types.m"])
def test_normal_forms_stay_in_their_orbits(repository: Path, name: str) -> None:
    system = outcrop.load(repository / name).system
    normal_form, orbits = MurphiNormalForm(system), Normaliser(system, True)
    from outcrop.ir.interpreter import Interpreter

    interpreter = Interpreter(system, symmetry=False)
    pending = [firing.successor for firing in interpreter.start_states() if firing.successor is not None]
    seen = set(pending)
    for state in islice(pending, 200):
        packed = tuple(encode(kind, leaf) for kind, leaf in zip(system.leaf_types, state, strict=True))
        images = {orbits.apply(orbits.action(each), packed) for each in orbits.permutations()}
        assert normal_form(packed) in images
        for firing in interpreter.successors(state):
            if firing.successor is not None and firing.successor not in seen:
                seen.add(firing.successor)
                pending.append(firing.successor)


def test_multisets_are_refused(repository: Path) -> None:
    system = outcrop.load(repository / "tests/models/multiset_scalarset.m").system
    with pytest.raises(UsageError, match="multisets"):
        MurphiNormalForm(system)


def test_gives_up_in_time(shared: Path) -> None:
    system = outcrop.load(shared / "models/murphi/dash/adash.m").system
    with pytest.raises(TooLate):
        PublishedLocality(system, time.monotonic())


def published(name: str) -> str:
    entry = next(each for each in table("000/table1").entries if each.name == name)
    return " ".join(entry.figures[f"{what}({k})"][0] for k in (-1, 0, 1) for what in ("E", "sigma"))


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("adash", 10466),
        pytest.param("sci", 18193, marks=pytest.mark.slow),
        pytest.param("list6", 23410, marks=pytest.mark.slow),
        pytest.param("mcslock1", 23644, marks=pytest.mark.slow),
        pytest.param("sym.cache3", 31433, marks=pytest.mark.slow),
        pytest.param("n_peterson", 163298, marks=pytest.mark.slow),
    ],
)
def test_published_figures_with_symmetry(shared: Path, name: str, states: int) -> None:
    entry = next(each for each in table("000/table1").entries if each.name == name)
    system = outcrop.load(shared / "models/murphi" / entry.model).system
    measured = PublishedLocality(system, time.monotonic() + 600)
    assert measured.states == states
    figures = " ".join(f"{figure:.6g}" for k in (-1, 0, 1) for figure in measured.of(k))
    assert figures == published(name)
