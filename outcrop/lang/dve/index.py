"""The index of a DVE text, found on its tokens, so that a text with mistakes has one too."""

from __future__ import annotations

from collections.abc import Iterator

from outcrop.lang.dve.lexer import END_OF_FILE, IDENTIFIER, tokenize
from outcrop.lang.editing import Declaration, Index, Kind, Region
from outcrop.source import Source, Span

_LISTS = frozenset(("init", "accept", "commit"))
_TYPES = frozenset(("byte", "int"))
_SECTIONS = frozenset(("state", "trans", "assert", *_LISTS, *_TYPES, "const", "channel", "process", "system"))


class DveIndex(Index):
    """An index with the states of each process, which are written only where a state is meant."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.states: dict[Declaration, dict[str, Declaration]] = {}
        self.own: dict[Declaration, Region] = {}  #: the region of each process
        walk = _Walk(self)
        walk.declare_all()
        walk.use_all()

    def visible(self, offset: int) -> Iterator[Declaration]:
        yield from super().visible(offset)
        for process, region in self.own.items():
            if region.start <= offset <= region.end:
                yield from self.states[process].values()


def index(source: Source) -> DveIndex:
    """Returns the index of a text."""
    return DveIndex(source)


class _Walk:
    def __init__(self, into: DveIndex) -> None:
        tokens = tokenize(into.source)
        self.index = into
        self.kinds, self.texts = tokens.kinds, tokens.texts
        self.starts, self.ends = tokens.starts, tokens.ends
        self.process: Declaration | None = None
        self.declared: set[int] = set()  #: numbers of the tokens that declare names

    def _span(self, at: int, last: int | None = None) -> Span:
        return Span(self.index.source, self.starts[at], self.ends[at if last is None else last])

    def _closing(self, at: int, opening: str = "{", closing: str = "}") -> int:
        """Returns the number of the token that closes the bracket at ``at``, or of the last token."""
        depth = 0
        while self.kinds[at] != END_OF_FILE:
            depth += (self.kinds[at] == opening) - (self.kinds[at] == closing)
            if depth <= 0:
                return at
            at += 1
        return at

    def _end(self, at: int) -> int:
        """Returns the number of the semicolon that ends the declaration at ``at``."""
        while self.kinds[at] not in (";", "}", END_OF_FILE):
            at = self._closing(at) if self.kinds[at] == "{" else at
            at += self.kinds[at] != END_OF_FILE
        return at

    # --- Declarations ----------------------------------------------------------------------------------------

    def declare_all(self) -> None:
        at, end_of_process = 0, -1
        region = self.index.root
        while self.kinds[at] != END_OF_FILE:
            kind = self.kinds[at]
            if at > end_of_process:
                self.process, region = None, self.index.root
            if kind == "process" and self.kinds[at + 1] == IDENTIFIER:
                end_of_process = self._closing(at + 2) if self.kinds[at + 2] == "{" else at + 1
                self.process = self._declare(at + 1, Kind.PROCESS, self._span(at, end_of_process), "", region)
                region = region.inner(self.starts[at], self.ends[end_of_process])
                self.index.own[self.process] = region
                self.index.states[self.process] = {}
                at += 2
            elif kind in _TYPES or kind == "channel":
                at = self._names(at, region)
            elif kind == "state" and self.process is not None:
                at = self._states(at)
            at += self.kinds[at] != END_OF_FILE
        self.process = None

    def _declare(self, at: int, kind: Kind, extent: Span, detail: str, region: Region | None) -> Declaration:
        self.declared.add(at)
        made = Declaration(self.texts[at], kind, self._span(at), extent, detail, None, self.process)
        return self.index.declare(made, region)

    def _names(self, at: int, region: Region) -> int:
        """Declares the variables or channels of one declaration, and returns the number of its last token."""
        is_constant = at > 0 and self.kinds[at - 1] == "const"
        word, end = self.kinds[at], self._end(at)
        kind = Kind.CHANNEL if word == "channel" else Kind.CONSTANT if is_constant else Kind.VARIABLE
        first = at
        at += 1
        if self.kinds[at] == "{":  # the types of a channel's items
            at = self._closing(at) + 1
        prefix = "const " * is_constant + self.index.source.text[self.starts[first] : self.ends[at - 1]]
        while at < end:
            if self.kinds[at] == IDENTIFIER:
                last = self._declarator_end(at, end)
                rest = self.index.source.text[self.ends[at] : self.ends[last]].strip()
                detail = rest.lstrip("= ") if is_constant else f"{prefix}{rest if rest.startswith('[') else ''}"
                self._declare(at, kind, self._span(at, last), " ".join(detail.split()), region)
                at = last
            at += 1
        return end

    def _declarator_end(self, at: int, end: int) -> int:
        depth = 0
        while at + 1 < end:
            following = self.kinds[at + 1]
            if following == "," and depth == 0:
                break
            depth += (following in "([{") - (following in ")]}")
            at += 1
        return at

    def _states(self, at: int) -> int:
        assert self.process is not None
        end = self._end(at)
        for each in range(at + 1, end):
            if self.kinds[each] == IDENTIFIER:
                made = self._declare(each, Kind.STATE, self._span(each), self.process.name, None)
                self.index.states[self.process].setdefault(made.name, made)
        return end

    # --- Uses ------------------------------------------------------------------------------------------------

    def use_all(self) -> None:
        section, depth = "", 0
        at = 0
        while self.kinds[at] != END_OF_FILE:
            kind = self.kinds[at]
            depth += (kind == "{") - (kind == "}")
            if kind == "process":
                self.process = self.index.root.names.get(self.texts[at + 1])
                depth = 0
            elif kind in _SECTIONS and depth <= 1:
                section = kind
            if kind == IDENTIFIER and at not in self.declared:
                at = self._use(at, section, depth)
            at += self.kinds[at] != END_OF_FILE

    def _use(self, at: int, section: str, depth: int) -> int:
        """Notes the use of a name, or of a process with its state or variable. Returns the number of the last token."""
        text = self.texts[at]
        states = self.index.states.get(self.process, {}) if self.process is not None else {}
        following = self.kinds[at + 1]
        is_head = section in _LISTS or (section == "trans" and depth <= 1)
        if is_head or (section == "assert" and following == ":"):
            if text in states:
                self.index.use(self._span(at), states[text])
            return at
        region = self.index.root if self.process is None else self.index.own.get(self.process, self.index.root)
        found = region.find(text)
        if found is None:
            return at
        is_written = following == "=" and section == "trans"
        self.index.use(self._span(at), found, is_written)
        if following not in (".", "->") or self.kinds[at + 2] != IDENTIFIER:
            return at
        behind = self.texts[at + 2]
        own = self.index.own.get(found)
        member = self.index.states.get(found, {}).get(behind) if following == "." else own and own.names.get(behind)
        if member:
            self.index.use(self._span(at + 2), member)
        return at + 2
