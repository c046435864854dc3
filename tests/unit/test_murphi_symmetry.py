"""Murphi's normal form, and the published figures that depend on it."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import UsageError
from outcrop.ir.layout import Layout
from outcrop.ir.symmetry import Normaliser
from outcrop.reproduce.murphi_structure import Structure, in_murphis_order, structure
from outcrop.reproduce.murphi_symmetry import normal_form_source
from outcrop.reproduce.published_locality import BudgetSpent, NormalForm, PublishedLocality, compile_with_normal_form
from outcrop.reproduce.tables import table

SHAPES = """
type who: scalarset(3); what: scalarset(2); both: union { who, enum { nobody } };
  message: record kind: 0..3; from: who; end;
var plain: 0..7; one: who; row: array [0..1] of who; flags: array [who] of boolean;
  next: array [who] of both; net: array [who] of array [what] of message;
  mixed: record owner: who; count: array [what] of 0..2; end;
  bag: multiset [3] of 0..2; post: multiset [3] of message;
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
        "mixed": Structure.PLAIN_ARRAY,
        "bag": Structure.PLAIN_MULTISET,
        "post": Structure.COMPLEX,
    }


def test_order_of_variables(tmp_path: Path) -> None:
    """Each declared name reverses the order of the variables of one structure, including names that Murphi makes up."""
    (tmp_path / "shapes.m").write_text(SHAPES)
    found = [each.name for each in in_murphis_order(outcrop.load(tmp_path / "shapes.m").system)]
    assert found == ["plain", "one", "row", "mixed", "flags", "bag", "next", "net", "post"]


@pytest.mark.parametrize(
    "name", ["examples/peterson.m", "tests/models/scalarset_two_types.m", "tests/models/multiset_scalarset.m"]
)
def test_normal_forms_stay_in_their_orbits(repository: Path, name: str) -> None:
    system = outcrop.load(repository / name).system
    normal_form, orbits = NormalForm(compile_with_normal_form(system)), Normaliser(system, True)
    from outcrop.ir.interpreter import Interpreter

    interpreter, layout = Interpreter(system, symmetry=False), Layout(system)
    pending = [firing.successor for firing in interpreter.start_states() if firing.successor is not None]
    seen = set(pending)
    for state in islice(pending, 200):
        images = {layout.pack(orbits.permute(state, each)) for each in orbits.permutations()}
        assert normal_form([layout.pack(state)])[0] in images
        for firing in interpreter.successors(state):
            if firing.successor is not None and firing.successor not in seen:
                seen.add(firing.successor)
                pending.append(firing.successor)


def test_without_scalarsets(repository: Path) -> None:
    system = outcrop.load(repository / "examples/bounded_buffer.m").system
    with pytest.raises(UsageError, match="scalarsets"):
        normal_form_source(system)


def test_gives_up_in_time(shared: Path) -> None:
    system = outcrop.load(shared / "models/murphi/multiset+sym/newlist6.m").system
    with pytest.raises(BudgetSpent):
        PublishedLocality(system, time.monotonic())


def published(name: str) -> str:
    entry = next(each for each in table("000/table1").entries if each.name == name)
    return " ".join(entry.figures[f"{what}({k})"][0] for k in (-1, 0, 1) for what in ("E", "sigma"))


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("newlist6", 13044),
        pytest.param("newcache3", 4357, marks=pytest.mark.slow),
        pytest.param("list6too", 1077, marks=pytest.mark.slow),
        pytest.param("adash", 10466, marks=pytest.mark.slow),
        pytest.param("cache3multi", 13738, marks=pytest.mark.slow),
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
