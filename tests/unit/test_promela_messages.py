"""Messages about Promela models: mistakes in their text, and what a report says of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import outcrop
from outcrop.api import Model
from outcrop.cli.main import main
from outcrop.errors import ModelError
from outcrop.explore.graph import explore
from outcrop.explore.picture import picture
from outcrop.result import ViolationKind
from outcrop.source import Diagnostic, Severity

STUCK = """chan c = [0] of { byte };
active [3] proctype P() { byte x; c?x; c?x }
active proctype Q() { c!1; false }
active proctype E() { end: false }
"""


def model(text: str, **options: bool) -> Model:
    return outcrop.loads(text, "m.pml", **options)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (STUCK, "3 processes P wait at line 2, Q at line 3"),
        ("byte x;\nactive proctype P() { x == 1 }", "P waits at line 2"),
        ("byte x;\nactive [2] proctype P() { if :: _pid ->\nx == 1 :: else fi }", "P[1] waits at line 3"),
        (
            "byte x;\n" + "".join(f"active proctype P{each}() {{ x == 1 }}\n" for each in range(6)),
            "P0 waits at line 2, P1 at line 3, P2 at line 4, P3 at line 5, and others at 2 more places",
        ),
    ],
)
def test_a_deadlock_says_where_processes_wait(text: str, places: str) -> None:
    for found in (model(text), model(text, process_symmetry=True)):
        (violation,) = found.check(engine="interpreter").violations
        assert (violation.kind, violation.message) == (
            ViolationKind.DEADLOCK,
            f"deadlock (invalid end state): {places}",
        )
        assert violation.span is not None and f"line {violation.span.line}" in places
        assert "label that begins with 'end'" in violation.hint


def test_a_timeout_is_one_rule() -> None:
    text = "byte x; active proctype P() { do :: x < 2 -> x++ :: timeout -> break od }"
    names = [each.name for each in model(text).check(engine="interpreter").coverage]
    assert names.count("P:1 timeout") == 1
    # A condition that may fail is tested while others can move, too.
    text = "byte x; active proctype P() { do :: x < 2 -> x++ :: x / (1 - x) == 0 && timeout -> break od }"
    assert model(text).check(engine="interpreter").verdict == "violated"


def mistakes(text: str) -> list[Diagnostic]:
    with pytest.raises(ModelError) as caught:
        model(text)
    return [each for each in caught.value.diagnostics if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("statements", "message", "hint"),
    [
        ("while (x < 3) { x++ }", "before the next statement", "a loop is written: do"),
        ("if (x == 0) { x = 1 }", "expected '::' after 'if'", "a choice is written: if"),
        ("do x = 1 od", "expected '::' after 'do'", "a loop is written: do"),
        ("x = y++", "found '++'", "write x++, which is a statement of its own"),
        ("x += 1", "found '='", "write x = x + ..."),
        ("if :: (x = 0) -> skip fi", "found '='", "a comparison is written '=='"),
        ("for (x = 0; x < 3; x++) { skip }", "expected ':'", "for (i : 0 .. 3) { ... }"),
        ("x = x == 0 ? 1 : 2", "found '?'", "(condition -> a : b)"),
        ("x = x and y", "found 'and'", "'and' is written '&&'"),
        ("float z", "found 'z'", "there is no type 'float'"),
        ("a[1][0] = 2", "found '['", "put an array into a typedef"),
        ("a = 1", "'a' is an array", "a[0]"),
        ("t.b = 1", "'b' is an array", "b[0]"),
        ("x = len(q)", "'q' is an array", "q[0]"),
        ("q!1", "'q' is an array", "q[0]"),
        ("t = 1", "'t' is not a single value", "name one element or field"),
        ("f()", "takes 1 argument, not 0", ""),
        ("m(1, 2)", "takes 1 argument, not 2", ""),
    ],
)
def test_mistakes_in_statements_have_a_remedy(statements: str, message: str, hint: str) -> None:
    declarations = (
        "#define m(i) x = i\nbyte x, y, a[2]; typedef T { byte b[2] }; T t; chan q[2] = [1] of { byte };"
        "inline f(i) { x = i }\n"
    )
    (found,) = mistakes(f"{declarations}active proctype P() {{ {statements} }}")
    assert message in found.message and hint in found.hint
    assert found.span is not None and found.span.line == 3


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("proctype P(byte i, byte j) { skip } init { run P(1, 2) }", "found 'byte'", "separate declarations by ';'"),
        ("proctype P(byte a[2]) { skip } init { run P(1) }", "parameter 'a' holds an array", "one by one"),
        ("mtype = { a, b }; mtype = { b, c }; init { skip }", "'b' is declared twice", "rename"),
        ("init { skip } /* see", "this comment is not closed", "'*/'"),
        ('init { printf("one\ntwo") }', "this quote is not closed on its line", "same quote"),
    ],
)
def test_mistakes_in_declarations_have_a_remedy(text: str, message: str, hint: str) -> None:
    (found,) = mistakes(text)
    assert message in found.message and hint in found.hint and found.span is not None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("init {\n if\n :: skip\n}", "'if' stands here"),
        ("init {\n do\n :: skip\n}", "'do' stands here"),
        ("init {\n { skip\n", "the block begins here"),
    ],
)
def test_a_missing_end_shows_the_beginning(text: str, place: str) -> None:
    ((note, span),) = mistakes(text)[0].related
    assert (note, span.line) == (place, 2)


@pytest.mark.parametrize(
    "text",
    [
        "byte x; init { if :: x == 1 -> skip :: else x = 2 fi; assert(x == 2) }",
        "byte x; init { if :: x == 1 -> skip :: else if :: x == 0 -> x = 2 :: else fi fi; assert(x == 2) }",
        "active proctype P() { byte y; y = 1 } active proctype Q() { P:y == 1; end: skip }",
    ],
)
def test_texts_that_spin_reads(text: str) -> None:
    assert model(text).check(engine="interpreter").verdict == "holds"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("progress", "non-progress cycle: a run avoids all progress labels from some point on"),
        ("acceptance", "acceptance cycle: a run is at accept labels again and again"),
    ],
)
def test_cycles_have_the_names_that_spin_gives_them(kind: str, message: str) -> None:
    text = "byte x; active proctype P() { do :: x == 0 -> progress: x = 1; x = 0 :: x == 0 -> accept: skip od }"
    (violation,) = model(text, **{kind: True}).check(engine="interpreter").violations
    assert (violation.message, violation.span, violation.property) == (message, None, kind)


@pytest.mark.parametrize(("kind", "word"), [("progress", "every"), ("acceptance", "no")])
def test_a_warning_says_that_there_are_no_labels(kind: str, word: str) -> None:
    loaded = model("byte x; active proctype P() { do :: x = 1 - x od }", **{kind: True})
    (warning,) = loaded.warnings
    assert f"no label that begins with '{kind[:6]}" in warning.message
    assert f"so {word} cycle is a violation" in warning.message


def test_statements_with_commas_are_whole_in_pictures() -> None:
    text = "chan c = [1] of { byte, byte }; active proctype P() { byte x; do :: c!1,2; c?x,_ od }"
    drawn = picture(explore(model(text).system, False, 100, None), None, ["P.at"], "property")
    assert {each.label for each in drawn.lines} == {"P:1 c!1,2", "P:1 c?x,_"}


def test_simulation_names_rules_of_one_name_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    text = "byte x; active [2] proctype P() { x = 1; end: do :: x == 2; x = 3 :: x == 2; x = 3 od }"
    path.write_text(text)
    main(["simulate", str(path), "--walks", "1"])
    assert "P[0]:1 x == 2 (2 rules), " in capsys.readouterr().out


@pytest.mark.parametrize("command", ["graph", "show", "locality"])
def test_commands_that_load_a_model_take_the_options_of_its_language(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.pml"
    path.write_text("proctype P() { skip } init { do :: run P() :: break od }")
    assert main([command, str(path), "--processes", "2"]) == 0
    assert "m.pml" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("active [2] proctype P() { do :: skip od }", ""),
        ("active [2] proctype P() { do :: _pid == 0 od }", "'P': it uses _pid"),
        ("active [2] proctype P() { byte x; x = 1 }", "'P': its processes can end"),
        ("active [2] proctype P() { chan c = [1] of { byte }; do :: c!1 od }", "'P': it declares channels"),
        ("active [2] proctype P() { do :: a: skip od } active proctype Q() { P[0]@a }", "'P': one of its processes is"),
        ("active [2] proctype P() { do :: skip od } active proctype Q() { enabled(0) }", "'enabled' in the model"),
        ("active [2] proctype P() { do :: skip od } init { run P() }", "'P': 'run' starts processes of it"),
        ("active proctype P() { do :: skip od }", "several active processes: active [3]"),
    ],
)
def test_process_symmetry_says_why_it_has_no_effect(text: str, obstacle: str) -> None:
    loaded = model(text, process_symmetry=True)
    hints = [each.hint for each in loaded.warnings if "--process-symmetry has no effect" in each.message]
    assert len(hints) == bool(obstacle) and all(obstacle in each for each in hints)
    assert bool(loaded.system.scalarsets) == (not obstacle)


def test_receivers_of_other_messages_get_no_rules() -> None:
    text = (
        "mtype = { yes, no }; chan c[2] = [0] of { mtype }; active proctype P() { c[0]!yes; c[1]!no }"
        "active [2] proctype Q() { end: do :: c[_pid - 1]?yes :: c[_pid - 1]?no od }"
    )
    names = [each.name for each in model(text).check(engine="interpreter").coverage if "->" in each.name]
    assert sorted(names) == ["P -> Q[1]:1 c[0]!yes", "P -> Q[2]:1 c[1]!no"]
