"""The Promela front-end: what it refuses, and state spaces that SPIN has counted."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from promela_labels import LABELS, Labels

import outcrop
from outcrop.errors import ModelError, UsageError
from outcrop.explore.saved import read
from outcrop.explore.session import Session
from outcrop.lang import load_text
from outcrop.options import LoadOptions
from outcrop.outcome import EventKind

MODELS = Path(os.environ.get("OUTCROP_MODELS", "/nowhere")) / "models" / "promela"
#: Rows whose counts are those of a product with a formula or a never claim.
PRODUCTS = ("p123", "ex_3a", "diskhead", "zune", "LTL/", "werkplaats")
MOST_STATES = 2_000


def counted() -> list[tuple[str, int, int]]:
    if not (MODELS / "EXPECTED.csv").exists():
        return []
    with (MODELS / "EXPECTED.csv").open() as file:
        rows = [each for each in csv.DictReader(file) if each["complete"] == "yes"]
    small = [each for each in rows if int(each["states"]) <= MOST_STATES]
    return [
        (each["file"], int(each["states"]), int(each["transitions"]))
        for each in small
        if not any(word in each["file"] for word in PRODUCTS)
    ]


@pytest.mark.parametrize(("name", "states", "transitions"), counted() or [("none", 0, 0)])
def test_state_spaces_are_those_of_spin(name: str, states: int, transitions: int) -> None:
    if name == "none":
        pytest.skip("no models")
    model = outcrop.load(MODELS / name, assertions=False)
    result = model.check(deadlock="off", engine="interpreter" if states < 300 else "native")
    # SPIN counts the arrival at the initial state as a transition.
    assert (result.states, result.rules_fired + 1) == (states, transitions)


@pytest.mark.parametrize(
    "text",
    [
        "chan q[2] = [2] of { byte }; active proctype P() { byte i = 0; q[0]!1; q[0]!1; q[1]!7; q[i]?i;"
        " assert(i == 1 && len(q[0]) == 1 && len(q[1]) == 1) }",
        "chan q[2] = [2] of { byte }; active proctype P() { byte i = 0; q[0]!1; q[0]!1; q[1]!7; d_step { q[i]??i };"
        " assert(i == 1 && len(q[0]) == 1 && len(q[1]) == 1) }",
        "chan q[2] = [2] of { chan }; active proctype P() { chan c = q[0]; q[0]!q[1]; q[1]!q[0]; c?c;"
        " assert(c == q[1] && len(q[0]) == 0 && len(q[1]) == 1) }",
        # All values but the last are stored before the queue is found again.
        "chan q[2] = [2] of { byte, byte }; active proctype P() { byte i, x; q[0]!1,5; q[1]!7,8; q[i]?i,x;"
        " assert(i == 1 && x == 8 && len(q[0]) == 1 && len(q[1]) == 0) }",
    ],
)
def test_a_receive_may_change_the_name_of_its_own_channel(text: str) -> None:
    assert outcrop.loads(text, "model.pml").check(engine="interpreter").verdict == "holds"


def messages(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        load_text(text, "model.pml", LoadOptions())
    return "\n".join(each.render() for each in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("active proctype P() { x = 1 }", "unknown name 'x'"),
        ("byte count; active proctype P() { cuont = 1 }", "did you mean 'count'"),
        ("active proctype P() { c_code { x++; } }", "it is C, not Promela"),
        ("active proctype P() { goto nowhere }", "there is no label 'nowhere'"),
        ("active proctype P() { break }", "outside of any 'do' loop"),
        ("byte x; active proctype P() { if :: x = 1 }", "'fi' at the end of 'if'"),
        ("byte x; active proctype P() { (x = 1) }", "a comparison is written '=='"),
        ("chan q = [1] of { byte }; active proctype P() { q!1,2 }", "carries 1 values, not 2"),
        ("byte x;", "the model has no process"),
        ("#if N\nbyte x;\nactive proctype P() { skip }", "end it with #endif"),
        ('#include "missing.h"\nactive proctype P() { skip }', "included files lie beside the model"),
        ("byte x; trace { x == 1 } active proctype P() { x = 1 }", "can only name messages"),
        ("chan c = [1] of { byte }; trace { c??1 } active proctype P() { c!1 }", "can only name messages"),
        ("chan c; notrace { c!1 } active proctype P() { skip }", "name a global channel"),
        ("chan c = [1] of { byte }; trace { c!1 } trace { c?1 } active proctype P() { c!1 }", "keep one of them"),
        ("active proctype P() { set_priority(0) }", "between the process and its priority"),
        ("byte x; active proctype P() { select (x : 3 .. 1) }", "the smaller bound first"),
        ("active proctype P() { L: goto L }", "leads in a circle"),
        ("byte x\nactive proctype P() { x = $ }", "cannot contain '$'"),
        ("inline f() { f() } active proctype P() { f() }", "calls itself"),
        ("byte x; active proctype x() { x = 1 }", "'x' is declared twice"),
        ("active proctype x() { skip } byte x; active proctype Q() { x = 1 }", "'x' is declared twice"),
        ("active proctype P() { run Q() }", "unknown proctype 'Q'"),
        ("proctype P() { skip } init { run Q(); run P() }", "unknown proctype 'Q'"),
        ("chan c = [1] of { bit }; active proctype P() { d_step { skip; c!1, 2 } }", "carries 1 values, not 2"),
        ("byte x; chan c = [1] of { bit }; active proctype P() { d_step { if :: c!1, 2 :: x = 1 fi } }", "not 2"),
        ("chan c = [1] of { bit }; active proctype P() { chan d = c; d_step { d!1, 2 } }", "carries 1 values, not 2"),
        ("byte x; never { do :: x = 1 od } active proctype P() { x = 1 }", "a never claim can only test"),
    ],
)
def test_mistakes_are_named(text: str, part: str) -> None:
    assert part in messages(text)


#: Models with the numbers of states and transitions that SPIN 6.5.2 finds (-o1 -o2 -o3, -DNOREDUCE -DSAFETY, pan -c0).
COUNTED = {
    "nested declarations": (
        "typedef T { byte u; byte v }; byte g; active proctype P() "
        "{ byte z; g = 1; byte a; byte b[3]; T t; { byte c = 2; byte d[2] = 7; g = c } ; g = 0 }",
        (10, 10),
    ),
    "structures in messages, _last": (
        "typedef T { byte u; bit v[2] }; typedef U { T t; short s }; chan q = [2] of { mtype, U }; "
        "chan r = [0] of { U }; mtype = { a, b }; U in, out; byte last;"
        "active proctype P() { U loc; loc.t.v[1] = 1; loc.s = -3; q!a(loc); q?a,in;"
        " assert(in.t.v[1] == 1 && in.s == -3); r!in }"
        "active proctype Q() { r?out; assert(out.s == -3); last = _last }"
        "active proctype R() { do :: last < 2 -> last++ :: else -> break od; last = (_last == 2 -> 7 : 8) }",
        (168, 276),
    ),
    "priorities": (
        "byte x, y; active proctype P() priority 3 { x = 1; (y == 1); x = 2; y = get_priority(_pid) + _priority }"
        "active [2] proctype Q() { do :: x < 2 -> y = 1 :: x >= 2 && y < 9 -> y++ :: y >= 9 -> break od }"
        "active proctype R() priority 2 { (x == 2) -> x = 3; timeout -> x = 4 }",
        (124, 177),
    ),
    "enabled": (
        "byte x, y; active proctype P() { x = 1; (y == 1); x = 2 }"
        "active proctype Q() { do :: enabled(0) -> y = 1 :: !enabled(0) -> y = 2; break od }",
        (19, 26),
    ),
    "select, between numbers and up to a variable": (
        "byte x, y; active proctype P() { y = 1; select (x : 0 .. 2); y = 2; select (x : 1 .. y); y = 3 }",
        (17, 19),
    ),
    "a single bit in a message is a byte": (
        "chan c = [1] of { bit }; active proctype P() { c!2; c?2; skip }",
        (5, 5),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_small_models_have_the_counts_of_spin(name: str, tmp_path: Path) -> None:
    text, counts = COUNTED[name]
    (tmp_path / "m.pml").write_text(text)
    result = outcrop.load(tmp_path / "m.pml").check(engine="interpreter", deadlock="off")
    assert (result.states, result.rules_fired + 1) == counts


def test_runs_without_progress_are_found(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    looping = "byte x; active proctype P() { do :: x = 1 - x; if :: x -> progress: skip :: else fi od }"
    path.write_text(looping + "active proctype Q() { do :: x == 0 -> skip od }")
    verdicts = [str(outcrop.load(path, progress=True).check(fair=each).verdict) for each in ("none", "weak")]
    assert verdicts == ["violated", "holds"]
    # A run that ends makes no cycle.
    path.write_text("byte x; active proctype P() { x = 1; accept: x = 2 }")
    assert str(outcrop.load(path, progress=True, acceptance=True).check().verdict) == "holds"
    path.write_text("byte x; active proctype P() { do :: x = 1 - x; accept: skip od }")
    assert str(outcrop.load(path, acceptance=True).check().verdict) == "violated"


IDENTICAL = """chan q = [1] of { bit }; chan r = [0] of { bit }; bit x;
active [3] proctype P() { bit t; do :: x == 0 -> t = x; x = 1 :: q!t :: q?t :: r!1 -> t = 0 od }
active proctype Q() { do :: r?_ -> x = 0 od }
"""


def test_identical_processes_count_once(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(IDENTICAL.replace("[3]", "[2]"))
    graph = outcrop.load(path).graph(states=10_000)
    first = next(each.offset for each in graph.system.variables if each.name == "P")
    orbits = set()
    for node in graph.nodes:
        one, other = node.state[first : first + 2], node.state[first + 2 : first + 4]
        orbits.add((node.state[:first], *sorted((one, other)), node.state[first + 4 :]))
    reduced = outcrop.load(path, process_symmetry=True).check(engine="interpreter", deadlock="off")
    assert len(graph.nodes) > len(orbits) == reduced.states


def test_atomic_sequences_leave_nothing_out_of_the_verdict(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("byte x; active proctype P() { atomic { x = 1; if :: x == 1 -> x = 2 :: x == 2 fi } }\n")
    assert outcrop.load(path).check(engine="interpreter").notes == []


def test_constants_replace_macros(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text("#define N 2\nbyte x;\nactive proctype P() { do :: x < N -> x++ :: else -> break od }\n")
    assert outcrop.load(path).check(engine="interpreter").states == 7
    larger = outcrop.load(path, N=4).check(engine="interpreter")
    assert (larger.states, larger.constants) == (11, {"N": 4})


def test_other_ways_through_statements_that_were_executed_are_no_rules_that_never_fired() -> None:
    text = """
    byte x;
    proctype P(byte n) {{ x++ }}
    init {{ byte i = 1; atomic {{ do :: i <= 2 -> run P(i); i++ :: else -> break od; {rest} }} }}
    """

    def never(rest: str) -> list[str]:
        coverage = outcrop.loads(text.format(rest=rest), "m.pml").check(engine="interpreter").coverage
        assert any(not each.fired for each in coverage)
        return [each.name for each in coverage if each.never_fired]

    assert never("x = 1") == []
    assert never("if :: x == 77 -> x = 5 :: else fi")


def test_a_guessed_number_of_processes_grows_until_it_is_enough() -> None:
    text = "proctype P(byte n) {{ if :: n < {most} -> run P(n + 1) :: else fi }} init {{ run P(0) }}"
    result = outcrop.loads(text.format(most=12), "m.pml").check(engine="interpreter")
    assert (str(result.verdict), result.options["processes"]) == ("holds", 17)
    assert [(each.kind, each.data) for each in result.events] == [(EventKind.ENLARGED, {"before": 9, "after": 17})]
    endless = outcrop.loads(text.format(most=200), "m.pml").check(engine="interpreter")
    assert str(endless.verdict) == "violated"
    assert "--processes" in endless.violations[0].message
    assert [each.data["after"] for each in endless.events] == [17, 33, 65]


def test_processes_past_a_given_limit_are_an_error_that_names_the_option() -> None:
    text = "proctype P(byte n) { if :: n < 12 -> run P(n + 1) :: else fi } init { run P(0) }"
    result = outcrop.loads(text, "m.pml", processes=9).check(engine="interpreter")
    assert (str(result.verdict), result.events) == ("violated", [])
    assert "--processes" in result.violations[0].message
    assert str(outcrop.loads(text, "m.pml", processes=20).check(engine="interpreter").verdict) == "holds"


def test_a_reference_to_one_of_several_processes_is_warned_of() -> None:
    text = "active [2] proctype P() { A: skip } ltl p { !(P@A && P[0]@A) }"
    model = outcrop.loads(text, "m.pml")
    assert [each.hint for each in model.warnings] == ["write P[pid] to name another one"]
    assert str(model.check(engine="interpreter").verdict) == "violated"


def test_no_process_of_another_proctype_is_at_a_label() -> None:
    text = """
        byte n;
        active proctype Main() { M: do :: n < 9 -> n++ od }
        active [2] proctype P() { A: (n == 9) }
        ltl others { [] !P[9]@A && [] !Main[1]@M && [] (n > 2 -> !P[n]@A) } ltl own { [] !P[n]@A }
    """
    result = outcrop.loads(text, "m.pml").check(engine="interpreter", max_errors=None, deadlock="off")
    found = {each.name: each.status for each in result.properties}
    assert (found["others"], found["own"], str(result.violations[0].kind)) == ("holds", "violated", "ltl")


def test_a_never_claim_is_an_automaton(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    model = "byte x; active proctype P() { do :: x = 1 - x od }\n"
    path.write_text(model + "never { do :: x == 0 -> goto accept :: true od; accept: do :: x < 2 od }")
    assert result_of(path) == ("violated", "ltl")
    path.write_text(model + "never { do :: x == 2 -> goto accept :: x != 2 od; accept: do :: true od }")
    assert result_of(path) == ("holds", "")


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels.name)
def test_accept_labels_of_processes_count_beside_a_claim(labels: Labels) -> None:
    model = outcrop.loads(labels.text, "m.pml", acceptance=labels.acceptance)
    assert (str(model.check(engine="interpreter", deadlock="off").verdict) == "violated") == labels.is_violated


def test_formulas_leave_accept_labels_out_with_a_warning() -> None:
    text = "byte x; active proctype P() { accept: do :: x = 1 - x od }\n"
    formula = "ltl f { [] (x < 2) }"
    for options, warned in (({}, 1), ({"acceptance": True}, 0), ({"claims": False}, 0)):
        model = outcrop.loads(text + formula, "m.pml", **options)
        assert len([each for each in model.warnings if "--acceptance" in each.hint]) == warned
    assert not outcrop.loads(text, "m.pml").warnings
    assert str(outcrop.loads(text + formula, "m.pml").check(engine="interpreter").verdict) == "holds"


def result_of(path: Path) -> tuple[str, str]:
    result = outcrop.load(path).check()
    return str(result.verdict), result.kind


COUNTER = """byte x, ready;
active [2] proctype P() { byte t; t = x; x = t + 1; ready++; (ready == 2); assert(x == 2) }
"""
TRAIL = "-4:-4:-4\n1:1:0\n2:0:0\n3:1:1\n4:1:2\n5:0:1\n6:0:2\n7:1:3\n8:1:4\n"


@pytest.mark.parametrize(("trail", "count"), [(TRAIL, 8), (TRAIL.removeprefix("-4:-4:-4\n"), 8), ("", 1)])
def test_a_trail_file_is_a_saved_trace(trail: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "m.pml").write_text(COUNTER)
    (tmp_path / "m.pml.trail").write_text(trail)
    session = Session(outcrop.load(tmp_path / "m.pml").system)
    assert session.load(read(str(tmp_path / "m.pml.trail"))) == count


def test_a_trail_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.pml").write_text(COUNTER)
    session = Session(outcrop.load(tmp_path / "m.pml").system)
    session.restart()
    with pytest.raises(UsageError, match="does not fit"):
        session.load({"trail": [[0, 0], [0, 2]], "merged": False})
    assert len(session.steps) == 1  # the trace so far is kept


_LOOP = "byte x, y; active proctype P() { do :: atomic { x = 1 - x; y = x } od } "
_LINE = "byte x; active proctype P() { x = 1; "
_TURNS = "byte x; active proctype P() { x = 1; x = 0; x = 1; x = 3; do :: x = 0 od } "


@pytest.mark.parametrize(
    ("text", "options", "verdict"),
    [
        (_LOOP + "ltl f { [] ((x == 1) <-> (y == 1)) }", {}, "holds"),
        (_LOOP + "ltl f { <> ((x == 1) <-> (y == 0)) }", {}, "violated"),
        (_LOOP + "ltl f { (! ((x == 0) -> (y == 1))) }", {}, "holds"),
        (_LOOP + "ltl f { [] (! ((x == 0 -> 0 : 1) > (y == 1 -> 1 : 0))) }", {}, "holds"),
        (_LOOP + "ltl f { x -> y -> x }", {}, "violated"),  # (x -> y) -> x
        (_LOOP + "ltl f { x -> y <-> x }", {}, "violated"),
        (_TURNS + "ltl f { (x == 0) U (x == 1) U (x == 3) }", {}, "holds"),
        (_TURNS + "ltl f { (x == 0) U ((x == 1) U (x == 3)) }", {}, "violated"),
        (_TURNS + "ltl f { (x == 0) W (x == 1) W (x == 3) }", {}, "holds"),
        (_TURNS + "ltl f { [] (x != 2 -> (!x == 1) || x) }", {}, "holds"),  # (!x) == 1
        (_TURNS + "ltl f { ! <> !x == 2 }", {}, "holds"),
        ("#define ALWAYS(p) [](x < 3 -> (p))\n" + _TURNS + "ltl f { ALWAYS(x < 1) }", {}, "violated"),
        ("#define ALWAYS(p) [](x < 3 -> (p))\n" + _TURNS + "ltl f { ALWAYS(x < 3) && ALWAYS(x < 9) }", {}, "holds"),
        (_LINE + "accept: x == 9 }", {"acceptance": True}, "violated"),
        (_LINE + "accept: skip; x == 9 }", {"acceptance": True}, "holds"),
        (_LINE + "x == 9 }", {"progress": True}, "holds"),
        (_LOOP, {"progress": True}, "violated"),
    ],
)
def test_verdicts_about_cycles_and_ends_are_those_of_spin(
    text: str, options: dict[str, bool], verdict: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.pml"
    path.write_text(text)
    result = outcrop.load(path, **options).check(deadlock="off", engine="interpreter")
    assert str(result.verdict) == verdict


@pytest.mark.parametrize("operator", ["[]", "<>", "always", "eventually", "X"])
def test_comparisons_behind_temporal_operators_that_spin_misreads_are_warned_of(operator: str) -> None:
    def warnings(formula: str) -> list[tuple[str, str]]:
        model = outcrop.loads(f"{_TURNS} ltl f {{ {formula} }}", "m.pml")
        return [(each.message.partition(",")[0], each.hint) for each in model.warnings]

    message = f"'{operator}' is about all of 'x + 1 == 2'"
    assert warnings(f"{operator} x + 1 == 2") == [(message, f"write {operator} (x + 1 == 2)")]
    assert warnings(f"! {operator} (x) == 2")
    assert warnings(f"{operator} ((x + 1) == (2)) && {operator} x && {operator} !(x == 1)") == []


@pytest.mark.parametrize(
    "text",
    [
        "#define TWO x = 1; \\ \t\n x = 2\nbyte x; init { TWO; assert(x == 2) }",
        "byte x; // one \\ \n x = 9;\ninit { assert(x == 0) }",
        "#define N 3 // two \\\n + 4\nbyte x; init { x = N; assert(x == 3) }",
        "byte x; init { x = 1 + \\ \r\n 2; assert(x == 3) }",
    ],
)
def test_lines_go_on_behind_a_backslash(text: str) -> None:
    assert str(outcrop.loads(text, "m.pml").check(engine="interpreter").verdict) == "holds"
