"""Every feature of the language server in every language: where it answers, and where it leaves the text to others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

sys.path.insert(0, str(Path(__file__).parent))
from client import Client, Document

#: Features that the server of the editor has for a programming language.
_LEFT_TO_OTHERS = {"hover", "definition", "references", "prepareRename", "documentSymbol", "completion", "formatting"}


@dataclass(frozen=True)
class Sample:
    """A model in which one rule is never enabled. ``name`` occurs ``uses`` times; ``never``: a text in that rule."""

    suffix: str
    text: str
    name: str
    uses: int
    known: frozenset[str]  #: names that completion offers at ``name``
    never: str
    call: str = ""  #: a text after the parenthesis of a call
    part: str = ""  #: the model in the text
    unanswered: frozenset[str] = frozenset()


MURPHI = Sample(
    "m",
    """\
const N: 1 + 2;
var x: 0 .. N;
function next(v: 0 .. N): 0 .. N; begin return (v + 1) % N; end;
startstate begin x := 0; end;
rule "go" true ==> x := next(x); end;
rule "never" x = N ==> x := 0; end;
""",
    "x: 0",
    6,
    frozenset(("N", "next")),
    'rule "never"',
    "x); end;",
)
DVE = Sample(
    "dve",
    """\
const int N = 1 + 2;
byte x = 0;
process A {
  state here, there;
  init here;
  trans
    here -> here { guard x < N; effect x = (x + 1) % N; },
    here -> there { guard x == N; };
}
process B { state only; init only; }
system async;
""",
    "x < N",
    5,
    frozenset(("N", "A", "B", "here", "there")),
    "here -> there",
    unanswered=frozenset(("signatureHelp",)),  # DVE has no calls
)
PROMELA = Sample(
    "pml",
    """\
#define N (1 + 2)
byte x;
inline next(v) { v = (v + 1) % N }
active proctype A() {
  do
  :: atomic { x < N -> next(x) }
  :: x == N -> x = 0
  od
}
""",
    "x < N",
    5,
    frozenset(("N", "A", "next")),
    ":: x == N",
    "x) }",
)
PYTHON = Sample(
    "py",
    """\
from outcrop.model import Model, Range, rule, when

class Counter(Model):
    x: Range[0, 3] = 0

    @rule
    def go(self) -> None:
        when(self.x < 3)
        self.x = (self.x + 1) % 3

    @rule
    def never(self) -> None:
        when(self.x == 3)
        self.x = 0
""",
    "x = 0",
    0,
    frozenset(),
    "def never",
    part="Counter",
    unanswered=frozenset((*_LEFT_TO_OTHERS, "signatureHelp", "inlayHint")),
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client("--stdio", "--time-limit", "20s") as made:
        yield made


@pytest.mark.parametrize("sample", [MURPHI, DVE, PROMELA, PYTHON], ids=lambda each: each.suffix)
def test_features(sample: Sample, client: Client, tmp_path: Path) -> None:
    path = tmp_path / f"model.{sample.suffix}"
    path.write_text(sample.text)
    document = Document(client, path, sample.text)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    found: dict[str, Any] = {
        each: document.ask(each, sample.name) for each in ("hover", "definition", "prepareRename", "completion")
    }
    found["references"] = document.ask("references", sample.name, context={"includeDeclaration": True})
    found["documentSymbol"] = document.ask("documentSymbol")
    found["signatureHelp"] = document.ask("signatureHelp", sample.call or sample.name)
    found["inlayHint"] = document.ask("inlayHint", range=everything)
    untidy = document.text + "\n\n\n"
    document.change(untidy)
    found["formatting"] = document.ask("formatting", options={"tabSize": 2, "insertSpaces": True})
    assert {each for each, answer in found.items() if not answer} == sample.unanswered
    assert document.ask("semanticTokens/full")["data"]
    assert len(found["references"]) == sample.uses
    assert sample.known <= {each["label"] for each in found["completion"]}
    assert [each["label"].strip() for each in found["inlayHint"]][:1] == ["= 3"] * bool(sample.known)


@pytest.mark.parametrize("sample", [MURPHI, DVE, PROMELA, PYTHON], ids=lambda each: each.suffix)
def test_checks(sample: Sample, client: Client, tmp_path: Path) -> None:
    path = tmp_path / f"checked.{sample.suffix}"
    path.write_text(sample.text)
    document = Document(client, path, sample.text)
    arguments = [document.uri, sample.part]
    result = client.ask("workspace/executeCommand", {"command": "outcrop.check", "arguments": arguments})
    assert (result["verdict"], result["result"]["states"]) == ("holds", 3)
    lenses = [each["command"] for each in document.ask("codeLens") if each["command"]["command"] == "outcrop.why"]
    assert len(lenses) == 1
    asked = client.ask("workspace/executeCommand", {k: lenses[0][k] for k in ("command", "arguments")})
    assert (asked["enabled"], asked["complete"]) == (False, True)
    (line,) = [each["range"]["start"]["line"] for each in document.ask("codeLens") if each["command"] == lenses[0]]
    assert abs(line - document.position(sample.never)["line"]) <= 1  # Python: at the decorator
