"""Writes the files of editors that hold words of the languages, from the tables of the front-ends.

    python editors/generate.py          write the files
    python editors/generate.py --check  exit code 1 if one of them is not current

Grammars of VS Code, syntax files of Vim, and the word lists of the Emacs mode. A test keeps them current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from outcrop.lang import editor_services
from outcrop.lang.editing import Editing, Highlighting
from outcrop.lang.registry import LANGUAGES, Language

HERE = Path(__file__).parent
NOTE = "Made by editors/generate.py from the tables of the front-end"


def languages() -> list[tuple[Language, Editing, Highlighting]]:
    """Returns the languages that have words to colour."""
    found = []
    for each in LANGUAGES:
        services = editor_services(f"model{each.suffixes[0]}")
        if services is not None and services.highlighting is not None:
            found.append((each, services, services.highlighting))
    return found


def groups(services: Editing, colours: Highlighting) -> dict[str, list[str]]:
    """Returns all words by group. A word is in one group only."""
    others = colours.types | colours.constants | colours.functions
    return {
        "keyword": sorted(services.keywords - others),
        "type": sorted(colours.types),
        "constant": sorted(colours.constants),
        "function": sorted(colours.functions),
    }


def _words(words: list[str]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


_SCOPES = {
    "keyword": "keyword.control",
    "type": "storage.type",
    "constant": "constant.language",
    "function": "support.function",
}


def text_mate(language: Language, services: Editing, colours: Highlighting) -> str:
    """Returns the TextMate grammar of a language."""
    name = services.identifier
    case = "(?i)" if colours.ignores_case else ""
    comment = colours.line_comment
    patterns: list[object] = [
        {"name": f"comment.block.{name}", "begin": r"/\*", "end": r"\*/"},
        {"name": f"comment.line.{name}", "match": rf"{comment}.*$"},
        {
            "name": f"string.quoted.double.{name}",
            "begin": '"',
            "end": '"|$',
            "patterns": [{"name": f"constant.character.escape.{name}", "match": r"\\."}],
        },
    ]
    if colours.has_preprocessor:
        patterns.append({"name": f"meta.preprocessor.{name}", "match": r"^\s*#\s*\w+"})
    patterns += [
        {"name": f"{_SCOPES[group]}.{name}", "match": case + _words(words)}
        for group, words in groups(services, colours).items()
        if words
    ]
    patterns += [
        {"name": f"constant.numeric.{name}", "match": colours.number},
        {"name": f"entity.name.function.{name}", "match": r"\b[A-Za-z_]\w*(?=\s*\()"},
        {"name": f"keyword.operator.{name}", "match": colours.operator},
    ]
    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "comment": NOTE,
        "name": language.name,
        "scopeName": f"source.{name}",
        "patterns": patterns,
    }
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


_VIM_GROUPS = {"keyword": "Keyword", "type": "Type", "constant": "Constant", "function": "Function"}


def vim(language: Language, services: Editing, colours: Highlighting) -> str:
    """Returns the Vim syntax file of a language."""
    name = services.identifier
    lines = [
        f'" Vim syntax file of {language.name}.',
        f'" {NOTE}.',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        f"syntax case {'ignore' if colours.ignores_case else 'match'}",
    ]
    for group, words in groups(services, colours).items():
        lines += [f"syntax keyword {name}{group.title()} {word}" for word in words]
    comment = colours.line_comment
    lines += [
        rf"syntax match {name}Number /\v<(0[xX]\x+|\d+(\.\d+([eE][-+]?\d+)?)?)>/",
        rf"syntax match {name}Operator /\v\=\=\>|:\=|-\>|\.\.|[-+*\/%<>=!&|^~?]/",
        rf'syntax region {name}String start=/"/ skip=/\\./ end=/"\|$/',
        rf"syntax match {name}Comment +{comment}.*$+ contains={name}Todo,@Spell",
        rf"syntax region {name}Comment start=+/\*+ end=+\*/+ contains={name}Todo,@Spell",
        f"syntax keyword {name}Todo TODO FIXME XXX contained",
    ]
    if colours.has_preprocessor:
        lines.append(rf"syntax match {name}PreProc /^\s*#\s*\w\+/")
    links = {**_VIM_GROUPS, "number": "Number", "operator": "Operator", "string": "String", "comment": "Comment"}
    links |= {"todo": "Todo"} | ({"preProc": "PreProc"} if colours.has_preprocessor else {})
    lines += [f"highlight default link {name}{each[0].upper()}{each[1:]} {link}" for each, link in links.items()]
    lines.append(f'let b:current_syntax = "{name}"')
    return "\n".join(lines) + "\n"


def emacs() -> str:
    """Returns the word lists for the Emacs mode."""
    lines = [";;; outcrop-words.el --- Words of model languages  -*- lexical-binding: t -*-", "", f";; {NOTE}.", ""]
    lines += [";;; Code:", ""]
    for language, services, colours in languages():
        for group, words in groups(services, colours).items():
            listed = " ".join(f'"{each}"' for each in words)
            lines.append(f"(defconst outcrop-{services.identifier}-{group}s '({listed})")
            lines.append(f'  "Words of {language.name}: {group}s.")')
            lines.append("")
    return "\n".join([*lines, "(provide 'outcrop-words)", ";;; outcrop-words.el ends here", ""])


def detection() -> str:
    """Returns the Vim script that finds the language of a file by its suffix."""
    lines = [f'" {NOTE}.']
    for language, services, _ in languages():
        suffixes = ",".join(f"*{each}" for each in language.suffixes)
        lines.append(f"autocmd BufRead,BufNewFile {suffixes} setfiletype {services.identifier}")
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    """Returns the contents of all generated files."""
    made = {HERE / "emacs/outcrop-words.el": emacs(), HERE / "vim/ftdetect/outcrop.vim": detection()}
    for language, services, colours in languages():
        name = services.identifier
        made[HERE / f"vscode/syntaxes/{name}.tmLanguage.json"] = text_mate(language, services, colours)
        made[HERE / f"vim/syntax/{name}.vim"] = vim(language, services, colours)
    return made


def main() -> int:
    """Writes the files, or says which are not current."""
    old = [path for path, text in files().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in old:
            print(f"{path} is not current; run python editors/generate.py")
        return int(bool(old))
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files()[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
