"""The preprocessor: macros, conditional parts and included files, as ``cpp`` has them where Promela models use it.

A macro body is a list of tokens. A token that comes from a macro stands, for messages, where the macro was used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from outcrop.lang.promela.conditions import condition_value
from outcrop.lang.promela.lexer import DIRECTIVE, JUNK, NAME, NUMBER, STRING, Token, problem, tokenize
from outcrop.lang.report import counted, did_you_mean
from outcrop.source import Diagnostic, Severity, Source, Span

#: Files that include each other more deeply than this include themselves.
_MAX_DEPTH = 40

_DIRECTIVES = ("define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "error")
_DIRECTIVE = re.compile(r"#\s*([a-z]+)?\s*(.*)", re.DOTALL)
_DEFINITION = re.compile(r"([A-Za-z_]\w*)(\(([^)]*)\))?\s*(.*)", re.DOTALL)
_CONTINUATION = re.compile(r"\\[ \t\r]*\n")
_SUFFIX = re.compile(r"\b(0[xX][0-9A-Fa-f]+|\d+)[uUlL]+\b")
#: A comment, or a text or character in quotes, which is none.
_COMMENT = re.compile(r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)')|/\*.*?\*/|//[^\n]*""", re.DOTALL)


@dataclass(frozen=True)
class Macro:
    """A macro with its body. ``parameters``: None if it takes no arguments. The last parameter of a variadic macro
    takes all further arguments."""

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    is_variadic: bool = False


@dataclass
class _Part:
    """A conditional part. ``is_read``: its lines count; ``was_read``: one of its branches did already."""

    outer: bool
    is_read: bool
    was_read: bool
    span: Span


@dataclass
class Preprocessor:
    """Reads a model and what it includes. ``given``: macros whose definition in the model is replaced."""

    given: dict[str, str]
    macros: dict[str, Macro] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    mentioned: set[str] = field(default_factory=set)  #: names that directives speak of

    words: set[str] = field(default_factory=set)  #: all words of the model, after replacement
    included: list[Source] = field(default_factory=list)

    def uses(self, word: str) -> bool:
        """Returns whether a word occurs in the model."""
        return word in self.words

    def __post_init__(self) -> None:
        for name, text in self.given.items():
            self.macros[name] = Macro(None, tuple(tokenize(Source(f"-D {name}", text))))

    def read(self, source: Source, depth: int = 0) -> list[Token]:
        """Returns the tokens of a source after all replacements."""
        pending: list[Token] = []
        result: list[Token] = []
        parts: list[_Part] = []
        for token in tokenize(source):
            is_read = not parts or parts[-1].is_read
            if token.kind != DIRECTIVE:
                if is_read and token.kind == JUNK:
                    self._refuse(token)
                elif is_read:
                    pending.append(token)
                continue
            result += self.expanded(pending)
            pending = []
            result += self._directive(token, parts, is_read, depth)
        if parts:
            self._error("this conditional part is not closed", parts[-1].span, "end it with #endif")
        return result + self.expanded(pending)

    def _refuse(self, token: Token) -> None:
        """Reports a part that is no token. A text that spans lines has two quotes that are not closed."""
        mistake = problem(token)
        if token.text[0] != '"' or all(each.message != mistake.message for each in self.diagnostics):
            self.diagnostics.append(mistake)

    # --- Directives ------------------------------------------------------------------------------------------

    def _directive(self, token: Token, parts: list[_Part], is_read: bool, depth: int) -> list[Token]:
        match = _DIRECTIVE.match(_COMMENT.sub(_kept, _CONTINUATION.sub(" ", token.text)))
        assert match is not None
        word, rest = match[1] or "", match[2].strip()
        if word in ("if", "ifdef", "ifndef"):
            holds = is_read and self._holds(word, rest, token.span)
            parts.append(_Part(is_read, holds, holds, token.span))
        elif word in ("elif", "else", "endif"):
            self._next_part(word, rest, parts, token.span)
        elif is_read and word == "define":
            self._define(rest, token.span)
        elif is_read and word == "undef":
            self.macros.pop(rest, None)
        elif is_read and word == "include":
            return self._include(rest, token.span, depth)
        elif is_read and word == "error":
            self._error(
                f"#error {rest}", token.span, "the model asks for this error; define the macros that it needs with -D"
            )
        elif is_read and word not in ("", "line", "pragma", "ident", "warning"):
            self._error(
                f"'#{word}' is not a directive of the preprocessor",
                token.span,
                did_you_mean(word, _DIRECTIVES) or "delete the line",
            )
        return []

    def _next_part(self, word: str, rest: str, parts: list[_Part], span: Span) -> None:
        if not parts:
            self._error(f"#{word} without #if", span, "delete it, or add the #if")
            return
        part = parts[-1]
        if word == "endif":
            parts.pop()
            return
        part.is_read = part.outer and not part.was_read and (word == "else" or self._holds("if", rest, span))
        part.was_read = part.was_read or part.is_read

    def _holds(self, word: str, rest: str, span: Span) -> bool:
        if word == "if":
            return self._condition(rest, span)
        name = rest.split()[0] if rest else ""
        self.mentioned.add(name)
        return (name in self.macros) == (word == "ifdef")

    def _condition(self, text: str, span: Span) -> bool:
        def defined(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            self.mentioned.add(name)
            return "1" if name in self.macros else "0"

        text = _SUFFIX.sub(r"\1", text)
        text = re.sub(r"\bdefined\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))", defined, text)
        tokens = self.expanded(tokenize(Source(span.source.name, text)))
        self.mentioned |= {each.text for each in tokens if each.kind == NAME}
        try:
            return bool(condition_value([each.text if each.kind != NAME else "0" for each in tokens]))
        except (ValueError, ZeroDivisionError):
            self._error("this condition cannot be evaluated", span, "use whole numbers, macros and C's operators")
            return False

    def value_of(self, name: str) -> int | None:
        """Returns the number that a macro without parameters stands for; None if it stands for anything else."""
        macro = self.macros.get(name)
        if macro is None or macro.parameters is not None:
            return None
        tokens = self.expanded(list(macro.body))
        try:
            return condition_value([each.text for each in tokens])
        except (ValueError, ZeroDivisionError):
            return None

    def _define(self, rest: str, span: Span) -> None:
        match = _DEFINITION.match(rest)
        if match is None:
            self._error("a macro needs a name", span, "write #define NAME text")
            return
        name = match[1]
        self.mentioned.add(name)
        if name in self.given:
            return
        # Tokens of the body keep the place of the definition until the macro is used.
        body = tuple(replace(each, span=span) for each in _body_tokens(span.source.name, match[4]))
        if match[2] is None:
            self.macros[name] = Macro(None, body)
            return
        parameters = [each.strip() for each in match[3].split(",") if each.strip()]
        is_variadic = bool(parameters) and parameters[-1].endswith("...")
        if is_variadic:
            parameters[-1] = parameters[-1][:-3].strip() or "__VA_ARGS__"
        self.macros[name] = Macro(tuple(parameters), body, is_variadic)

    def _include(self, rest: str, span: Span, depth: int) -> list[Token]:
        name = rest.strip('"<> ')
        path = Path(span.source.name).parent / name
        if depth >= _MAX_DEPTH:
            self._error("this file includes itself", span, "delete this line, or put it between #ifndef and #endif")
            return []
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self._error(f"'{path}' cannot be read: {error.strerror}", span, "included files lie beside the model")
            return []
        self.included.append(Source(str(path), text))
        return self.read(self.included[-1], depth + 1)

    def _error(self, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(Severity.ERROR, message, span, hint))

    # --- Replacement -----------------------------------------------------------------------------------------

    def expanded(self, tokens: list[Token]) -> list[Token]:
        """Replaces macros, also those in expansions, but none inside its own expansion."""
        result: list[Token] = []
        pending = tokens[::-1]
        while pending:
            token = pending.pop()
            macro = self.macros.get(token.text) if token.kind != NUMBER else None
            if token.text == "__LINE__":
                result.append(replace(token, kind=NUMBER, text=str(token.span.line)))
            elif macro is None or token.text in token.hidden:
                result.append(token)
                self.words.add(token.text)
            elif macro.parameters is None:
                pending += self._placed(token, list(macro.body))[::-1]
            elif pending and pending[-1].kind == "(":
                arguments, end = self._arguments(token, pending)
                body = self._substituted(macro, arguments, token.span)
                whole = token.span.to(end) if end.source is token.span.source else token.span
                pending += self._placed(replace(token, span=whole), body)[::-1]
            else:
                result.append(token)
        return result

    def _placed(self, used: Token, body: list[Token]) -> list[Token]:
        hidden = used.hidden | {used.text}
        return [replace(each, span=used.span, hidden=each.hidden | hidden) for each in body]

    def _arguments(self, name: Token, pending: list[Token]) -> tuple[list[list[Token]], Span]:
        """Takes the arguments of a macro, parentheses included, off the tokens to come. Returns them, and where they
        end."""
        pending.pop()
        arguments: list[list[Token]] = [[]]
        depth = 0
        while pending:
            token = pending.pop()
            if token.kind == ")" and depth == 0:
                return arguments, token.span
            if token.kind == "," and depth == 0:
                arguments.append([])
                continue
            depth += (token.kind == "(") - (token.kind == ")")
            arguments[-1].append(token)
        self._error(f"the arguments of '{name.text}' are not closed", name.span, "a ')' is missing")
        return arguments, name.span

    def _substituted(self, macro: Macro, arguments: list[list[Token]], span: Span) -> list[Token]:
        """Returns the body of a macro with its arguments, which are expanded first except beside ``#`` and ``##``."""
        assert macro.parameters is not None
        if arguments == [[]] and not macro.parameters:
            arguments = []
        if macro.is_variadic:
            arguments = _variadic(arguments, len(macro.parameters))
        if len(arguments) != len(macro.parameters):
            count = len(macro.parameters)
            self._error(f"macro '{span.text}' takes {counted(count, 'argument')}, not {len(arguments)}", span)
            return []
        values = dict(zip(macro.parameters, arguments, strict=True))
        result: list[Token] = []
        part: list[Token] = []
        kinds = ["", *(each.kind for each in macro.body), ""]
        for token, before, after in zip(macro.body, kinds, kinds[2:], strict=False):
            if token.kind in ("#", "##"):
                continue
            left, part = part, values.get(token.text, [token])
            if before == "#":
                part = [replace(token, kind=STRING, text=_quoted(part))]
            elif token.text in values and "##" not in (before, after):
                part = self.expanded(part)
            if before == "##" and left:
                result[-1:] = _pasted(result[-1], part)
            else:
                result += part
        return result


def _kept(match: re.Match[str]) -> str:
    """Returns what remains of a comment or of a text in quotes."""
    return match[1] or " "


def _body_tokens(name: str, text: str) -> list[Token]:
    """Returns the tokens of the body of a macro, in which ``#`` does not begin a directive."""
    tokens = tokenize(Source(name, text))
    if not tokens or tokens[-1].kind != DIRECTIVE:
        return tokens
    last = tokens.pop()
    return [*tokens, replace(last, kind="#", text="#"), *_body_tokens(name, last.text[1:])]


def _variadic(arguments: list[list[Token]], count: int) -> list[list[Token]]:
    """Returns ``count`` arguments, the last one with all that follow, and the commas between them."""
    last: list[Token] = []
    for number, each in enumerate(arguments[count - 1 :]):
        comma = [replace(each[0], kind=",", text=",")] if number and each else []
        last += [*comma, *each]
    return [*arguments[: count - 1], last]


def _quoted(tokens: list[Token]) -> str:
    return '"' + " ".join(each.text for each in tokens).replace('"', '\\"') + '"'


def _pasted(left: Token, right: list[Token]) -> list[Token]:
    """Returns what ``##`` makes of two parts. A comma before the rest of the arguments stays, unless there is none."""
    if left.kind == "," or not right:
        return [left, *right] if right or left.kind != "," else []
    joined = tokenize(Source("", left.text + right[0].text))
    return [*(replace(left, kind=each.kind, text=each.text) for each in joined), *right[1:]]
