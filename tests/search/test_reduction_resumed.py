"""Reduced searches that are resumed: what states fire must not depend on where a search was interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
from reduced_models import model_of

from outcrop.codegen.identity import identity
from outcrop.errors import UsageError
from outcrop.options import CheckOptions, LoadOptions

# Either of the first two rules can be the one that ascends, and goes alone. If the one did in the first states and the
# other in the next, they would go round, and the last rule would never fire.
_ROUND = """
    var x, p, q: 0..1; z: 0..3;
    startstate begin x := 1; p := 1; q := 0; z := 0; end;
    rule "there" x = 0 ==> x := 1; p := 1; end;
    rule "back" x = 1 ==> x := 0; end;
    rule "q" z = 3 & q = 0 ==> q := 1; end;
    rule "z" z < 3 ==> z := z + 1; end;
    invariant "near" z < 3;
    ltl "both" : G ({p = 1 & q = 1} -> {p = 1});
"""


def test_a_resumed_search_chooses_as_before(tmp_path: Path) -> None:
    """The left side of a formula is looked at before a checkpoint, and not after it."""
    model, place = model_of(_ROUND), str(tmp_path)
    first = model.check(deadlock="off", reduce="por", depth=1, checkpoint=place)
    assert first.verdict == "unknown"
    assert model.check(deadlock="off", reduce="por", resume=place).violations


@pytest.mark.parametrize("reduce", ["off", "por"])
def test_properties_that_were_not_checked_are_not_promised(reduce: str, tmp_path: Path) -> None:
    text = """
        var x, y: 0..4;
        startstate begin x := 0; y := 0; end;
        rule "x" x < 4 ==> x := x + 1; end;
        rule "y" y < 4 ==> y := y + 1; end;
        invariant "far" x < 5;
        invariant "first" x = 0 | y < 5 & x != 1;
    """
    model, place = model_of(text), str(tmp_path)
    model.check(deadlock="off", reduce=reduce, depth=6, properties=("far",), checkpoint=place)
    with pytest.raises(UsageError, match="--property was !first and is absent"):
        model.check(deadlock="off", reduce=reduce, resume=place)
    assert model.check(deadlock="off", reduce=reduce, properties=("!first",), resume=place).verdict == "holds"


def test_other_relations_are_another_search() -> None:
    system, options = model_of(_ROUND).system, CheckOptions()
    one, other = (identity(system, LoadOptions(), options, relations) for relations in ("one", "other"))
    assert [name for name in one if one[name] != other[name]] == ["the relation between rules"]
