"""Services of a front-end for editors: the names of a text, their declarations and uses, and its layout.

A language offers an ``Editing`` in the module that its ``Language.editing`` names. The language server and the
formatter know languages through it alone. Everything here works on texts with mistakes, since a text that is being
written has some at most times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from outcrop.source import Diagnostic, Source, Span


class Kind(StrEnum):
    """The kind of a declaration."""

    CONSTANT = "constant"
    TYPE = "type"
    VARIABLE = "variable"
    PARAMETER = "parameter"
    MEMBER = "enumeration member"
    FIELD = "field"
    FUNCTION = "function"
    PROCESS = "process"
    CHANNEL = "channel"
    STATE = "state"
    LABEL = "label"
    MACRO = "macro"
    RULE = "rule"
    START = "startstate"
    PROPERTY = "property"


#: Kinds with a text as title, which no other place refers to.
TITLED = frozenset((Kind.RULE, Kind.START, Kind.PROPERTY))


@dataclass(eq=False, slots=True)
class Declaration:
    """The declaration of a name, or a rule or property with its title."""

    name: str
    kind: Kind
    span: Span  #: the name
    extent: Span  #: the whole declaration
    detail: str = ""  #: its type or value, as the text has it
    parameters: tuple[str, ...] | None = None  #: parameters of what can be called, one text each
    owner: Declaration | None = None  #: the declaration around it, in the outline
    is_local: bool = False  #: whether the outline leaves it out

    @property
    def is_known_before(self) -> bool:
        """Whether the text before it may use its name: that of a function, macro with parameters, or process."""
        return bool(self.parameters) or self.kind is Kind.PROCESS

    @property
    def signature(self) -> str:
        result = f": {self.detail}" if self.detail else ""
        return f"{self.name}({'; '.join(self.parameters or ())}){result}"


@dataclass(eq=False, slots=True)
class Use:
    """An occurrence of a name in the text, the one in its declaration included."""

    start: int
    end: int
    declaration: Declaration
    is_written: bool = False


@dataclass(eq=False, slots=True)
class Region:
    """A part of the text with names of its own."""

    start: int
    end: int
    parent: Region | None = None
    names: dict[str, Declaration] = field(default_factory=dict)
    parts: list[Region] = field(default_factory=list)

    def find(self, name: str) -> Declaration | None:
        region: Region | None = self
        while region is not None:
            if name in region.names:
                return region.names[name]
            region = region.parent
        return None

    def inner(self, start: int, end: int) -> Region:
        """Adds and returns a region inside this one."""
        region = Region(start, end, self)
        self.parts.append(region)
        return region


class Index:
    """The declarations and uses of the names of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.declarations: list[Declaration] = []
        self.root = Region(0, len(source.text) + 1)
        self._uses: list[Use] = []
        self._starts: list[int] | None = None

    def declare(self, declaration: Declaration, region: Region | None) -> Declaration:
        """Adds a declaration. ``region`` is the part of the text that knows its name; None: a name behind a dot."""
        self.declarations.append(declaration)
        if declaration.kind not in TITLED:
            self.use(declaration.span, declaration)
            if region is not None:
                region.names.setdefault(declaration.name, declaration)
        return declaration

    def use(self, span: Span, declaration: Declaration, is_written: bool = False) -> None:
        self._uses.append(Use(span.start, span.end, declaration, is_written))
        self._starts = None

    @property
    def uses(self) -> list[Use]:
        """The uses in the order of the text."""
        self._order()
        return self._uses

    def _order(self) -> list[int]:
        if self._starts is None:
            # Copies of a ruleset may visit a name several times.
            unique = {each.start: each for each in self._uses}
            self._uses = [unique[start] for start in sorted(unique)]
            self._starts = [each.start for each in self._uses]
        return self._starts

    def at(self, offset: int) -> Use | None:
        """Returns the name at an offset, or the one that ends there."""
        position = bisect_right(self._order(), offset) - 1
        if position >= 0 and offset <= self._uses[position].end:
            return self._uses[position]
        return None

    def uses_of(self, declaration: Declaration) -> list[Use]:
        return [each for each in self.uses if each.declaration is declaration]

    def region(self, offset: int) -> Region:
        """Returns the innermost region around an offset."""
        region = self.root
        while True:
            inner = [each for each in region.parts if each.start <= offset <= each.end]
            if not inner:
                return region
            region = inner[-1]

    def visible(self, offset: int) -> Iterator[Declaration]:
        """Yields the declarations whose names are known at an offset, inner ones first, each name once."""
        seen: set[str] = set()
        region: Region | None = self.region(offset)
        while region is not None:
            for name, each in region.names.items():
                is_known = region.parent is not None or each.span.start <= offset or each.is_known_before
                if name not in seen and is_known:
                    seen.add(name)
                    yield each
            region = region.parent


@dataclass(frozen=True)
class Facts:
    """Knowledge about a declaration that takes more than its text: its type and value with all constants known."""

    type: str = ""
    value: str = ""
    bits: int | None = None  #: size in a state


@dataclass(frozen=True, slots=True)
class Piece:
    """A token or comment of a text for its layout."""

    kind: str  #: kind of the token in its language; COMMENT, WORD, NUMBER, TEXT and VERBATIM are the same in all
    text: str
    start: int
    end: int


#: Kinds of pieces that all languages share. A VERBATIM piece begins a line and keeps its text and its place.
COMMENT, WORD, NUMBER, TEXT, VERBATIM = "comment", "word", "number", "text", "verbatim"


@dataclass(frozen=True)
class Highlighting:
    """The words and signs of a language that editors colour, from which the files of editors are made."""

    types: frozenset[str]
    constants: frozenset[str]
    functions: frozenset[str]
    line_comment: str
    ignores_case: bool = False
    has_preprocessor: bool = False  #: whether lines that begin with # are directives
    number: str = r"\b(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?)?)\b"
    operator: str = r"==>|:=|->|\.\.|<=|>=|!=|==|&&|\|\||::|[-+*/%<>=!&|^~?]"


@dataclass(frozen=True)
class Editing:
    """The services of a language."""

    identifier: str  #: identifier of the language in editors
    keywords: frozenset[str]
    highlighting: Highlighting | None = None
    builtins: Mapping[str, str] = field(default_factory=dict)  #: further known words, with a line about each
    #: Returns the names of a text, whatever mistakes it has.
    index: Callable[[Source], Index] | None = None
    #: Returns what is known about declarations once constants have their values.
    facts: Callable[[Index], Mapping[Declaration, Facts]] | None = None
    #: Returns the declarations that can follow the dot at an offset.
    members: Callable[[Index, int], list[Declaration]] | None = None
    #: Returns the text with a uniform layout. Raises ModelError for a text that has no tokens of the language.
    layout: Callable[[Source], str] | None = None
    #: Returns the mistakes that are found without executing the text; None: the front-end executes nothing.
    static: Callable[[Source], list[Diagnostic]] | None = None
    #: Whether a check executes code of the text, so that an editor must not do that while the user types.
    executes: bool = False
