"""The Murphi parser: its trees for the union of the two dialects, and their spans."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from outcrop.lang.murphi import syntax
from outcrop.lang.murphi.parser import parse
from outcrop.source import Source


def model(text: str) -> syntax.ModelSyntax:
    return parse(Source("m.m", text))[0]


def show(node: object) -> object:
    """Returns a tree as nested lists: class name and fields, without spans, names and literals bare."""
    match node:
        case syntax.Name(text=text) | syntax.Identifier(name=text) | syntax.TypeName(name=text):
            return text
        case syntax.Integer(value=value) | syntax.RealNumber(value=value):
            return value
        case syntax.BinaryOperation():
            return [node.operator, show(node.left), show(node.right)]
        case syntax.UnaryOperation():
            return [node.operator, show(node.operand)]
        case syntax.Node():
            parts = [getattr(node, each.name) for each in dataclasses.fields(node) if each.name != "span"]
            return [type(node).__name__, *map(show, parts)]
        case list() | tuple():
            return [show(each) for each in node]
    return node


def expression(text: str) -> object:
    (item,) = model(f"invariant {text};").items
    assert isinstance(item, syntax.PropertySyntax)
    return show(item.condition)


def body(text: str) -> list[object]:
    (item,) = model(f"rule begin {text} end").items
    assert isinstance(item, syntax.RuleSyntax)
    return [show(each) for each in item.body]


def declared_type(text: str) -> object:
    (item,) = model(f"type T: {text};").items
    assert isinstance(item, syntax.TypeDeclaration)
    return show(item.type)


# --- Expressions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", ["+", "a", ["*", "b", "c"]]),
        ("a - b - c", ["-", ["-", "a", "b"], "c"]),
        ("a * b / c % d", ["%", ["/", ["*", "a", "b"], "c"], "d"]),
        ("!x = y", ["!", ["=", "x", "y"]]),
        ("!x & y", ["&", ["!", "x"], "y"]),
        ("a = !b = c", ["=", "a", ["!", ["=", "b", "c"]]]),
        ("!!x", ["!", ["!", "x"]]),
        ("-x % 2", ["%", ["-", "x"], 2]),
        ("- x * y", ["*", ["-", "x"], "y"]),
        ("1 - -2 + +3", ["+", ["-", 1, ["-", 2]], ["+", 3]]),
        ("~a + b", ["+", ["~", "a"], "b"]),
        ("a | b && c", ["&&", ["|", "a", "b"], "c"]),
        ("a || b && c", ["||", "a", ["&&", "b", "c"]]),
        ("a | b ^ c & d", ["|", "a", ["^", "b", ["&", "c", "d"]]]),
        ("x & 3 + 1", ["&", "x", ["+", 3, 1]]),
        ("a << 1 + b >> c", [">>", ["<<", "a", ["+", 1, "b"]], "c"]),
        ("a < b << c", ["<", "a", ["<<", "b", "c"]]),
        ("a -> b | c", ["->", "a", ["|", "b", "c"]]),
        ("a == b", ["=", "a", "b"]),
        ("(a -> b) -> c", ["->", ["->", "a", "b"], "c"]),
        ("(a = b) = (c = d)", ["=", ["=", "a", "b"], ["=", "c", "d"]]),
        ("a -> b ? c : d -> e", ["ConditionalOperation", ["->", "a", "b"], "c", ["->", "d", "e"]]),
        ("a ? (b ? c : d) : e", ["ConditionalOperation", "a", ["ConditionalOperation", "b", "c", "d"], "e"]),
        ("a.b[c.d].e", ["FieldAccess", ["ElementAccess", ["FieldAccess", "a", "b"], ["FieldAccess", "c", "d"]], "e"]),
        ("f()", ["CallOperation", "f", []]),
        ("f(a, b + 1,)", ["CallOperation", "f", ["a", ["+", "b", 1]]]),
        ("sqrt(1.5)", ["CallOperation", "sqrt", [1.5]]),
        ("isundefined(a[i])", ["IsUndefinedOperation", ["ElementAccess", "a", "i"]]),
        ("ismember(x, T)", ["IsMemberOperation", "x", "T"]),
        ("multisetcount(i: m, m[i] = 1)", ["MultisetCountOperation", "i", "m", ["=", ["ElementAccess", "m", "i"], 1]]),
        ("0x1F + 010", ["+", 31, 8]),
        ("TRUE -> False", ["->", "true", "false"]),
    ],
)
def test_expressions(text: str, tree: object) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize("word", ["forall", "∀", "FORALL"])
@pytest.mark.parametrize("do", ["do", ":"])
@pytest.mark.parametrize("end", ["end", "endforall"])
def test_quantified_expressions(word: str, do: str, end: str) -> None:
    assert expression(f"{word} i: T; j := 0 to N - 1 by 2 {do} a[i] = j {end}") == [
        "QuantifiedOperation",
        "forall",
        [["TypeQuantifier", "i", "T"], ["StepQuantifier", "j", 0, ["-", "N", 1], 2]],
        ["=", ["ElementAccess", "a", "i"], "j"],
    ]


def test_octal_numbers_are_warned_of() -> None:
    _, warnings = parse(Source("m.m", "const N: 010; M: 007; K: 0;"))
    assert [each.message for each in warnings] == ["'010' is read as octal: 8"]


# --- Types and declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("BOOLEAN", "boolean"),
        ("Other", "Other"),
        ("enum {}", ["EnumType", []]),
        ("enum {A, B,}", ["EnumType", ["A", "B"]]),
        ("-1 .. N + 1", ["RangeType", ["-", 1], ["+", "N", 1]]),
        ("0..1", ["RangeType", 0, 1]),
        ("scalarset(N)", ["ScalarsetType", "N"]),
        ("union {A, enum {B},}", ["UnionType", ["A", ["EnumType", ["B"]]]]),
        ("record end", ["RecordType", []]),
        ("record a, b: T c: U; endrecord", ["RecordType", [[["a", "b"], "T"], [["c"], "U"]]]),
        ("array [boolean] of array [T] of U", ["ArrayType", "boolean", ["ArrayType", "T", "U"]]),
        ("multiset [3] of T", ["MultisetType", 3, "T"]),
        ("real(4, 10)", ["RealType", 4, 10]),
        ("multiset", "multiset"),
    ],
)
def test_types(text: str, tree: object) -> None:
    assert declared_type(text) == tree


def test_sections_need_no_semicolons_and_come_in_any_order() -> None:
    text = "var x, y: T z: 0..3 const N: 1; M: N type T: boolean;; rule begin end var w: T function f(): T; end"
    assert show(model(text).items) == [
        ["VarDeclaration", ["x", "y"], "T"],
        ["VarDeclaration", ["z"], ["RangeType", 0, 3]],
        ["ConstDeclaration", ["N"], 1],
        ["ConstDeclaration", ["M"], "N"],
        ["TypeDeclaration", ["T"], "boolean"],
        ["RuleSyntax", "", None, None, [], []],
        ["VarDeclaration", ["w"], "T"],
        ["FunctionDeclaration", "f", [], "T", [], []],
    ]


@pytest.mark.parametrize("text", ["", "   ", ";;", "-- nothing\n", "/* nothing", "var", "const type var"])
def test_empty_models(text: str) -> None:
    assert model(text).items == []


# --- Functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "function f(var a, b: T; c: U): V; var d: T; begin d := a; return d; end;",
        "function f(var a, b: T c: U) : V var d: T begin d := a; return d endfunction",
        "procedure f(var a, b: T; c: U;): V; var d: T; d := a; return d; endprocedure;",
    ],
)
def test_functions(text: str) -> None:
    assert show(model(text).items) == [
        [
            "FunctionDeclaration",
            "f",
            [["FormalSyntax", True, ["a", "b"], "T"], ["FormalSyntax", False, ["c"], "U"]],
            "V",
            [["VarDeclaration", ["d"], "T"]],
            [["AssignStatement", "d", "a"], ["ReturnStatement", "d"]],
        ]
    ]


def test_a_function_without_type_is_a_procedure() -> None:
    (item,) = model("function f(); begin end").items
    assert isinstance(item, syntax.FunctionDeclaration)
    assert item.result is None


# --- Statements --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", []),
        (";;", []),
        ("a.b[1] := c;; d ≔ 2", [["AssignStatement", show_target, value] for show_target, value in (
            (["ElementAccess", ["FieldAccess", "a", "b"], 1], "c"), ("d", 2))]),
        ("x := UNDEFINED;", [["AssignStatement", "x", "undefined"]]),
        ("p(x, 1);", [["CallStatement", ["CallOperation", "p", ["x", 1]]]]),
        ("clear a[1]; undefine b.c", [
            ["ClearStatement", ["ElementAccess", "a", 1]],
            ["UndefineStatement", ["FieldAccess", "b", "c"]],
        ]),
        ('error "no"; put "yes"; put x + 1; return; return x;', [
            ["ErrorStatement", "no"],
            ["PutStatement", "yes"],
            ["PutStatement", ["+", "x", 1]],
            ["ReturnStatement", None],
            ["ReturnStatement", "x"],
        ]),
        ("if a then elsif b then x := 1 else x := 2; end;", [
            ["IfStatement", [["a", []], ["b", [["AssignStatement", "x", 1]]]], [["AssignStatement", "x", 2]]]
        ]),
        ("if a then else endif", [["IfStatement", [["a", []]], []]]),
        ("switch x case 1, 2: y := 1; case A,: else p() endswitch;", [
            [
                "SwitchStatement",
                "x",
                [[[1, 2], [["AssignStatement", "y", 1]]], [["A"], []]],
                [["CallStatement", ["CallOperation", "p", []]]],
            ]
        ]),
        ("for i: 0..2 : p(i) end; while a : end; alias do end", [
            ["ForStatement", [["TypeQuantifier", "i", ["RangeType", 0, 2]]],
             [["CallStatement", ["CallOperation", "p", ["i"]]]]],
            ["WhileStatement", "a", []],
            ["AliasStatement", [], []],
        ]),
        ("alias a: x[1]; b, c: y do a := b endalias", [
            [
                "AliasStatement",
                [["AliasBinding", "a", ["ElementAccess", "x", 1]], ["AliasBinding", "b", "y"],
                 ["AliasBinding", "c", "y"]],
                [["AssignStatement", "a", "b"]],
            ]
        ]),
        ('assert x "m"; assert "m" x; invariant x; assume (x); cover !x "c"; liveness x', [
            ["PropertyStatement", "assert", "x", "m"],
            ["PropertyStatement", "assert", "x", "m"],
            ["PropertyStatement", "assert", "x", ""],
            ["PropertyStatement", "assume", "x", ""],
            ["PropertyStatement", "cover", ["!", "x"], "c"],
            ["PropertyStatement", "liveness", "x", ""],
        ]),
        ("MultisetAdd(x, m); multisetremove(i, a.m); multisetremovepred(i: m, m[i] = 1)", [
            ["MultisetAddStatement", "x", "m"],
            ["MultisetRemoveStatement", "i", ["FieldAccess", "a", "m"]],
            ["MultisetRemovePredStatement", "i", "m", ["=", ["ElementAccess", "m", "i"], 1]],
        ]),
    ],
)  # fmt: skip
def test_statements(text: str, tree: object) -> None:
    assert body(text) == tree


def test_words_of_one_tool_can_be_names_of_the_model() -> None:
    text = """
    const until: 1; type multiset: 0..until;
    var assume, cover: multiset; log: array [multiset] of boolean; choose: boolean; Undefined: boolean;
    procedure liveness(x: boolean); begin end;
    function multisetcount(x: boolean): boolean; begin return x end;
    rule cover = 1 & log[assume] ==> assume := cover; liveness(choose); choose := Undefined & multisetcount(choose);
    end
    """
    rule = model(text).items[-1]
    assert isinstance(rule, syntax.RuleSyntax)
    assert show(rule.guard) == ["&", ["=", "cover", 1], ["ElementAccess", "log", "assume"]]
    assert [show(each) for each in rule.body] == [
        ["AssignStatement", "assume", "cover"],
        ["CallStatement", ["CallOperation", "liveness", ["choose"]]],
        ["AssignStatement", "choose", ["&", "Undefined", ["CallOperation", "multisetcount", ["choose"]]]],
    ]


# --- Rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "priority", "guard", "count"),
    [
        ("rule begin end", "", None, None, 0),
        ('rule "n" begin x := 1 end', "n", None, None, 1),
        ('rule "n" x ==> y := 1; end', "n", None, "x", 1),
        ("rule x ==> begin y := 1; endrule", "", None, "x", 1),
        ("rule x ⇒ var z: T; begin y := 1; z := 1; end", "", None, "x", 2),
        ('rule 20 "n" x ==> begin end', "n", 20, "x", 0),
        ('rule -5 "n" begin end', "n", ["-", 5], None, 0),
        ('rule N + 1 "n" begin end', "n", ["+", "N", 1], None, 0),
        ("rule 20 x ==> end", "", 20, "x", 0),
        ("rule 20 begin end", "", 20, None, 0),
        ("rule 1 = x ==> end", "", None, ["=", 1, "x"], 0),
        ("rule if x then end end", "", None, None, 1),
        ("rule assume x; y := 1 end", "", None, None, 2),
        ("rule end", "", None, None, 0),
    ],
)
def test_rules(text: str, name: str, priority: object, guard: object, count: int) -> None:
    (rule,) = model(text).items
    assert isinstance(rule, syntax.RuleSyntax)
    assert (rule.name, show(rule.priority), show(rule.guard), len(rule.body)) == (name, priority, guard, count)


def test_rule_blocks_properties_and_startstates() -> None:
    text = """
    ruleset i: T; j: U do
      alias a: x[i] do
        choose k: m do rule a ==> end endchoose
        startstate "s" var v: T; begin x := v end endalias;
      invariant "i" a; assert b "j" assume c; cover "k" d;; liveness !e
    endruleset;
    startstate clear x endstartstate
    """
    items = model(text).items
    assert [type(each).__name__ for each in items] == ["RuleSet", "StartStateSyntax"]
    ruleset = items[0]
    assert isinstance(ruleset, syntax.RuleSet)
    alias, *properties = ruleset.rules
    assert isinstance(alias, syntax.AliasRule)
    assert [type(each).__name__ for each in alias.rules] == ["ChooseRule", "StartStateSyntax"]
    assert [show(each) for each in properties] == [
        ["PropertySyntax", "invariant", "i", "a"],
        ["PropertySyntax", "invariant", "j", "b"],
        ["PropertySyntax", "assume", "", "c"],
        ["PropertySyntax", "cover", "k", "d"],
        ["PropertySyntax", "liveness", "", ["!", "e"]],
    ]


# --- Spans -------------------------------------------------------------------------------------------------

SPANNED = """
const N: 3; type T: record a: 0..N; end; var x: T
function f(var p: T): boolean; begin return (p.a + 1) * 2 = N; end;
ruleset i: 0..N do rule 5 "n" !(x.a = i) ==> if f(x) then x.a := -i elsif true then p() end; end; end;
invariant forall j: T do j = (a ? b : c) end;
"""


def nodes(value: object) -> Iterator[syntax.Node]:
    if isinstance(value, syntax.Node):
        yield value
        for each in dataclasses.fields(value):
            yield from nodes(getattr(value, each.name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from nodes(each)


def test_every_span_covers_its_children_and_nothing_around_it() -> None:
    for node in nodes(model(SPANNED).items):
        text = node.span.text
        assert text == text.strip(" ;\n") != ""
        for child in dataclasses.fields(node):
            for inner in nodes(getattr(node, child.name)):
                assert node.span.start <= inner.span.start <= inner.span.end <= node.span.end


def test_spans_of_nodes() -> None:
    found = {(type(node).__name__, node.span.text) for node in nodes(model(SPANNED).items)}
    assert {
        ("BinaryOperation", "(p.a + 1) * 2 = N"),
        ("BinaryOperation", "(p.a + 1) * 2"),
        ("BinaryOperation", "p.a + 1"),
        ("UnaryOperation", "!(x.a = i)"),
        ("RecordType", "record a: 0..N; end"),
        ("ConstDeclaration", "N: 3"),
        ("FormalSyntax", "var p: T"),
        ("FunctionDeclaration", "function f(var p: T): boolean; begin return (p.a + 1) * 2 = N; end"),
        ("IfStatement", "if f(x) then x.a := -i elsif true then p() end"),
        ("PropertySyntax", "invariant forall j: T do j = (a ? b : c) end"),
    } <= found


def test_the_operator_has_a_span() -> None:
    (operation,) = (node for node in nodes(model("const N: a ≥ b;")) if isinstance(node, syntax.BinaryOperation))
    assert (operation.operator, operation.operator_span.text) == (">=", "≥")


# --- Size ------------------------------------------------------------------------------------------------


def test_nesting_of_a_hundred_levels_is_fine() -> None:
    assert expression("(" * 100 + "x" + ")" * 100) == "x"
    assert len(body("if x then " * 100 + "end " * 100)) == 1


def test_a_chain_of_hundreds_of_operators_is_fine() -> None:
    assert expression(" & ".join("x" * 399)) != []


# --- Whole models ------------------------------------------------------------------------------------------


def test_all_models_of_the_collection_parse(shared: Path) -> None:
    files = sorted((shared / "models" / "murphi").rglob("*.m"))
    assert files
    for file in files:
        parse(Source(file.name, file.read_text(encoding="utf-8", errors="replace")))
