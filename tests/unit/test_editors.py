"""The files of editors: their words are those of the front-ends, and Vim, Emacs and Pygments accept them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from outcrop.lang import editor_services
from outcrop.lang.lexers import DveLexer, MurphiLexer, PromelaLexer
from outcrop.lang.registry import LANGUAGES

ROOT = Path(__file__).parents[2]
EDITORS = ROOT / "editors"
LEXERS = {"murphi": MurphiLexer, "dve": DveLexer, "promela": PromelaLexer}


def test_generated_files_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(EDITORS / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_extension_knows_every_language_and_suffix() -> None:
    package = json.loads((EDITORS / "vscode/package.json").read_text(encoding="utf-8"))
    known = {each["id"]: each["extensions"] for each in package["contributes"]["languages"]}
    ours = {}
    for each in LANGUAGES:
        services = editor_services(f"model{each.suffixes[0]}")
        if services is not None and services.highlighting is not None:
            ours[services.identifier] = list(each.suffixes)
    assert known == ours
    vim = (EDITORS / "vim/ftdetect/outcrop.vim").read_text(encoding="utf-8")
    emacs = (EDITORS / "emacs/outcrop.el").read_text(encoding="utf-8")
    for suffix in ours["promela"]:
        assert f"*{suffix}," in vim or f"*{suffix} " in vim
        modes = emacs.rpartition("auto-mode-alist")[2].replace("\\\\(", "|").replace("\\\\)", "|")
        assert suffix == ".pm" or suffix[1:] in re.split(r"[|\\]+", modes)
    scopes = {each["language"]: each["scopeName"] for each in package["contributes"]["grammars"]}
    assert scopes == {name: f"source.{name}" for name in ours}


def test_the_lock_file_names_no_host() -> None:
    assert "://" not in "".join(
        line for line in (EDITORS / "vscode/package-lock.json").read_text().splitlines() if '"resolved"' in line
    )


def tokens(language: str, text: str) -> dict[str, _TokenType]:
    return {piece: token for token, piece in LEXERS[language]().get_tokens(text)}


def test_pygments_colours_murphi() -> None:
    found = tokens("murphi", 'RULE "r" isundefined(x) ==> y := 0x1F; END; -- remark\n/* two\nlines */ boolean true')
    assert (found["RULE"], found["END"], found["boolean"]) == (Keyword, Keyword, Keyword.Type)
    assert (found["isundefined"], found["x"], found["0x1F"]) == (Name.Builtin, Name, Number)
    assert (found['"r"'], found["-- remark"]) == (String.Double, Comment.Single)
    assert (found["/* two\nlines */"], found["true"]) == (Comment.Multiline, Keyword.Constant)


def test_pygments_colours_dve_and_promela() -> None:
    found = tokens("dve", "process P { byte x; } // remark")
    assert (found["process"], found["byte"], found["// remark"]) == (Keyword, Keyword.Type, Comment.Single)
    found = tokens("promela", "#define N 2\nactive proctype P() { byte x; x = len(q) }")
    assert (found["#define N 2"], found["proctype"], found["len"]) == (Comment.Preproc, Keyword, Name.Builtin)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.[md]*")), ids=lambda path: path.name)
def test_pygments_keeps_every_character(path: Path) -> None:
    language = {".m": "murphi", ".dve": "dve"}.get(path.suffix)
    if language is not None:
        text = path.read_text(encoding="utf-8")
        assert "".join(piece for _, piece in LEXERS[language]().get_tokens(text)) == text


@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim")
@pytest.mark.parametrize(
    ("name", "text", "keyword"),
    [
        ("model.m", "Ruleset\n-- remark", "murphiKeyword"),
        ("model.dve", "process\n// remark", "dveKeyword"),
        ("model.pml", "proctype\n// remark", "promelaKeyword"),
    ],
)
def test_vim_colours(name: str, text: str, keyword: str, tmp_path: Path) -> None:
    model, out = tmp_path / name, tmp_path / "out"
    model.write_text(text + "\n")
    asked = "[&filetype, synIDattr(synID(1, 1, 1), 'name'), synIDattr(synID(2, 1, 1), 'name'), &makeprg]"
    commands = [
        f"set runtimepath^={EDITORS / 'vim'}",
        "let g:filetype_m = 'murphi'",
        "filetype plugin on",
        "syntax on",
        f"edit {model}",
        f"call writefile({asked}, '{out}')",
        "quitall!",
    ]
    words = [word for each in commands for word in ("-c", each)]
    subprocess.run(["vim", "-Nu", "NONE", "-es", *words], timeout=30, check=False, stdin=subprocess.DEVNULL)
    language = keyword.removesuffix("Keyword")
    found = out.read_text().splitlines()
    assert found[:3] == [language, keyword, f"{language}Comment"]
    assert found[3].startswith("outcrop check")


@pytest.mark.skipif(shutil.which("emacs") is None, reason="no emacs")
def test_emacs_compiles_and_colours(tmp_path: Path) -> None:
    for path in (EDITORS / "emacs").glob("*.el"):
        shutil.copy(path, tmp_path)
    model = tmp_path / "model.dve"
    model.write_text("process P {} // remark\n")
    faces = "(get-text-property 1 'face) (get-text-property 15 'face)"
    asked = f'(with-current-buffer (find-file-noselect "{model}") (font-lock-ensure) (princ (list major-mode {faces})))'
    compiling = ["-L", str(tmp_path), "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile"]
    files = [str(tmp_path / "outcrop-words.el"), str(tmp_path / "outcrop.el")]
    done = subprocess.run(["emacs", "--batch", "-Q", *compiling, *files], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    showing = ["-L", str(tmp_path), "-l", "outcrop", "--eval", asked]
    done = subprocess.run(["emacs", "--batch", "-Q", *showing], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(outcrop-dve-mode font-lock-keyword-face font-lock-comment-delimiter-face)", done.stderr
