"""The services of each language: names and their declarations, on texts with and without mistakes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from outcrop.lang import editor_services
from outcrop.lang.editing import Index, Kind
from outcrop.lang.registry import LANGUAGES
from outcrop.source import Source

sys.path.insert(0, str(Path(__file__).parent))
from client import Client, Document

ROOT = Path(__file__).parents[2]
SUFFIXES = {suffix for each in LANGUAGES for suffix in each.suffixes}
MODELS = [
    path
    for folder in ("examples", "tests/models")
    for path in sorted((ROOT / folder).iterdir())
    if path.suffix in SUFFIXES - {".py"}
]


def index_of(name: str, text: str) -> Index:
    services = editor_services(name)
    assert services is not None and services.index is not None
    return services.index(Source(name, text))


def declared_at(known: Index, part: str, offset: int = 0) -> tuple[str, str, int] | None:
    """Returns the name, kind and line of the declaration of the name at a part of the text."""
    use = known.at(known.source.text.index(part) + offset)
    return None if use is None else (use.declaration.name, use.declaration.kind, use.declaration.span.line)


DVE = """\
const int N = 2;
byte flag[N];
channel {byte} link[1];
process A {
  byte x = 1;
  state idle, busy;
  init idle;
  assert busy: x > 0;
  trans
    idle -> busy { guard flag[0] == N and B.idle and B->y > 1; sync link!x; effect x = x + 1; };
}
process B {
  byte y;
  state idle;
  init idle;
  trans idle -> idle { sync link?y; };
}
system async;
"""


def test_names_of_dve() -> None:
    known = index_of("model.dve", DVE)
    assert declared_at(known, "N and") == ("N", Kind.CONSTANT, 1)
    assert declared_at(known, "busy { guard") == ("busy", Kind.STATE, 6)
    assert declared_at(known, "idle and") == ("idle", Kind.STATE, 14)
    assert declared_at(known, "y > 1") == ("y", Kind.VARIABLE, 13)
    assert declared_at(known, "link!x") == ("link", Kind.CHANNEL, 3)
    assert declared_at(known, "x > 0") == ("x", Kind.VARIABLE, 5)
    services = editor_services("model.dve")
    assert services is not None and services.members is not None
    names = [each.name for each in services.members(known, DVE.index("B.idle") + 2)]
    assert names == ["idle"]


PROMELA = """\
#define N 2
#define BUSY(p) (state[p] == working)
mtype = { resting, working };
typedef Slot { byte owner; bit used };
Slot slot[N];
mtype state[N];
chan link = [1] of { byte };
inline take(who) { slot[0].owner = who }
proctype Worker(byte id) {
  byte turns;
again:
  if
  :: state[id] == resting -> take(id); link!turns; goto again
  :: BUSY(id) -> slot[id].used = 1
  fi
}
init { run Worker(0) }
ltl ever { <> (state[0] == working) }
"""


def test_names_of_promela() -> None:
    known = index_of("model.pml", PROMELA)
    assert declared_at(known, "working)\n") == ("working", Kind.MEMBER, 3)
    assert declared_at(known, "resting ->") == ("resting", Kind.MEMBER, 3)
    assert declared_at(known, "N];") == ("N", Kind.MACRO, 1)
    assert declared_at(known, "BUSY(id)") == ("BUSY", Kind.MACRO, 2)
    assert declared_at(known, "owner = who") == ("owner", Kind.FIELD, 4)
    assert declared_at(known, "id] == resting") == ("id", Kind.PARAMETER, 9)
    assert declared_at(known, "link!turns") == ("link", Kind.CHANNEL, 7)
    assert declared_at(known, "again\n  ::") == ("again", Kind.LABEL, 11)
    assert declared_at(known, "Worker(0)") == ("Worker", Kind.PROCESS, 9)
    assert declared_at(known, "take(id)") == ("take", Kind.FUNCTION, 8)
    services = editor_services("model.pml")
    assert services is not None and services.members is not None
    at = PROMELA.index("slot[id].used") + len("slot[id].")
    assert [each.name for each in services.members(known, at)] == ["owner", "used"]


def test_values_of_macros_and_constants() -> None:
    """Macros divide as C does, and those that stand for other things than numbers have no value."""
    text = "#define A 7\n#define B (-A / 2)\n#define C (-A % 2)\n#define D x + 1\n#define E(y) 3\nbyte x[A];\n"
    found = values("model.pml", f"{text}#if B == -3\ninit {{ skip }}\n#endif\n")
    assert found == {"A": "7", "B": "-3", "C": "-1", "x": "array [0..6] of byte"}
    assert values("model.pml", text) == {"A": "7", "B": "-3", "C": "-1"}, "a model without processes is a mistake"
    assert values("model.dve", DVE)["N"] == "2"
    assert values("model.dve", DVE.replace("system async;", "")) == {}


def values(name: str, text: str) -> dict[str, str]:
    services = editor_services(name)
    assert services is not None and services.index is not None and services.facts is not None
    found = services.facts(services.index(Source(name, text)))
    return {each.name: facts.value or facts.type for each, facts in found.items()}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_every_text_has_an_index(path: Path) -> None:
    """The parts of a text have one too, wherever it is cut."""
    text = path.read_text(encoding="utf-8")[:20_000]
    known = index_of(path.name, text)
    assert known.declarations
    for each in known.uses:
        assert text[each.start : each.end] == each.declaration.name
    for cut in range(1, 6):
        index_of(path.name, text[: len(text) * cut // 6])


def test_index_of_a_model_of_others() -> None:
    place = Path(os.environ.get("OUTCROP_MODELS", "/nowhere")) / "models/murphi/sci/sci.m"
    if not place.is_file():
        pytest.skip("OUTCROP_MODELS names no directory with sci.m")
    text = place.read_text(encoding="latin-1")
    known = index_of(place.name, text)
    assert len(known.uses) > 6000
    assert all(text[each.start : each.end] == each.declaration.name for each in known.uses)


PYTHON = """\
from pathlib import Path
from outcrop.model import Model, rule, start

Path(__file__).with_name("executed").touch()

class Counter(Model):
    count: int

    @rule
    def step(self) -> None:
        self.count = self.count + 1
"""


def test_a_program_is_executed_only_when_it_is_saved(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    path, mark = tmp_path / "model.py", tmp_path / "executed"
    with Client() as client:
        path.write_text(PYTHON)
        document = Document(client, path, PYTHON, "python")
        assert client.diagnostics(1) == []
        broken = document.change(PYTHON.replace("class Counter", "clas Counter"))
        assert [each["range"]["start"]["line"] for each in broken] == [5]
        assert document.change(PYTHON) == []
        lenses = document.ask("codeLens")
        assert [(each["range"]["start"]["line"], each["command"]["title"]) for each in lenses] == [
            (5, "check"),
            (5, "simulate"),
        ]
        assert lenses[0]["command"]["arguments"] == [document.uri, "Counter"]
        assert not mark.exists()
        client.tell("textDocument/didSave", {"textDocument": {"uri": document.uri}})
        found = client.diagnostics(3)
        assert mark.exists()
        assert [each["severity"] for each in found] == [1] * len(found) and found
