"""Emitted C agrees with the interpreter, state by state, and compiles without warnings."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from emitted_model import EmittedModel, compare, explore
from expectations import EXAMPLES, TEST_MODELS, expectation
from generator import generate

from outcrop.codegen.c import emit
from outcrop.codegen.puts import PutFormatter
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.system import System
from outcrop.lang import load_text
from outcrop.lang.murphi.language import UndefinedReads
from outcrop.lang.registry import read_options
from outcrop.lang.while_limit import LoopOptions
from outcrop.options import LoadOptions

MODELS = [path for path in (*EXAMPLES, *TEST_MODELS) if expectation(path).verdict != "rejected"]
MOST_STATES = 60


def read(path: Path) -> System:
    """Reads a model with the shortest ``while`` limit that the models need, since some exceed any limit."""
    return load_text(path.read_text(encoding="utf-8"), path.name, LoadOptions(own=(LoopOptions(2000),)))[0]


def system_of(text: str, **options: object) -> System:
    return load_text(text, "model.m", LoadOptions(own=read_options("model.m", options)))[0]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_agrees_with_the_interpreter(path: Path, tmp_path: Path) -> None:
    system = read(path)
    compare(system, EmittedModel(system, False, tmp_path), False, MOST_STATES)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_is_clean_under_sanitizers(path: Path, tmp_path: Path) -> None:
    flags = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    explore(read(path), True, tmp_path, MOST_STATES, *flags)


@pytest.mark.parametrize("seed", range(24))
def test_agrees_on_generated_models(seed: int, tmp_path: Path) -> None:
    undefined = UndefinedReads.ERROR if seed % 2 else UndefinedReads.PERMIT
    system, symmetry = system_of(generate(Random(seed)), while_limit=50, undefined=undefined), seed % 3 == 0
    compare(system, EmittedModel(system, symmetry, tmp_path), symmetry, MOST_STATES)


@pytest.mark.parametrize("undefined", UndefinedReads)
def test_undefined_reads_agree(undefined: UndefinedReads, tmp_path: Path) -> None:
    system = system_of(
        """
        type node: scalarset(2); small: 0 .. 3;
        var a, b: small; owner, other: node; r: record f: small; g: node; end;
        function pick(x: small): small; begin return x; end;
        procedure set(x: small; var y: small); begin y := x; end;
        startstate begin end;
        rule "define" isundefined(a) ==> a := 1; end;
        rule "copy" begin b := a; other := owner; end;
        rule "compare" owner = other ==> r.g := owner; end;
        rule "differ" owner != other ==> undefine r; end;
        rule "through functions" begin set(a, r.f); b := pick(r.f); end;
        rule "choose" begin a := isundefined(b) ? b : a; end;
        ruleset n: node do rule "own" n != owner ==> owner := n; end; end;
        """,
        undefined=undefined,
    )
    count = compare(system, EmittedModel(system, False, tmp_path), False, 400)
    assert count > 20 if undefined is UndefinedReads.PERMIT else count > 2


def test_wide_and_extreme_ranges_agree(tmp_path: Path) -> None:
    high = 2**63 - 1
    system = system_of(
        f"""
        const low: -{high} - 1; high: {high};
        var a: low .. 0; c: 1 .. high; b: 0 .. 1; d: array [0 .. 2] of -5 .. {2**58};
        startstate begin a := low; c := high; b := 0; d[1] := -5; end;
        rule "up" begin a := a + 1; end;
        rule "down" begin a := a - 1; end;
        rule "negate" begin c := -a; end;
        rule "divide" begin c := a / -1; end;
        rule "remainder" begin b := a % -1; end;
        rule "multiply" begin c := c * 2; end;
        rule "halve" begin c := c / 2; a := -c; end;
        rule "shift" begin a := a >> 3; d[2] := (c >> 6) & 1023; end;
        rule "shift back" begin a := a << 1; end;
        rule "last" begin for i := high - 1 to high do d[0] := high - i; end; end;
        """
    )
    assert compare(system, EmittedModel(system, False, tmp_path), False, 300) == 300


HOISTED = """
type t: 0 .. 2;
var x: array [t] of t; zero: t; marks: array [t] of t;
startstate begin for i: t do x[i] := i; end; zero := 0; end;
ruleset i: t; j: t do
  rule "overtakes" i != j & x[i] = 1 ==> zero := i; end;
  rule "in order" zero = 0 & x[i] / zero = 1 & i = j ==> zero := j; end;
  rule "undefined where i differs from j" i != j & marks[i] = 1 & i > 3 ==> zero := 0; end;
  rule "never undefined" i = j & i != j & marks[i] = 1 ==> zero := 0; end;
  rule "marks" zero = 1 & x[j] = 2 & j != i ==> marks[i] := j; end;
end;
"""


def test_conjuncts_are_hoisted_without_changing_errors(tmp_path: Path) -> None:
    system = system_of(HOISTED)
    source = emit(system, False).source
    assert "rule_0_overtakes_guard_1(" in source
    assert "rule_0_overtakes_whole_guard(" in source
    compare(system, EmittedModel(system, False, tmp_path), False, 300)


def test_loops_of_quantifiers_are_left_out_without_changing_errors(tmp_path: Path) -> None:
    system = system_of(
        """
        type t: 1 .. 3;
        var a, b: array [t] of t; c: t;
        startstate begin c := 1; end;
        ruleset i: t; j: t do
          rule "a" begin a[i] := j; end;
          rule "b" begin b[i] := j; end;
        end;
        rule "c" begin c := c % 3 + 1; end;
        ruleset i: t do
          rule "plain" exists j: t do i != j & a[i] = 2 & a[j] = 2 end ==> c := 1; end;
          rule "undefined index" exists j: t do i != j & a[b[i]] = 2 & b[j] = 1 end ==> c := 2; end;
          rule "either" forall j: t do i = j | (a[i] = 1 | b[i] = 2) | a[j] = 3 end ==> c := 3; end;
          rule "divides" exists j: t do j > i & 6 / a[i] = 3 & 6 / (a[i] - 1) > j end ==> c := 1; end;
          rule "implied" forall j: t do i != j & c = i -> b[i] != b[j] end ==> c := 2; end;
          rule "may fail first" exists j: t do a[j] = 2 & b[i] = 2 end ==> c := 3; end;
          rule "chosen" exists j: t do (c = 1 ? a[i] : b[i]) = 2 & j = 2 end ==> c := 1; end;
        end;
        """,
        undefined=UndefinedReads.ERROR,
    )
    assert "|| (t" in emit(system, False).source  # at least one loop is conditional
    compare(system, EmittedModel(system, False, tmp_path), False, 250)
    explore(system, False, tmp_path, 250, "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def test_guards_that_count_or_write_run_once_for_each_instance(tmp_path: Path) -> None:
    system = system_of(
        """
        var n: 0 .. 3;
        function counted(x: 0 .. 3): boolean; begin cover x = 1 "one"; return x < 3; end;
        function writing(): boolean; begin n := 3; return true; end;
        startstate begin n := 0; end;
        ruleset i: 0 .. 2; j: 0 .. 2 do
          rule "count" counted(n) & i = j ==> n := (n + 1) % 4; end;
          rule "write" writing() & n = 3 & i = 2 ==> n := 0; end;
        end;
        rule "once" counted(n) ==> n := 0; end;
        rule "again" counted(n) ==> n := 1; end;
        """
    )
    compare(system, EmittedModel(system, False, tmp_path), False, 50)


SHARED = """
type t: 0 .. 5;
var a, b, c, d: t;
startstate begin a := 0; b := 0; c := 0; d := 0; end;
rule "one" a < 4 & b < 5 ==> begin a := a + c; b := a + 1; c := 5 - b; d := (d + b) % 6; c := d; d := 1; end;
rule "two" a < 4 & b < 5 ==> begin a := a + c; b := a + 1; c := 5 - b; d := (d + b) % 6; c := d; d := 2; end;
rule "three" a < 4 & b < 5 ==> var x: t; begin
  x := d; a := a + c; b := a + 1; c := 5 - b; d := (d + b) % 6; c := d; d := x;
end;
rule "four" begin if b > 3 then return; end; a := 3; b := a + 1; c := 5 - b; d := (d + b) % 6; c := d; end;
rule "five" begin a := 5 - a; b := 5 - b; c := 5 - c; d := 5 - d; a := 5 - a; b := 5 - b; end;
rule "six" begin c := 0; a := 5 - a; b := 5 - b; c := 5 - c; d := 5 - d; a := 5 - a; b := 5 - b; end;
"""


def test_rules_share_guards_and_parts_of_bodies(tmp_path: Path) -> None:
    system = system_of(SHARED)
    source = emit(system, False).source
    assert source.count("_guard(state, context)") == 1  # the second rule takes its value
    assert source.count(" = block_") == 8 and source.count("NOINLINE int block_1(") == 2  # declared and defined
    assert compare(system, EmittedModel(system, False, tmp_path), False, 300) > 20


def test_many_rules_are_spread_over_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outcrop.codegen.rules.RULES_PER_FUNCTION", 2)
    rules = [f'rule {number % 3} "r" n % {number + 2} = 0 ==> n := (n + {number}) % 40; end;' for number in range(11)]
    system = system_of("var n: 0 .. 39; startstate begin n := 0; end;" + "".join(rules))
    assert emit(system, False).source.count("ACROSS_UNITS int expand_from_") == 6
    assert compare(system, EmittedModel(system, False, tmp_path), False, 40) > 3


def test_a_copy_in_another_directory_has_the_same_c() -> None:
    text = "var n: 0 .. 3; startstate begin n := 0; end; rule begin n := 3 - n; end;"
    here, there = (load_text(text, f"{directory}/model.m", LoadOptions())[0] for directory in ("here", "there"))
    assert emit(here, True).source == emit(there, True).source


def test_put_prints_what_the_interpreter_prints(tmp_path: Path) -> None:
    system = system_of(
        """
        type r: record a: boolean; b: array [0 .. 1] of -1 .. 1; end; m: multiset [2] of r;
        var g: array [boolean] of r; x: real(3, 10); u: -5 .. 5;
        procedure show(var y: r; z: r); begin put y; put y.b[1]; put z; put z.a; end;
        startstate
        var l: r; n: 0 .. 9;
        begin
          put "start \\"quoted\\" %d\\n"; u := -3; x := 2.0 / 3.0; l.b[1] := 1;
          put u; put u - 4; put x; put x * 2.0; put g; put g[true].b; put l; put l.b[1]; put n; put u < 0;
          for i: boolean do put g[i].b[0]; put i; end;
          show(g[true], l); show(l, g[false]);
        end;
        """
    )
    texts: list[str] = []
    list(Interpreter(system, False, put=texts.append).start_states())
    model = EmittedModel(system, False, tmp_path, prints=True)
    model.start(0)
    assert "".join(PutFormatter(model.emitted).texts(model.put_words)) == "".join(texts)
    assert len(texts) > 30


def test_names_and_texts_of_a_model_cannot_break_out_of_the_c(tmp_path: Path) -> None:
    evil = r"*/ int main(void) { return 1; } /* ??/ \\ \" # %: _Pragma(\"x\")" + "\u202e\u2028"
    system = system_of(
        f"""
        var int: 0 .. 1; state, context, p0, t1, OK: 0 .. 1; uint64_t: boolean;
        function main(restrict: boolean): boolean; begin return !restrict; end;
        startstate "{evil}" begin int := 0; state := 0; context := 0; p0 := 1; t1 := 0; OK := 0; uint64_t := true; end;
        ruleset original: 0 .. 1 do
          rule "{evil}" main(uint64_t) ==> put "{evil}"; error "{evil}"; end;
        end;
        rule "" state = 0 ==> assert p0 = 1 "{evil}"; state := 1; end;
        invariant "{evil}" p0 = 1;
        """
    )
    source = emit(system, False).source
    assert source.isascii()
    assert "??/" not in source and "\\" not in source and source.count("/*") == source.count("*/")
    compare(system, EmittedModel(system, False, tmp_path, "-O0", "-trigraphs"), False, 10)
