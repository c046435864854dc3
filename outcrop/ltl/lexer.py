"""The lexer of formulas.

The letters of temporal operators need no blanks around them (``GFp`` is G F p), so that propositions begin with a
lower-case letter. A word that is known as a proposition is one, whatever it begins with or contains.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from outcrop.errors import ModelError
from outcrop.ir.formula import Operator
from outcrop.source import Diagnostic, Severity, Source, Span

NAME = "name"
EXPRESSION = "expression"
OPEN = "("
CLOSE = ")"
END = "end"
#: A quantifier over a formula, with its bindings, up to ``do``; and the ``end`` that closes it.
FORALL = "forall"
EXISTS = "exists"
CLOSE_QUANTIFIER = "end of a quantifier"

#: Spellings of the operators.
SPELLINGS = {
    "true": Operator.TRUE,
    "1": Operator.TRUE,
    "false": Operator.FALSE,
    "0": Operator.FALSE,
    "!": Operator.NOT,
    "~": Operator.NOT,
    "not": Operator.NOT,
    "X": Operator.NEXT,
    "O": Operator.NEXT,
    "F": Operator.FINALLY,
    "<>": Operator.FINALLY,
    "G": Operator.GLOBALLY,
    "[]": Operator.GLOBALLY,
    "U": Operator.UNTIL,
    "R": Operator.RELEASE,
    "V": Operator.RELEASE,
    "W": Operator.WEAK_UNTIL,
    "M": Operator.STRONG_RELEASE,
    "&&": Operator.AND,
    "&": Operator.AND,
    "*": Operator.AND,
    "/\\": Operator.AND,
    "and": Operator.AND,
    "||": Operator.OR,
    "|": Operator.OR,
    "+": Operator.OR,
    "\\/": Operator.OR,
    "or": Operator.OR,
    "^": Operator.XOR,
    "xor": Operator.XOR,
    "->": Operator.IMPLIES,
    "=>": Operator.IMPLIES,
    "implies": Operator.IMPLIES,
    "<->": Operator.IFF,
    "<=>": Operator.IFF,
    "iff": Operator.IFF,
}
WORDS = frozenset(each for each in SPELLINGS if each.isalpha() and each.islower())
LETTERS = frozenset(each for each in SPELLINGS if each.isupper())

_EVERY_RUN = "an LTL formula is about every run: write {}"
_SOME_RUN = "to ask whether some run does so, check that no run does: {}; a violation is such a run"
#: Operators of CTL, with the corresponding LTL.
_CTL = {
    "A": _EVERY_RUN.format("p U q for A[p U q]"),
    "AG": _EVERY_RUN.format("G p for AG p"),
    "AF": _EVERY_RUN.format("F p for AF p"),
    "AX": _EVERY_RUN.format("X p for AX p"),
    "E": _SOME_RUN.format("!(p U q) for E[p U q]"),
    "EG": _SOME_RUN.format("F !p for EG p"),
    "EF": _SOME_RUN.format("G !p for EF p"),
    "EX": _SOME_RUN.format("X !p for EX p"),
}
_CTL_WORD = re.compile(r"([AE][GFX])(?:[AE][GFX])*\b|([AE])(?=\s*[\[(])")

_TOKEN = re.compile(
    r"""
    (?P<word> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<sign> <-> | <=> | <> | \[\s*\] | -> | => | && | \|\| | /\\ | \\/ | [!~&|*+^01] )
    | (?P<bracket> [()] )
    | (?P<string> "[^"\n]*" )
    | (?P<brace> \{ )
    """,
    re.VERBOSE,
)
#: A line continues in the next one after a backslash.
_BLANKS = re.compile(r"(?:\s|\\\r?\n)*")
_QUANTIFIER = re.compile(r"(forall|exists)(\s+\w+\s*:.*?)\bdo\b", re.DOTALL)
_QUANTIFIER_BEGINS = re.compile(r"(forall|exists)\s+\w+\s*:")
_QUANTIFIER_ENDS = frozenset(("end", "endforall", "endexists"))
#: A name with a binary operator attached, as in ``p1U(q)``.
_CLINGING = re.compile(r"([a-z_]\w*?[a-z0-9_]|[a-z_])([URVWM][GFXO]*)")
_OPERAND_AHEAD = re.compile(r"\s*([(!~{\"\[A-Za-z_]|<>)")


@dataclass(frozen=True)
class Token:
    """A token. ``kind`` is an operator or one of the names above; ``text`` is the source text, or that in its
    braces."""

    kind: str
    text: str
    span: Span


def refuse(message: str, span: Span, hint: str = "") -> ModelError:
    return ModelError([Diagnostic(Severity.ERROR, message, span, hint)])


def tokenize(source: Source, start: int, end: int, known: Collection[str]) -> list[Token]:
    """Returns the tokens of a span; the last one is the end."""
    return _Lexer(source, start, end, known).run()


class _Lexer:
    def __init__(self, source: Source, start: int, end: int, known: Collection[str]) -> None:
        self.source = source
        self.text = source.text
        self.at = start
        self.end = end
        self.known = known
        self.tokens: list[Token] = []
        self._open = 0  #: quantifiers that have not ended

    def run(self) -> list[Token]:
        while self._skip_blanks():
            match = _TOKEN.match(self.text, self.at, self.end)
            if match is None:
                raise self._unknown()
            text = match.group()
            match match.lastgroup:
                case "word":
                    self._word(text)
                case "sign":
                    self._add(SPELLINGS["[]" if text[0] == "[" else text], len(text))
                case "bracket":
                    self._add(text, 1)
                case "string":
                    self._expression(len(text))
                case _:
                    self._expression(self._closing_brace() - self.at)
        self._add(END, 0)
        return self.tokens

    def _skip_blanks(self) -> bool:
        """Skips blanks. Returns whether anything follows."""
        blanks = _BLANKS.match(self.text, self.at, self.end)
        self.at = blanks.end() if blanks else self.at
        return self.at < self.end

    def _add(self, kind: str, width: int) -> None:
        span = Span(self.source, self.at, self.at + width)
        self.tokens.append(Token(kind, span.text, span))
        self.at += width

    def _word(self, word: str) -> None:
        """Reads a word: a proposition, or letters of operators with perhaps a proposition after them."""
        if word in WORDS:
            self._add(SPELLINGS[word], len(word))
        elif word in (FORALL, EXISTS) and _QUANTIFIER_BEGINS.match(self.text, self.at, self.end):
            self._quantifier(word)
        elif self._open and word in _QUANTIFIER_ENDS:
            self._open -= 1
            self._add(CLOSE_QUANTIFIER, len(word))
        elif word in self.known:
            self._add(NAME, len(word))
        elif word[0] in LETTERS:
            self._add(SPELLINGS[word[0]], 1)
        elif operator := _CTL_WORD.match(self.text, self.at, self.end):
            where = Span(self.source, self.at, self.at + len(word))
            raise refuse(
                f"'{word}' is an operator of CTL, and formulas are LTL", where, _CTL[operator[1] or operator[2]]
            )
        elif word[0].isupper():
            raise refuse(
                f"'{word}' is neither an operator nor a proposition",
                Span(self.source, self.at, self.at + len(word)),
                f"a proposition begins with a lower-case letter; write any other expression in braces: {{{word}}}",
            )
        else:
            self._name(word)

    def _quantifier(self, word: str) -> None:
        match = _QUANTIFIER.match(self.text, self.at, self.end)
        if match is None:
            where = Span(self.source, self.at, self.at + len(word))
            raise refuse(f"'{word}' lacks its 'do'", where, f"write {word} i: Type do ... end")
        span = Span(self.source, match.start(2), match.end(2))
        self.tokens.append(Token(word, word, span))
        self._open += 1
        self.at = match.end()

    def _name(self, word: str) -> None:
        """Reads a proposition. A letter of an operator at its end is an operator if an operand follows, which nothing
        else allows. Within an unknown word it is one if the part before it is known."""
        clinging = _CLINGING.fullmatch(word)
        if clinging and self._operand_follows(self.at + len(word)):
            word = clinging.group(1)
        elif self.known:
            for index, letter in enumerate(word):
                if letter in "URVWM" and word[:index] in self.known:
                    word = word[:index]
                    break
        self._add(NAME, len(word))

    def _operand_follows(self, at: int) -> bool:
        ahead = _OPERAND_AHEAD.match(self.text, at, self.end)
        if ahead is None:
            return False
        word = re.compile(r"\w+").match(self.text, ahead.start(1), self.end)
        infix = word is not None and (SPELLINGS.get(word.group()) in _INFIX or word.group()[0] in "URVWM")
        return not infix

    def _closing_brace(self) -> int:
        depth = 0
        for index in range(self.at, self.end):
            depth += {"{": 1, "}": -1}.get(self.text[index], 0)
            if depth == 0:
                return index + 1
        raise refuse("this brace is never closed", Span(self.source, self.at, self.at + 1), "close it with '}'")

    def _expression(self, width: int) -> None:
        span = Span(self.source, self.at + 1, self.at + width - 1)
        if not span.text.strip():
            raise refuse(
                "there is no expression here", Span(self.source, self.at, self.at + width), "write one, as in {x < 3}"
            )
        self.tokens.append(Token(EXPRESSION, span.text, span))
        self.at += width

    def _unknown(self) -> ModelError:
        character = self.text[self.at]
        span = Span(self.source, self.at, self.at + 1)
        if character == '"':
            return refuse("this string is not closed before the end of the line", span)
        hint = "write an expression of the model in braces, as in G {x < 3}" if character in "<>=.-%/:[]'" else ""
        return refuse(f"'{character}' is not allowed in a formula", span, hint)


_INFIX = frozenset((Operator.AND, Operator.OR, Operator.XOR, Operator.IMPLIES, Operator.IFF))
