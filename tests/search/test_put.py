"""``put`` statements: a search skips them; traces, walks and ``--print`` show what they print."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from emitted_model import EmittedModel, compare

import outcrop
from outcrop.codegen.c import emit
from outcrop.codegen.features import Feature
from outcrop.lang import load_text
from outcrop.options import LoadOptions
from outcrop.report.text import report
from outcrop.strategies import names
from outcrop.tools.simulate import SimulationOptions, simulate

#: A model that prints in every possible place; nothing that it prints can fail.
CHATTY = r"""
var x: 0..6; a: array [0..2] of record b: boolean; end; last: 0..2;
function loud(n: 0..6): boolean; begin put "asked "; put n; return n < 6; end;
procedure show(var y: 0..6); begin put "y is "; put y; put a; for i: 0..2 do put i; put a[i].b; end; end;
startstate "zero" begin put "begin\n"; x := 0; last := 0; put x; put last; end;
ruleset i: 0..2 do
  rule "up" loud(x) & last <= i ==> begin put "up by "; put i; put i + 1; put "\n"; x := x + 1; last := i; show(x); end;
end;
rule "down" x = 6 ==> begin put "down\n"; x := 0; put 1 + 1; put "\n"; end;
"""
PUT = re.compile(r"put [^;]*;")


def loaded(text: str) -> outcrop.Model:
    options = LoadOptions()
    system, warnings = load_text(text, "m.m", options)
    return outcrop.Model(system, tuple(warnings), options)


def printed_by(model: outcrop.Model, **options: object) -> Counter[str]:
    """Returns the lines that a check prints, without their order."""
    texts: list[str] = []
    result = model.check(deadlock="off", output=texts.append, **options)
    assert str(result.verdict) == "holds"
    return Counter("".join(texts).splitlines())


# --- Searches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_search_prints_nothing_and_says_so(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = loaded(CHATTY)
    assert printed_by(model, engine=engine) == Counter()
    result = model.check(deadlock="off", engine=engine)
    assert capsys.readouterr().out == ""
    count = len(PUT.findall(CHATTY))
    notes = [note.message for note in result.notes if "put" in note.message]
    assert notes == [f"{count} put statements print nothing during a search; use --print to see their output"]
    silent = loaded(PUT.sub("", CHATTY)).check(deadlock="off", engine=engine)
    assert (result.levels, result.rules_fired) == (silent.levels, silent.rules_fired)
    assert not any("put" in note.message for note in silent.notes)


def test_all_engines_print_the_same_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = loaded(CHATTY)
    expected = printed_by(model, engine="interpreter", prints=True)
    assert {"begin", "down", "up by i:2", "y is x:6", "asked n:3"} <= set(expected)
    for strategy in names(finds_cycles=False, decides=True, revisits=False):
        assert printed_by(model, strategy=strategy, threads=2, workdir=str(tmp_path), prints=True) == expected
    model.check(deadlock="off", prints=True)
    assert Counter(capsys.readouterr().out.splitlines()) == expected


def test_no_note_where_everything_is_printed() -> None:
    result = loaded(CHATTY).check(deadlock="off", engine="interpreter", prints=True, output=lambda text: None)
    assert not any("put" in note.message for note in result.notes)


def test_a_formula_is_checked_in_silence_after_the_states() -> None:
    options = LoadOptions()
    texts: list[str] = []
    text = CHATTY + 'ltl "it": G {x < 7};'
    system, _ = load_text(text, "m.m", options)
    result = outcrop.Model(system, (), options).check(deadlock="off", prints=True, output=texts.append)
    assert str(result.verdict) == "holds"
    assert Counter("".join(texts).splitlines()) == printed_by(loaded(CHATTY), engine="interpreter", prints=True)


# --- Code ------------------------------------------------------------------------------------------------------


def test_code_without_printing_is_that_of_a_model_without_put() -> None:
    """Except for functions: a call of a function that does nothing is still a call."""
    text = "\n".join(line for line in CHATTY.split("\n") if not line.startswith(("function", "procedure")))
    text = text.replace("loud(x)", "x < 6").replace("show(x);", "for j: 0..2 do put j; put a[j].b; end;")
    chatty, silent = (load_text(each, "m.m", LoadOptions())[0] for each in (text, PUT.sub("", text)))
    assert emit(chatty, False).source == emit(silent, False).source
    assert emit(chatty, False, prints=True).source != emit(silent, False, prints=True).source


def test_code_without_printing_records_nothing() -> None:
    system = loaded(CHATTY).system
    silent, printing = (emit(system, False, prints=prints) for prints in (False, True))
    assert Feature.PRINTING not in silent.features and "put_word" not in silent.source
    assert not silent.put_sites and len(printing.put_sites) == len(PUT.findall(CHATTY))
    assert Feature.PRINTING in printing.features and "put_word" in printing.source


#: Failures and side effects of put statements. In each ``x`` becomes 0, 1, 2, 3.
EVALUATED = {
    "division": "put 6 / (2 - x);",
    "undefined": "put u + 1;",
    "index": "put a[x].b;",
    "index of a value": "put a[x].b + 1;",
    "undefined index": "put a[u];",
    "range of a local": "put inner(x);",
    "overflow": "put big + x;",
    "assertion": "put checked(x);",
    "changes the state": "put changed();",
    "abandoned": "put assumed(x);",
    "inside a function": "put outer(x);",
    "quantifier": "put exists i: 0..3 do 6 / (i - x) > 7 end;",
}


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_an_argument_that_can_fail_is_evaluated(engine: str) -> None:
    """Printed or not, it fails in the same state in the same way, and has the same side effects."""
    for name, statement in EVALUATED.items():
        model = loaded(evaluating(statement))
        results = [
            model.check(deadlock="off", engine=engine, prints=prints, output=lambda text: None)
            for prints in (False, True)
        ]
        shown = [(str(each.verdict), each.kind, each.levels, each.rules_fired) for each in results]
        assert shown[0] == shown[1], name
        expected = "holds" if name in ("changes the state", "abandoned") else "violated"
        assert shown[0][0] == expected, name
        messages = [[violation.message for violation in each.violations] for each in results]
        assert messages[0] == messages[1], name


@pytest.mark.parametrize("name", EVALUATED)
def test_emitted_code_evaluates_what_the_interpreter_does(name: str, tmp_path: Path) -> None:
    system = loaded(evaluating(EVALUATED[name])).system
    assert compare(system, EmittedModel(system, False, tmp_path), False, 20) >= 1


def evaluating(statement: str) -> str:
    return f"""
    var x: 0..3; u: 0..3; big: 0..9223372036854775806; a: array [0..2] of record b: 0..3; end; done: boolean;

    function inner(n: 0..3): 0..3; var l: 0..2; begin l := n; return l; end;
    function checked(n: 0..3): 0..3; begin assert n < 2; return n; end;
    function changed(): boolean; begin done := true; return done; end;
    function assumed(n: 0..3): 0..3; begin assume n < 2; return n; end;
    function outer(n: 0..3): 0..3; begin put 6 / (n - 1); return n; end;
    startstate begin
      x := 0; done := false; big := 9223372036854775806; for i: 0..2 do a[i].b := i; end;
    end;
    rule "up" x < 3 ==> begin x := x + 1; {statement} end;
    rule "bottom" done & x > 1 ==> begin x := 0; done := false; end;
    """


# --- Traces ----------------------------------------------------------------------------------------------------

FAILS = r"""
var x: 0..5; a: array [0..3] of 0..5;
startstate "zero" begin x := 0; put "begin\n"; put x; end;
rule "up" x < 5 ==> begin put "up from "; put x; put "two\nlines"; x := x + 1; end;
rule "bad" x = 2 ==> begin put "about to fail\n"; put a[x]; assert x < 2; put "never\n"; end;
"""


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_steps_show_what_they_print(engine: str) -> None:
    result = loaded(FAILS).check(engine=engine)
    violation = result.violations[0]
    assert result.trace is not None
    steps = ["begin\nx:0\n", "up from x:0\ntwo\nlines", "up from x:1\ntwo\nlines"]
    assert [step.printed for step in result.trace.steps] == steps
    assert violation.printed == "about to fail\na[2]:Undefined\n"
    document = result.to_dict()
    assert [state["#meta"]["printed"] for state in document["trace"]["states"]] == steps
    assert document["trace"]["#meta"]["failing_printed"] == violation.printed
    assert document["violations"][0]["printed"] == violation.printed
    text = report(result)
    assert "     x: 0 -> 1\n     prints: up from x:0\n             two\n             lines\n" in text
    assert text.endswith("    prints: about to fail\n            a[2]:Undefined")


def test_steps_that_print_nothing_have_no_such_key() -> None:
    result = loaded(PUT.sub("", FAILS)).check(engine="interpreter")
    document = result.to_dict()
    assert document["violations"][0]["printed"] == ""
    assert not any("printed" in state["#meta"] for state in document["trace"]["states"])
    assert "failing_printed" not in document["trace"]["#meta"]
    assert "prints:" not in report(result)


def test_a_startstate_that_fails_shows_what_it_printed() -> None:
    result = loaded('var x: 0..5; startstate begin put "so far"; x := 6; end; rule begin end;').check()
    assert result.trace is None
    assert result.violations[0].printed == "so far"
    assert report(result).endswith("before any rule fires.\n    prints: so far")


def test_a_lasso_shows_what_its_steps_print() -> None:
    text = """
    var x: 0..2; startstate begin x := 0; put "s"; end;
    rule "on" x < 2 ==> begin put x + 0; x := x + 1; end;
    rule "back" x = 2 ==> begin put "back"; x := 1; end;
    ltl "never": F {x > 2};
    """
    result = loaded(text).check()
    trace = result.trace
    assert trace is not None and trace.closing is not None
    assert [step.printed for step in trace.steps] == ["s", "0", "1"]
    assert trace.closing.printed == "back"
    assert result.to_dict()["trace"]["#meta"]["closing_printed"] == "back"
    assert report(result).split("\n")[-2].strip() == "prints: back"


def test_under_symmetry_a_step_prints_what_the_shown_state_has() -> None:
    text = """
    type P: scalarset(3); var owner: P; want: array [P] of boolean; count: 0..3;
    startstate begin for p: P do want[p] := false; end; count := 0; end;
    ruleset p: P do
      rule "want" !want[p] ==> want[p] := true; count := count + 1; put p; put want[p]; end;
      rule "take" want[p] & count = 2 ==> owner := p; put owner; end;
    end;
    invariant "nobody" isundefined(owner);
    """
    trace = loaded(text).check().trace
    assert trace is not None
    for step in trace.steps[1:-1]:
        value = step.label.removeprefix("want, p: ")
        assert step.printed == f"p:{value}\nwant[{value}]:true\n"
    assert trace.steps[-1].printed == f"owner:{trace.steps[-1].label.removeprefix('take, p: ')}\n"


def test_what_a_step_prints_is_cut_when_it_is_very_long() -> None:
    text = "var x: 0..1; startstate begin x := 0; for i: 0..99999 do put i + 0; end; end; invariant x = 1;"
    trace = loaded(text).check(engine="interpreter").trace
    assert trace is not None
    assert len(trace.steps[0].printed) < 101_000 and trace.steps[0].printed.endswith("more characters\n")


def test_what_a_terminal_would_obey_is_not_shown() -> None:
    text = r'var x: 0..1; startstate begin x := 0; put "\x1b[2J\t1"; end; invariant x = 1;'
    shown = report(loaded(text).check(engine="interpreter"))
    assert "\x1b" not in shown and "prints: \ufffd[2J\t1" in shown


# --- Walks -----------------------------------------------------------------------------------------------------

WALK = r"""
var x: 0..20;
startstate begin x := 0; put "start\n"; end;
rule "up" x < 20 ==> begin put "up from "; put x; x := x + 1; end;
rule "never" true ==> begin put "never taken\n"; x := 20; end;
"""


def walked(text: str, **options: object) -> str:
    texts: list[str] = []
    chosen = SimulationOptions(**{"walks": 1, "time_limit": None, "threads": 1, **options})  # type: ignore[arg-type]
    simulate(loaded(text), chosen, texts.append)
    return "".join(texts)


def test_a_walk_prints_what_its_steps_print() -> None:
    up = [f"up from x:{x}\n" for x in range(20)]
    assert walked(WALK, steps=5, weights={"never": 0}) == "start\n" + "".join(up[:5])
    assert walked(WALK, steps=100, weights={"never": 0}, deadlock="off") == "start\n" + "".join(up)
    assert walked(WALK, steps=100, weights={"up": 0}, deadlock="off") == "start\nnever taken\n"


def test_walks_print_everything() -> None:
    """The output is larger than workers keep before they hand it over."""
    long = WALK.replace('put "up from ";', "for i: 0..999 do put i + 0; end;")
    lines = walked(long, steps=20, walks=20, threads=2, weights={"never": 0}, deadlock="off").splitlines()
    numbers = "".join(map(str, range(1000)))
    assert Counter(lines) == Counter({"start": 20} | {f"{numbers}x:{x}": 20 for x in range(20)})
