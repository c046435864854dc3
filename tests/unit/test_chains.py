"""Long chains of an associative operator: accepted, evaluated in order, and not taken for nesting."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import outcrop
from outcrop.errors import ModelError
from outcrop.ir import nodes
from outcrop.ir.chains import balanced, joined, levels
from outcrop.ir.nodes import BinaryOperator
from outcrop.ir.types import BOOLEAN
from outcrop.ir.walk import walk
from outcrop.result import Result
from outcrop.source import Source, Span

LONG = 1_500
_SOURCE = Source("test.m", " " * 100_000)


def leaf(number: int) -> nodes.Constant:
    return nodes.Constant(type=BOOLEAN, span=Span(_SOURCE, number, number + 1), value=number)


def height(node: nodes.Expression) -> int:
    return 1 + max(height(node.left), height(node.right)) if isinstance(node, nodes.Binary) else 0


@pytest.mark.parametrize("count", [2, 32, 33, 64, 65, 1_000, 20_000])
def test_a_balanced_chain_keeps_its_operands_in_order(count: int) -> None:
    tree = joined(BinaryOperator.AND, [leaf(number) for number in range(count)])
    assert [each.value for each in walk(tree) if isinstance(each, nodes.Constant)] == list(range(count))
    assert height(tree) <= levels(count) < 50


def test_a_chain_of_another_operator_stays_as_it_is() -> None:
    tree: nodes.Expression = leaf(0)
    for number in range(1, 100):
        tree = nodes.Binary(
            type=BOOLEAN, span=tree.span, operator=BinaryOperator.SUBTRACT, left=tree, right=leaf(number)
        )
    assert balanced(tree) is tree


# --- Models ------------------------------------------------------------------------------------------------

_MURPHI = 'var x, y: 0..9; startstate begin x := 0; end; rule begin x := (x + 1) % 4; end; invariant "chain" {};'
_DVE = (
    "byte x = 0; process P {{ state a; init a; assert a: {}; trans a -> a {{ effect x = (x + 1) % 4; }}; }} "
    "system async;"
)


def checked(folder: Path, text: str, engine: str = "interpreter") -> Result:
    path = folder / ("model.dve" if "process" in text else "model.m")
    path.write_text(text, encoding="utf-8")
    return outcrop.load(path).check(engine=engine, deadlock="off")


def because(result: Result) -> list[str]:
    return list(result.violations[0].because)


@pytest.mark.parametrize("sign", ["&", "&&"])
def test_a_long_conjunction(tmp_path: Path, sign: str) -> None:
    operands = [f"x != {4 + number}" for number in range(LONG)]
    assert str(checked(tmp_path, _MURPHI.format(f" {sign} ".join(operands))).verdict) == "holds"
    at = random.Random(1).randrange(LONG)
    broken = f" {sign} ".join([*operands[:at], "x != 2", *operands[at:]])
    assert because(checked(tmp_path, _MURPHI.format(broken))) == ["x != 2 (x = 2)"]


@pytest.mark.parametrize("sign", ["|", "||"])
def test_a_long_disjunction(tmp_path: Path, sign: str) -> None:
    operands = [f"x = {4 + number}" for number in range(LONG)]
    # Reading y, which is undefined, would be an error.
    held = f" {sign} ".join([*operands, "x < 9", *(f"y = {number}" for number in range(LONG))])
    assert str(checked(tmp_path, _MURPHI.format(held)).verdict) == "holds"
    parts = because(checked(tmp_path, _MURPHI.format(f" {sign} ".join(operands))))
    assert parts[0] == "x = 4 (x = 0)" and parts[-1] == f"... and {LONG - 100:,} more"


@pytest.mark.parametrize("sign", ["&&", "and"])
def test_a_long_conjunction_of_dve(tmp_path: Path, sign: str) -> None:
    operands = [f"x != {4 + number}" for number in range(LONG)]
    assert str(checked(tmp_path, _DVE.format(f" {sign} ".join(operands))).verdict) == "holds"
    broken = checked(tmp_path, _DVE.format(f" {sign} ".join([*operands, "x != 2"])))
    assert because(broken)[-1] == "x != 2 (x = 2)"


def test_a_mistake_in_a_long_line_is_shown_where_it_stands(tmp_path: Path) -> None:
    operands = [f"x != {4 + number}" for number in range(LONG)]
    text = _MURPHI.format(" & ".join([*operands, "x + 1", *operands]))
    with pytest.raises(ModelError) as refused:
        checked(tmp_path, text)
    first, excerpt, caret = str(refused.value).splitlines()[:3]
    column = text.index("& x + 1") + 1
    assert f"model.m:1:{column}: error: '&' cannot be applied to" in first
    assert len(excerpt) < 300 and excerpt[caret.index("^") :].startswith("& x + 1 &")


def test_operators_of_which_the_order_matters_are_still_limited(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nested too deeply: this expression has more than 400 operators in a row"):
        checked(tmp_path, _MURPHI.format(" + ".join(["x"] * 500) + " > 3"))


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "relation"), [("&", "!="), ("|", "=")])
def test_fifty_thousand_operands(tmp_path: Path, sign: str, relation: str) -> None:
    operands = [f"x {relation} {4 + number}" for number in range(50_000)]
    verdicts = {
        str(checked(tmp_path, _MURPHI.format(f" {sign} ".join([*operands, "x < 9"])), engine).verdict)
        for engine in ("interpreter", "native")
    }
    assert verdicts == {"holds"}
