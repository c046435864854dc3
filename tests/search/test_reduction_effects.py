"""Partial-order reduction sees every way to read and to write a part of the state.

In each model one step clears ``a[1].g``, which was 1, and another one looks at it. The violation needs one order of the
two, or a third step that waits. A way of reading or writing that reduction overlooks makes it disappear."""

from __future__ import annotations

import pytest
from reduced_models import both

_HEAD = """
type cell: record f, g: 0..2; end; row: array [0..2] of cell;
var a: row; b: array [0..2] of 0..2; r: cell; i: 0..2; h, d, v: 0..1;
procedure zero(var x: 0..2); begin x := 0; end;
procedure zero_in(var x: cell); begin x.g := 0; end;
procedure zero_within(var x: cell); begin zero(x.g); end;
procedure zero_each(); begin for j: 0..2 do if j = 1 then a[j].g := 0; end; end; end;
procedure zero_unless(k: 0..2); begin if k = 0 then return; end; a[k].g := 0; end;
procedure zero_last(k: 0..2); begin if k = 1 then a[k].g := 0; else zero_last(k - 1); end; end;
function zero_and(): 0..2; begin a[i].g := 0; return 1; end;
function is_one(x: cell): boolean; begin return x.g = 1; end;
function is_one_there(var x: cell): boolean; begin return x.g = 1; end;
function is_one_at(k: 0..2): boolean; begin return a[k].g = 1; end;
function is_one_below(k: 0..2): boolean; begin
  if k = 0 then return false; end; if a[k].g = 1 then return true; end; return is_one_below(k - 1); end;
function total(): 0..9; var s: 0..9; k: 0..9; begin
  s := 0; k := 0; while k < 3 do s := s + a[k].g; k := k + 1; end; return s; end;
startstate begin for j: 0..2 do a[j].f := 0; a[j].g := 0; b[j] := 0; end; b[0] := 1; b[1] := 2;
  a[1].g := 1; r.f := 0; r.g := 1; i := 1; h := 0; d := 0; v := 0; end;
"""

#: Ways to clear ``a[1].g``, with declarations in front.
_WRITES = {
    "constant": "begin a[1].g := 0;",
    "index": "begin a[i].g := 0;",
    "index in an array": "begin a[b[0]].g := 0;",
    "alias": "begin alias c: a[i] do c.g := 0; end;",
    "alias of an alias": "begin alias c: a; e: c[i].g do e := 0; end;",
    "reference": "begin zero(a[i].g);",
    "reference to a record": "begin zero_in(a[1]);",
    "reference of a reference": "begin zero_within(a[i]);",
    "loop in a procedure": "begin zero_each();",
    "procedure that may return": "begin zero_unless(1);",
    "recursive procedure": "begin zero_last(2);",
    "function in an expression": "begin b[2] := zero_and();",
    "loop from a variable": "begin for j := i to 1 do a[j].g := 0; end;",
    "loop": "var k: 0..3; begin k := 1; while k < 2 do a[k].g := 0; k := k + 1; end;",
    "switch": "begin switch i case 0: b[2] := 1; case 1: a[1].g := 0; end;",
    "else": "begin if i = 0 then b[2] := 1; else a[1].g := 0; end;",
    "record": "var c: cell; begin c := a[1]; c.g := 0; a[1] := c;",
    "array": "var c: row; begin c := a; c[i].g := 0; a := c;",
    "clear": "begin clear a[1].g;",
    "clear a record": "begin clear a[i];",
    "clear everything": "begin clear a;",
}

#: Conditions that are true while ``a[1].g`` is 1.
_READS = {
    "constant": "a[1].g = 1",
    "index": "a[i].g = 1",
    "exists": "exists j: 0..2 do a[j].g = 1 end",
    "forall": "!forall j: 0..2 do a[j].g != 1 end",
    "exists up to a variable": "exists j := 0 to i do a[j].g = 1 end",
    "record as an argument": "is_one(a[i])",
    "reference as an argument": "is_one_there(a[1])",
    "function": "is_one_at(1)",
    "recursive function": "is_one_below(2)",
    "function with a loop": "total() = 1",
    "conditional": "(a[1].g = 1 ? true : false)",
    "condition of a conditional": "(a[i].g = 1 ? 1 : 2) = 1",
    "index of another array": "b[a[1].g] = 2",
    "whole record": "a[1] = r",
    "sum": "a[1].f + a[1].g > 0",
    "quotient": "6 / (a[i].g + 1) = 3",
    "implication": "!(a[1].g = 1 -> i = 2)",
    "defined": "!isundefined(a[1].g) & !(a[1].g = 0)",
}

#: Statements that fail while ``a[1].g`` is 1.
_LOOKS = {
    "assert": "begin assert a[1].g = 0;",
    "switch": 'begin switch a[i].g case 1: error "one"; end;',
    "label of a switch": 'begin switch i case 2 * a[1].g: b[2] := 0; case a[1].g: error "one"; end;',
    "loop": 'begin for j := 1 to a[1].g do error "one"; end;',
    "while": 'begin while a[i].g = 1 do error "one"; end;',
    "elsif": 'begin if i = 0 then b[2] := 0; elsif a[1].g = 1 then error "one"; end;',
    "alias of a value": "begin alias c: a[i].g + 0 do assert c = 0; end;",
    "alias of a place": "begin alias c: a[i] do assert c.g = 0; end;",
    "copy": "var c: row; begin c := a; assert c[i].g = 0;",
    "step of a loop": "var k: 0..9; begin k := 0; for j := 0 to 3 by 2 - a[1].g do k := k + 1; end; assert k = 2;",
    "range": "begin b[2] := a[1].g + 1; b[2] := a[1].g * 3;",
    "index outside": "begin b[2] := b[3 * a[1].g];",
    "printed": "begin put a[b[a[1].g * 3]].g;",
    "assumption": 'begin assume a[1].g = 1; error "one";',
}


def _models(write: str, read: str) -> list[str]:
    step = f'rule "clears" h = 0 ==> {write} h := 1; end;'
    hides = 'rule "hides" v = 0 ==> v := 1; end;'
    return [
        f'{step} rule "looks" d = 0 & {read} ==> error "one"; end;',
        f'{step} rule "looks" {read} & d = 0 ==> error "one"; end;',
        f'{step} rule "looks" d = 0 ==> if {read} then error "one"; end; d := 1; end;',
        f'rule "looks" d = 0 ==> if !({read}) then error "none"; end; d := 1; end; {step}',
        f'{hides} {step} rule "waits" v = 0 & !({read}) ==> error "none"; end;',
        f'{hides} {step} rule "waits" !({read}) & v = 0 ==> error "none"; end;',
        f'{hides} {step} invariant "never" !(v = 0 & !({read}));',
        f'{hides} {step} cover "never" v = 1 & {read}; cover "once" v = 0 & !({read});',
        f'{hides} {step} ltl "never" : G !({{v = 0}} && {{!({read})}});',
    ]


@pytest.mark.parametrize("write", _WRITES)
def test_a_write_is_seen(write: str) -> None:
    for text in _models(_WRITES[write], _READS["constant"]):
        full, _ = both(_HEAD + text, deadlock="off")
        assert full.violations or "cover" in text, text


@pytest.mark.parametrize("read", _READS)
def test_a_read_is_seen(read: str) -> None:
    for text in _models(_WRITES["constant"], _READS[read]):
        full, _ = both(_HEAD + text, deadlock="off")
        assert full.violations or "cover" in text, text


@pytest.mark.parametrize("look", _LOOKS)
def test_what_a_step_looks_at_is_seen(look: str) -> None:
    step = f'rule "clears" h = 0 ==> {_WRITES["reference"]} h := 1; end;'
    full, _ = both(f'{_HEAD} {step} rule "looks" d = 0 ==> {_LOOKS[look]} d := 1; end;', deadlock="off")
    assert full.violations
