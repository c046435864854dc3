"""Systems as text."""

from __future__ import annotations

import pytest

from outcrop.ir.printer import expression, print_system
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.lang.murphi.language import MurphiOptions, UndefinedReads
from outcrop.options import LoadOptions

DECLARATIONS = "var x, y, z: -9..9; a, b, c: boolean; startstate begin x := 0; end;"


def load(text: str, undefined: UndefinedReads = UndefinedReads.ERROR) -> System:
    return load_text(text, "test.m", LoadOptions(own=(MurphiOptions(undefined),)))[0]


@pytest.mark.parametrize(
    "text",
    [
        "a & b | c",
        "a & (b | c)",
        "a -> (b -> c)",
        "(a -> b) -> c",
        "!x = y",
        "(!a) = b",
        "!(a & b)",
        "x - (y - z) = x - y - z",
        "x * (y + z) < -x * y",
        "-(x * y) = 1",
        "-(-x) = 1",
        "x - -3 = 1",
        "(a = b) = c",
        "a ? b : c",
        "(a ? b : c) & a",
        "x << y + z > (x << y) + z",
        "forall i: -9..9 do x = i | y = i end",
        "exists i := 1 to 5 by 2 do x = i end",
        "isundefined(x)",
    ],
)
def test_expressions_have_the_brackets_they_need_and_no_more(text: str) -> None:
    (rule,) = load(f'{DECLARATIONS} rule "r" {text} ==> end;').rules
    assert rule.guard is not None
    assert expression(rule.guard) == text


def test_a_printed_expression_means_what_it_meant() -> None:
    (rule,) = load(f'{DECLARATIONS} rule "r" ((x | y) ^ (z & ~x)) = 1 & (a | (b & !(c))) ==> end;').rules
    assert rule.guard is not None
    (again,) = load(f'{DECLARATIONS} rule "r" {expression(rule.guard)} ==> end;').rules
    assert again.guard is not None
    assert expression(again.guard) == expression(rule.guard) == "((x | y) ^ z & ~x) = 1 & (a | b & !c)"


def test_reads_that_let_undefined_through_are_marked() -> None:
    text = 'var x, y: 0..3; startstate x := y; end; rule "r" true ==> x := y; end;'
    assert "x := y?;" in print_system(load(text, UndefinedReads.PERMIT))
    assert "x := y;" in print_system(load(text))


MODEL = """
const N: 2;
type Node: scalarset(N); Message: record from: Node; n: 0..3 end;
var net: multiset [2] of Message; seen: array [Node] of boolean; count: 0..9;
procedure send(m: Message; var k: 0..9);
var copy: Message;
begin
  copy := m; multisetadd(copy, net); k := k + 1;
end;
function half(n: 0..9): 0..9; begin return n / 2; end;
startstate "empty" count := 0; for i: Node do seen[i] := false; end; end;
choose i: net do
  rule 2 "receive" !seen[net[i].from] ==>
    alias m: net[i] do seen[m.from] := true; end;
    if half(count) > 1 then count := 0; elsif count = 1 then error "odd"; else clear count; end;
    switch count case 1, 2: put "few"; else assert count = 0 "none"; end;
    while count > 3 do count := count - 1; end;
    multisetremove(i, net);
    return;
  end;
end;
ruleset n: Node do invariant "known" multisetcount(i: net, net[i].from = n) < 3; end;
"""


def test_a_whole_system() -> None:
    text = print_system(load(MODEL))
    for line in (
        "const N: 2;",
        "type Node: scalarset(2);",
        "type Message: record from: Node; n: 0..3 end;",
        "var net: multiset [2] of Message;  -- bits 0 to 11",
        "procedure send(m: Message; var k: 0..9);",
        "  multisetadd(copy, net);",
        "function half(n: 0..9): 0..9;",
        "  return n / 2;",
        'startstate "empty"',
        "  for i: Node do",
        'rule "receive" [i: 0..1] priority 2',
        "  elsif count = 1 then",
        '    error "odd";',
        "    clear count;",
        "  case 1, 2:",
        '    put "few";',
        '    assert count = 0 "none";',
        "  while count > 3 do  -- at most 1000000 times",
        "  multisetremove(i, net);",
        "  return;",
        'invariant "known" [n: Node]',
        "  multisetcount(i: net, net[i].from = n) < 3;",
    ):
        assert line in text.splitlines()
