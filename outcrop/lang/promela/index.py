"""The index of a Promela text, found on its tokens before macros are replaced, as the author wrote them."""

from __future__ import annotations

import re

from outcrop.lang.editing import Declaration, Index, Kind, Region
from outcrop.lang.promela.lexer import DIRECTIVE, END_OF_FILE, NAME, Token, tokenize
from outcrop.source import Source, Span

_TYPES = frozenset(("bit", "bool", "byte", "short", "int", "unsigned", "chan", "mtype", "pid"))
_DEFINE = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(\(([^)]*)\))?[ \t]*(.*)", re.DOTALL)
_BODIES = frozenset(("proctype", "D_proctype", "inline"))
#: Tokens after which a statement, and with it a label, can begin.
_BEFORE_LABEL = frozenset((";", "{", "}", "->", "::", "fi", "od", ":"))


class PromelaIndex(Index):
    """An index with the fields of types, and the types of variables."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.fields: dict[str, dict[str, Declaration]] = {}  #: fields by the name of their type
        self.types: dict[Declaration, str] = {}
        self.own: dict[Declaration, Region] = {}  #: the region of each proctype
        self.labels: dict[Region, dict[str, Declaration]] = {}
        walk = _Walk(self)
        walk.declare_all()
        walk.use_all()


def index(source: Source) -> PromelaIndex:
    """Returns the index of a text."""
    return PromelaIndex(source)


class _Walk:
    def __init__(self, into: PromelaIndex) -> None:
        self.index = into
        end = Span(into.source, len(into.source.text), len(into.source.text))
        self.tokens = [*tokenize(into.source), *[Token(END_OF_FILE, "", end)] * 4]
        self.declared: set[int] = set()  #: numbers of the tokens that declare names
        self.region = into.root
        self.owner: Declaration | None = None
        self.body_end = -1  #: number of the token that ends the body around

    def _closing(self, at: int) -> int:
        """Returns the number of the token that closes the bracket at ``at``, or of the last token."""
        depth = 0
        while self.tokens[at].kind != END_OF_FILE:
            kind = self.tokens[at].kind
            depth += (kind in ("(", "[", "{")) - (kind in (")", "]", "}"))
            if depth <= 0:
                return at
            at += 1
        return at

    def _declare(
        self, at: int, kind: Kind, extent: Span, detail: str = "", parameters: tuple[str, ...] | None = None
    ) -> Declaration:
        self.declared.add(at)
        token = self.tokens[at]
        is_local = self.region is not self.index.root and kind is not Kind.FIELD
        made = Declaration(token.text, kind, token.span, extent, detail, parameters, self.owner, is_local)
        return self.index.declare(made, None if kind in (Kind.FIELD, Kind.LABEL) else self.region)

    # --- Declarations ----------------------------------------------------------------------------------------

    def declare_all(self) -> None:
        at = 0
        while (token := self.tokens[at]).kind != END_OF_FILE:
            if at > self.body_end:
                self.region, self.owner = self.index.root, None
            if token.kind == DIRECTIVE:
                self._macro(token)
            elif token.kind in _BODIES or token.kind == "init":
                at = self._body(at)
            elif token.kind == "typedef" and self.tokens[at + 1].kind == NAME:
                at = self._typedef(at)
            elif token.kind == "mtype" and self._members_at(at):
                at = self._members(at)
            elif token.kind == "ltl":
                self._formula(at)
            elif self._is_type(at):
                at = self._variables(at)
            elif token.kind == NAME and self._is_label(at):
                made = self._declare(at, Kind.LABEL, token.span)
                self.index.labels.setdefault(self.region, {}).setdefault(made.name, made)
            at += 1

    def _is_type(self, at: int) -> bool:
        kind, text = self.tokens[at].kind, self.tokens[at].text
        if kind in _TYPES:
            return self.tokens[at + 1].kind in (NAME, ":")
        return kind == NAME and text in self.index.fields and self.tokens[at + 1].kind == NAME

    def _is_label(self, at: int) -> bool:
        return self.tokens[at + 1].kind == ":" and at > 0 and self.tokens[at - 1].kind in _BEFORE_LABEL

    def _macro(self, token: Token) -> None:
        match = _DEFINE.match(token.text)
        if match is None:
            return
        start = token.span.start
        name = Span(token.span.source, start + match.start(1), start + match.end(1))
        parameters = tuple(each.strip() for each in match[3].split(",")) if match[2] else None
        body = " ".join(re.sub(r"/\*.*?\*/|//.*|\\\r?\n", " ", match[4]).split())
        self.index.declare(Declaration(match[1], Kind.MACRO, name, token.span, body, parameters), self.index.root)

    def _body(self, at: int) -> int:
        """Declares a proctype, inline or init with its parameters. Returns the number of its opening brace."""
        word, start = self.tokens[at].kind, at
        named = word != "init"
        at += named
        opening = at + 1
        parameters: tuple[str, ...] | None = None
        if self.tokens[opening].kind == "(":
            closing = self._closing(opening)
            text = self.index.source.text[self.tokens[opening].span.end : self.tokens[closing].span.start]
            separator = "," if word == "inline" else ";"
            parameters = tuple(" ".join(each.split()) for each in text.split(separator) if each.strip())
            opening = closing + 1
        while self.tokens[opening].kind not in ("{", ";", END_OF_FILE):
            opening += 1
        end = self._closing(opening)
        extent = self.tokens[start].span.to(self.tokens[end].span)
        kind = Kind.FUNCTION if word == "inline" else Kind.PROCESS
        if not named or self.tokens[at].kind == NAME:
            self.owner = self._declare(at, kind, extent, "", parameters)
            self.region = self.index.root.inner(extent.start, extent.end)
            self.index.own[self.owner] = self.region
            self.body_end = end
        for position in range(at + 1, opening):
            if word != "inline" and self._is_type(position):
                self._variables(position, Kind.PARAMETER)
            elif word == "inline" and self.tokens[position].kind == NAME:
                self._declare(position, Kind.PARAMETER, self.tokens[position].span)
        return opening

    def _typedef(self, at: int) -> int:
        end = self._closing(at + 2)
        extent = self.tokens[at].span.to(self.tokens[end].span)
        made = self._declare(at + 1, Kind.TYPE, extent)
        self.owner, fields = made, self.index.fields.setdefault(made.name, {})
        position = at + 3
        while position < end:
            if self._is_type(position):
                before = len(self.index.declarations)
                position = self._variables(position, Kind.FIELD)
                fields |= {each.name: each for each in self.index.declarations[before:]}
            position += 1
        self.owner = None
        return end

    def _members_at(self, at: int) -> int:
        """Returns the number of the brace of an mtype declaration; 0 if there is none."""
        for ahead in (1, 2, 3, 4):
            if self.tokens[at + ahead].kind == "{":
                return at + ahead
            if self.tokens[at + ahead].kind not in ("=", ":", NAME):
                return 0
        return 0

    def _members(self, at: int) -> int:
        opening = self._members_at(at)
        end = self._closing(opening)
        for each in range(opening + 1, end):
            if self.tokens[each].kind == NAME:
                self._declare(each, Kind.MEMBER, self.tokens[each].span, "mtype")
        return end

    def _formula(self, at: int) -> None:
        name = self.tokens[at + 1]
        opening = at + 1 + (name.kind == NAME)
        title = name.text if name.kind == NAME else "ltl"
        if name.kind == NAME:
            self.declared.add(at + 1)
        extent = self.tokens[at].span.to(self.tokens[self._closing(opening)].span)
        self.index.declare(Declaration(title, Kind.PROPERTY, self.tokens[at].span, extent, "ltl"), None)

    def _variables(self, at: int, kind: Kind = Kind.VARIABLE) -> int:
        """Declares the variables of one declaration. Returns the number of its last token."""
        word = self.tokens[at].text
        first = at + 1 + (2 if self.tokens[at + 1].kind == ":" else 0)  # mtype : name variable
        at = first
        last = at
        while self.tokens[at].kind == NAME:
            name, last = at, at
            while self.tokens[last + 1].kind not in (",", ";", ")", "->", "}", END_OF_FILE, DIRECTIVE, NAME):
                last = self._closing(last + 1) if self.tokens[last + 1].kind in ("(", "[", "{") else last + 1
                if self.tokens[last].kind in ("=", "of", "-", "+", "*", "/") and self.tokens[last + 1].kind == NAME:
                    last += 1
            actual = Kind.CHANNEL if word == "chan" and kind is Kind.VARIABLE else kind
            rest = self.index.source.text[self.tokens[name].span.end : self.tokens[last].span.end]
            extent = self.tokens[name].span.to(self.tokens[last].span)
            made = self._declare(name, actual, extent, " ".join(f"{word}{rest}".split()))
            self.index.types[made] = word
            if self.tokens[last + 1].kind != ",":
                break
            at = last + 2
        return last

    # --- Uses ------------------------------------------------------------------------------------------------

    def use_all(self) -> None:
        last: Declaration | None = None  #: the variable before a dot
        outer: list[Declaration | None] = []  #: the variables before the brackets that are open
        for at, token in enumerate(self.tokens):
            if token.kind == DIRECTIVE:
                self._use_in_directive(token)
                continue
            if token.kind != NAME or at in self.declared:
                if token.kind == "[":
                    outer.append(last)
                last = outer.pop() if token.kind == "]" and outer else last if token.kind == "." else None
                continue
            before = self.tokens[at - 1].kind if at else ""
            region = self.index.region(token.span.start)
            found = region.find(token.text)
            if before == "." and last is not None:
                found = self.index.fields.get(self.index.types.get(last, ""), {}).get(token.text)
            elif before == "goto":
                found = self._label(region, token.text)
            elif before == "@":
                found = next(
                    (labels[token.text] for labels in self.index.labels.values() if token.text in labels), None
                )
            if found is not None:
                self.index.use(token.span, found, self.tokens[at + 1].kind in ("=", "++", "--"))
            last = found

    def _label(self, region: Region, name: str) -> Declaration | None:
        around: Region | None = region
        while around is not None:
            if name in self.index.labels.get(around, {}):
                return self.index.labels[around][name]
            around = around.parent
        return None

    def _use_in_directive(self, token: Token) -> None:
        """Notes the names in a macro's text, except for those of its parameters."""
        match = _DEFINE.match(token.text)
        begin = match.start(4) if match else len("#")
        hidden = set(re.findall(r"\w+", match[3])) if match and match[3] else set()
        for each in re.finditer(r"[A-Za-z_]\w*", token.text[begin:]):
            found = None if each.group() in hidden else self.index.root.find(each.group())
            if found is not None:
                start = token.span.start + begin + each.start()
                self.index.use(Span(token.span.source, start, start + len(each.group())), found)
