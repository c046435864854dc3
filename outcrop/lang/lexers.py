"""Lexers for Pygments, made from the tables of the front-ends. Pygments finds them by their entry points."""

from __future__ import annotations

import re
from typing import Any

from pygments.lexer import RegexLexer, words  # type: ignore[import-untyped]
from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

from outcrop.lang.dve.editing import EDITING as DVE
from outcrop.lang.dve.language import LANGUAGE as DVE_LANGUAGE
from outcrop.lang.editing import Editing
from outcrop.lang.murphi.editing import EDITING as MURPHI
from outcrop.lang.murphi.language import LANGUAGE as MURPHI_LANGUAGE
from outcrop.lang.promela.editing import EDITING as PROMELA
from outcrop.lang.promela.language import LANGUAGE as PROMELA_LANGUAGE


def _rules(services: Editing) -> dict[str, list[Any]]:
    colours = services.highlighting
    assert colours is not None
    others = colours.types | colours.constants | colours.functions
    rules: list[Any] = [
        (r"\s+", Text.Whitespace),
        (rf"{re.escape(colours.line_comment)}[^\n]*", Comment.Single),
        (r"/\*(?:.|\n)*?(?:\*/|\Z)", Comment.Multiline),
        (r'"(?:[^"\\\n]|\\.)*"?', String.Double),
    ]
    if colours.has_preprocessor:
        rules.append((r"#(?:[^\n\\]|\\\n|\\)*", Comment.Preproc))
    for group, token in (
        (colours.types, Keyword.Type),
        (colours.constants, Keyword.Constant),
        (colours.functions, Name.Builtin),
        (services.keywords - others, Keyword),
    ):
        if group:
            rules.append((words(sorted(group), prefix=r"\b", suffix=r"\b"), token))
    rules += [
        (colours.number, Number),
        (r"[A-Za-z_]\w*", Name),
        (colours.operator, Operator),
        (r"[()\[\]{},;:.@#]", Punctuation),
        (r".", Text),
    ]
    return {"root": rules}


class MurphiLexer(RegexLexer):  # type: ignore[misc]
    """Colours Murphi models."""

    name = MURPHI_LANGUAGE.name
    aliases = (MURPHI.identifier,)
    # No file names: the suffix belongs to Objective-C and MATLAB for other users of Pygments.
    url = "https://outcrop-mc.github.io/outcrop/reference/murphi/"
    flags = re.MULTILINE | re.IGNORECASE
    tokens = _rules(MURPHI)


class DveLexer(RegexLexer):  # type: ignore[misc]
    """Colours DVE models."""

    name = DVE_LANGUAGE.name
    aliases = (DVE.identifier,)
    filenames = tuple(f"*{each}" for each in DVE_LANGUAGE.suffixes)
    url = "https://outcrop-mc.github.io/outcrop/reference/dve/"
    tokens = _rules(DVE)


class PromelaLexer(RegexLexer):  # type: ignore[misc]
    """Colours Promela models."""

    name = PROMELA_LANGUAGE.name
    aliases = (PROMELA.identifier,)
    filenames = tuple(f"*{each}" for each in PROMELA_LANGUAGE.suffixes if each != ".pm")
    url = "https://outcrop-mc.github.io/outcrop/reference/promela/"
    tokens = _rules(PROMELA)
