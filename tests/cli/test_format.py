"""``outcrop format``: the layout is idempotent, keeps comments, and never changes the meaning of a model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from outcrop.errors import ModelError, UsageError
from outcrop.lang import arranged, load_text
from outcrop.lang.promela.lexer import tokenize
from outcrop.lang.registry import LANGUAGES
from outcrop.options import LoadOptions
from outcrop.reading import read_source
from outcrop.source import Source

ROOT = Path(__file__).parents[2]
SUFFIXES = {suffix for each in LANGUAGES if each.editing and each.name != "Python" for suffix in each.suffixes}
OURS = [path for folder in ("examples", "tests/models") for path in sorted((ROOT / folder).iterdir())]
OURS = [path for path in OURS if path.suffix in SUFFIXES]
OUTSIDE = Path(os.environ.get("OUTCROP_MODELS", "/nowhere"))
#: Largest outside model that is compared, in bytes. The few larger ones take most of the time.
MOST = 30_000


def outcrop(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outcrop", "format", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def meaning(text: str, path: Path) -> str:
    """Returns the System as a text. Positions do not count, and neither do blanks in texts that quote the model."""
    system = load_text(text, str(path), LoadOptions())[0]
    parts = (system.constants, system.variables, system.functions, system.start_states, system.rules)
    shown = repr((*parts, system.properties, system.covers, system.temporal, system.automaton))
    return re.sub(r"<[^<>]*:\d+:\d+>|\s", "", shown)


def compare(path: Path) -> None:
    text = read_source(path).text
    try:
        made = arranged(text, str(path))
    except ModelError:
        return
    assert arranged(made, str(path)) == made
    assert re.sub(r"[\s\\]", "", made) == re.sub(r"[\s\\]", "", text)
    assert not re.search(r"[ \t]+$", made, re.MULTILINE) or "\\" in made or "/*" in made
    try:
        before = meaning(text, path)
    except ModelError:
        return
    assert meaning(made, path) == before


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_layout_keeps_the_meaning(path: Path) -> None:
    compare(path)


@pytest.mark.skipif(not OUTSIDE.is_dir(), reason="OUTCROP_MODELS names no directory")
def test_layout_keeps_the_meaning_of_models_of_others() -> None:
    paths = [path for path in sorted(OUTSIDE.rglob("*.m")) if path.stat().st_size < MOST]
    assert paths
    # The models of each family are alike.
    paths += [path for path in sorted(OUTSIDE.rglob("*.1.dve")) if path.stat().st_size < MOST // 10]
    for path in paths:
        compare(path)


@pytest.mark.skipif(not OUTSIDE.is_dir(), reason="OUTCROP_MODELS names no directory")
def test_layout_keeps_the_tokens_of_promela_models_of_others() -> None:
    """Their Systems are large, and name places in programs by lines."""

    def words(text: str) -> list[tuple[str, str]]:
        return [(each.kind, each.text.rstrip()) for each in tokenize(Source("model.pml", text))]

    for path in sorted(OUTSIDE.rglob("*.pml")):
        text = read_source(path).text.replace("\r\n", "\n")
        with suppress(ModelError):
            made = arranged(text, str(path))
            assert arranged(made, str(path)) == made
            assert words(made) == words(text), path


@pytest.mark.parametrize("path", [path for path in OURS if "examples" in path.parts], ids=lambda path: path.name)
def test_examples_have_the_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert arranged(text, path.name) == text


BEFORE = """\
var x:0..3  ; -- a number
startstate
x:=0 ;
end;


rule "count" /* always */ x<3
==>
if x=-1 then
-- never
x:=2;
else
x:=x+1;end;
end
"""
AFTER = """\
var x: 0..3;  -- a number
startstate
  x := 0;
end;

rule "count" /* always */ x < 3
==>
  if x = -1 then
    -- never
    x := 2;
  else
    x := x + 1; end;
end
"""


def test_layout() -> None:
    assert arranged(BEFORE, "model.m") == AFTER


def test_blanks_stay_where_tokens_would_join() -> None:
    """Two minus signs without a blank between them begin a comment."""
    text = "var x: 0..1;\nstartstate begin x := - -1; end;\n"
    assert arranged(text, "model.m") == text


def test_parts_that_are_excluded_stay_as_they_are() -> None:
    prose = "#if 0 // notes\n   it's   prose,\n#ifdef Y\n  don't\n#else\n  won't\n#endif\n more   text   // end\n"
    text = f"byte   x;\n{prose}#else\nbyte   y;\n#endif\ninit {{\nx=1;\n#if 0\n#endif\ny  = 2\n}}\n"
    made = f"byte x;\n{prose}#else\nbyte y;\n#endif\ninit {{\n  x = 1;\n#if 0\n#endif\n  y = 2\n}}\n"
    assert arranged(text, "model.pml") == made
    assert arranged(made, "model.pml") == made
    with pytest.raises(ModelError, match="quote"):
        arranged(text.replace("#if 0 //", "#if 1 //"), "model.pml")


def test_line_ends_of_windows_and_a_byte_order_mark_stay() -> None:
    before = "\ufeff" + BEFORE.replace("\n", "\r\n")
    assert arranged(before, "model.m") == "\ufeff" + AFTER.replace("\n", "\r\n")


def test_a_language_without_a_layout_is_refused() -> None:
    with pytest.raises(UsageError, match="Python"):
        arranged("x = 1\n", "model.py")


def test_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "model.m"
    path.write_text(BEFORE)
    assert outcrop("--check", str(path)).returncode == 1
    shown = outcrop("--diff", str(path))
    assert shown.returncode == 1 and "+  x := 0;" in shown.stdout
    assert path.read_text() == BEFORE
    assert outcrop(str(path)).returncode == 0
    assert path.read_text() == AFTER
    assert outcrop("--check", str(path)).returncode == 0
    assert [each.name for each in tmp_path.iterdir()] == ["model.m"]


def test_stdin_goes_to_stdout() -> None:
    assert outcrop("-", stdin=BEFORE).stdout == AFTER
    assert outcrop("--name", "a.m", "-", stdin=BEFORE).stdout == AFTER


def test_a_file_with_mistakes_stays_and_the_others_are_written(tmp_path: Path) -> None:
    bad, good, latin = tmp_path / "bad.m", tmp_path / "good.m", tmp_path / "latin.m"
    bad.write_text("var x: ; rule")
    good.write_text(BEFORE)
    latin.write_bytes(BEFORE.replace("a number", "größer").encode("latin-1"))
    done = outcrop(str(bad), str(good), str(latin), str(tmp_path / "none.m"))
    assert done.returncode == 2
    assert "bad.m:1" in done.stderr and "none.m" in done.stderr
    assert bad.read_text() == "var x: ; rule"
    assert good.read_text() == AFTER
    assert latin.read_bytes() == AFTER.replace("a number", "größer").encode("latin-1")
