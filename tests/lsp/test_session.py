"""Sessions of a real client with ``outcrop lsp`` over stdio."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

sys.path.insert(0, str(Path(__file__).parent))
from client import Client, Document

MODEL = """\
-- A small protocol.
const
  N: 3;
  Most: N * 2 - 1;
type
  Node: scalarset(N);
  Phase: enum { Idle, Busy, Gone };
  Cell: record phase: Phase; count: 0 .. Most; end;
var
  cell: array [Node] of Cell;
  total: 0 .. Most;

function free(n: Node; limit: 0 .. Most): boolean;
begin
  return cell[n].phase = Idle & cell[n].count < limit;
end;

startstate "begin"
begin
  for n: Node do
    cell[n].phase := Idle;
    cell[n].count := 0;
  end;
  total := 0;
end;

ruleset n: Node do
  rule "take"
    free(n, Most) & total < N
  ==>
    cell[n].phase := Busy;
    total := total + 1;
  end;

  rule "give"
    cell[n].phase = Busy
  ==>
    cell[n].phase := Idle;
    total := total - 1;
  end;

  rule "vanish"
    total = 0 & cell[n].phase = Busy
  ==>
    cell[n].phase := Gone;
  end;
end;

invariant "not too many"
  total <= N;
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client("--stdio", "--time-limit", "20s") as made:
        yield made


@pytest.fixture
def model(client: Client, tmp_path: Path) -> Document:
    document = Document(client, tmp_path / "model.m", MODEL)
    assert client.diagnostics(1) == []
    return document


def labels(items: list[dict[str, Any]]) -> list[str]:
    return [each["label"] for each in items]


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(position: dict[str, int]) -> int:
        return starts[min(position["line"], len(lines))] + position["character"]

    for edit in sorted(edits, key=lambda each: offset(each["range"]["start"]), reverse=True):
        start, end = (offset(edit["range"][each]) for each in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text


def test_capabilities(client: Client) -> None:
    for each in ("hover", "definition", "references", "rename", "documentSymbol", "completion", "signatureHelp"):
        assert client.capabilities[f"{each}Provider"], each
    for each in ("documentFormatting", "inlayHint", "codeLens", "semanticTokens", "codeAction"):
        assert client.capabilities[f"{each}Provider"], each
    assert set(client.capabilities["executeCommandProvider"]["commands"]) == {
        "outcrop.check",
        "outcrop.simulate",
        "outcrop.why",
    }


def test_mistakes_are_told_while_typing(model: Document) -> None:
    found = model.change(MODEL.replace("total := 0;", "total := ;").replace("total <= N;", "totl <= ;"))
    assert [each["severity"] for each in found] == [1, 1]  # the parser continues after the first one
    assert [each["range"]["start"]["line"] for each in found] == [23, 49]
    found = model.change(MODEL.replace("total <= N;", "totl <= N;"))
    assert len(found) == 1 and "total" in found[0]["message"]
    start, end = found[0]["range"]["start"], found[0]["range"]["end"]
    assert (start, end["character"] - start["character"]) == (model.position("totl"), 4)
    assert model.change(MODEL) == []


def test_hover_shows_type_value_and_place(model: Document) -> None:
    shown = model.ask("hover", "Most", which=1)["contents"]["value"]
    assert "5" in shown and "N * 2 - 1" in shown and "line 4" in shown
    shown = model.ask("hover", "total < N")["contents"]["value"]
    assert "0..5" in shown and "3 bits" in shown
    assert "phase" in model.ask("hover", "phase = Busy")["contents"]["value"]
    assert "boolean" in model.ask("hover", "free(n, Most)")["contents"]["value"]
    assert model.ask("hover", "small protocol") is None


def test_definition_and_references(model: Document) -> None:
    place = model.ask("definition", "phase = Busy")
    assert place["range"]["start"] == model.position("phase: Phase")
    place = model.ask("definition", "n].phase = Busy", which=1)
    assert place["range"]["start"] == model.position("n: Node do", which=1)
    found = model.ask("references", "total", context={"includeDeclaration": True})
    assert len(found) == MODEL.count("total")
    found = model.ask("references", "total", context={"includeDeclaration": False})
    assert len(found) == MODEL.count("total") - 1


def test_rename(model: Document) -> None:
    edits = model.ask("rename", "phase = Idle", newName="stage")["changes"][model.uri]
    renamed = applied(MODEL, edits)
    assert renamed == MODEL.replace("phase", "stage")
    assert model.change(renamed) == []
    for wrong in ("rule", "a b", "total"):
        parameters = {"textDocument": {"uri": model.uri}, "position": model.position("cell"), "newName": wrong}
        assert "error" in model.client.answer(model.client.request("textDocument/rename", parameters))


def test_outline(model: Document) -> None:
    found = model.ask("documentSymbol")
    names = [each["name"] for each in found]
    assert names == [
        *("N", "Most", "Node", "Phase", "Cell", "cell", "total", "free", "begin"),
        *("take", "give", "vanish", "not too many"),
    ]
    children = {each["name"]: [child["name"] for child in each["children"]] for each in found}
    assert children["Phase"] == ["Idle", "Busy", "Gone"]
    assert children["Cell"] == ["phase", "count"]


def test_completion(model: Document) -> None:
    inside = labels(model.ask("completion", "total < N"))
    assert {"n", "cell", "total", "Most", "free", "endrule", "forall"} <= set(inside)
    assert "limit" not in inside
    model.change(MODEL.replace("total := total + 1;", "cell[n]."))
    assert labels(model.ask("completion", "cell[n].\n", len("cell[n]."))) == ["phase", "count"]
    model.change(MODEL.replace("total := total + 1;", "total := cell[n].co"))
    assert labels(model.ask("completion", "cell[n].co\n", len("cell[n].co"))) == ["phase", "count"]


def test_signature_help(model: Document) -> None:
    shown = model.ask("signatureHelp", "Most) &")
    assert shown["activeParameter"] == 1
    assert shown["signatures"][0]["label"] == "free(n: Node; limit: 0 .. Most): boolean"
    assert model.ask("signatureHelp", "total = 0") is None


def test_formatting(model: Document) -> None:
    assert model.ask("formatting", options={"tabSize": 2, "insertSpaces": True}) == []
    model.change(MODEL.replace("    total := total", "  total:=total"))
    edits = model.ask("formatting", options={"tabSize": 2, "insertSpaces": True})
    assert applied(model.text, edits) == MODEL
    model.change("var x: ;")
    assert model.ask("formatting", options={"tabSize": 2, "insertSpaces": True}) is None


def test_inlay_hints(model: Document) -> None:
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    found = {(each["position"]["line"], each["label"].strip()) for each in model.ask("inlayHint", range=everything)}
    assert found == {(3, "= 5"), (10, "= 0..5")}


def test_semantic_tokens(model: Document, client: Client) -> None:
    data = model.ask("semanticTokens/full")["data"]
    kinds = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    lines, line, column, found = MODEL.splitlines(), 0, 0, set()
    for down, right, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        found.add((lines[line][column : column + length], kinds[kind]))
    assert {("phase", "property"), ("Cell", "type"), ("Busy", "enumMember"), ("free", "function")} <= found
    assert {("n", "parameter"), ("limit", "parameter"), ("total", "variable"), ("Most", "variable")} <= found


def test_a_check_answers_lenses_and_problems(model: Document, client: Client) -> None:
    def titles() -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for each in model.ask("codeLens"):
            found.setdefault(each["range"]["start"]["line"], []).append(each["command"]["title"])
        return found

    assert titles() == {0: ["check", "simulate"]}
    result = client.ask("workspace/executeCommand", {"command": "outcrop.check", "arguments": [model.uri]})
    assert (result["verdict"], result["result"]["symmetry"]["used"]) == ("holds", True)
    never = model.position('rule "vanish"')["line"]
    assert [(each["range"]["start"]["line"], each["severity"]) for each in client.diagnostics(1)] == [(never, 3)]
    after = titles()
    assert any("never" in each for each in after[never])
    assert after[model.position("invariant")["line"]] == ["holds"]
    model.change(MODEL + "\n")
    assert titles() == {0: ["check", "simulate"]}  # counts of another text are not shown


def test_a_violation_is_a_problem(model: Document, client: Client) -> None:
    model.change(MODEL.replace("total <= N;", "total < N;"))
    arguments = [model.uri, "", True]
    result = client.ask("workspace/executeCommand", {"command": "outcrop.check", "arguments": arguments})
    assert (result["verdict"], result["kind"]) == ("violated", "invariant")
    assert "<html" in Path(result["report"]).read_text(encoding="utf-8")
    found = client.diagnostics(2)
    assert [(each["range"]["start"]["line"], each["severity"]) for each in found] == [
        (model.position("invariant")["line"], 1)
    ]
    # A search that stopped at a violation cannot say "never", but the question has a search of its own.
    line = model.position('rule "vanish"')["line"]
    (lens,) = [each["command"] for each in model.ask("codeLens") if each["range"]["start"]["line"] == line]
    assert "search stopped" in lens["title"] and "never fired" not in lens["title"]
    answer = client.ask("workspace/executeCommand", {k: lens[k] for k in ("command", "arguments")})
    assert (answer["enabled"], answer["complete"], answer["states"]) == (False, True, 4)


def test_why_a_rule_is_never_enabled(model: Document, client: Client) -> None:
    line = model.position('rule "vanish"')["line"]
    here = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 4}}
    (action,) = model.ask("codeAction", range=here, context={"diagnostics": []})
    command = action["command"]
    result = client.ask("workspace/executeCommand", {k: command[k] for k in ("command", "arguments")})
    assert (result["rule"], result["enabled"], result["complete"]) == ("vanish", False, True)
    assert [(each["met"], each["joined"]) for each in result["conditions"]] == [(True, True), (True, False)]
    assert result["conditions"][1]["text"] == "cell[n].phase = Busy"


def test_simulation(model: Document, client: Client) -> None:
    model.change(MODEL.replace("total <= N;", "total < N;"))
    result = client.ask("workspace/executeCommand", {"command": "outcrop.simulate", "arguments": [model.uri]})
    assert result["verdict"] == "violated"


def test_a_cancelled_check_ends(model: Document, client: Client) -> None:
    parameters = {"command": "outcrop.check", "arguments": [model.uri]}
    number = client.request("workspace/executeCommand", parameters)
    client.tell("$/cancelRequest", {"id": number})
    assert "error" in client.answer(number)
    assert model.ask("hover", "total") is not None


def test_positions_outside_ascii(client: Client, tmp_path: Path) -> None:
    text = (
        "var x: 0..1; /* 😀é */ y: 0..1;\nstartstate begin x := 0; y := 0; end; rule y = 0 & x = 0 ==> y := 1; end;\n"
    )
    document = Document(client, tmp_path / "letters.m", text)
    assert client.diagnostics(1) == []
    position = {"line": 1, "character": text.splitlines()[1].index("y")}
    place = client.ask("textDocument/definition", {"textDocument": {"uri": document.uri}, "position": position})
    units = len(text[: text.index("y:")].encode("utf-16-le")) // 2
    assert place["range"]["start"] == {"line": 0, "character": units}


def test_a_text_of_no_language_gets_no_answers(client: Client, tmp_path: Path) -> None:
    document = Document(client, tmp_path / "notes.txt", "hello")
    assert client.diagnostics(1) == []
    assert document.ask("hover", "hello") is None


def test_shutdown_ends_the_process(tmp_path: Path) -> None:
    with Client() as client:
        Document(client, tmp_path / "model.m", MODEL)
        assert client.ask("shutdown", None) is None
        client.tell("exit", None)
        assert client.process.wait(timeout=20) == 0
