"""Parses Promela models, as SPIN 6.5 reads them."""

from __future__ import annotations

from dataclasses import replace

from outcrop.errors import ModelError
from outcrop.lang.cursor import Abandoned, GivenUp
from outcrop.lang.promela import hints
from outcrop.lang.promela.lexer import DIRECTIVE, END_OF_FILE, NAME, Token, tokenize
from outcrop.lang.promela.parser_statements import Inline, StatementParser
from outcrop.lang.promela.preprocessor import Preprocessor
from outcrop.lang.promela.syntax import (
    Block,
    Declaration,
    EventTrace,
    Expression,
    Ltl,
    Model,
    MtypeList,
    Name,
    Number,
    Proctype,
    Typedef,
)
from outcrop.source import Diagnostic, Severity, Source, Span

_ITEM_STARTS = frozenset(("active", "proctype", "init", "never", "inline", "typedef", "ltl", "chan", END_OF_FILE))
#: Where proctypes have no parameters that others could give.
_NO_DECLARATIONS: tuple[Declaration, ...] = ()


def parse(source: Source, constants: dict[str, str]) -> tuple[Model, Preprocessor, list[Diagnostic]]:
    """Returns the tree, the macros and the warnings. Raises ModelError with all mistakes."""
    preprocessor = Preprocessor(constants)
    tokens = [each for each in preprocessor.read(source) if each.kind != DIRECTIVE]
    if preprocessor.diagnostics:  # mistakes in a text without the missing part would be consequences
        raise ModelError(preprocessor.diagnostics)
    parser = Parser(source, tokens, preprocessor.diagnostics)
    try:
        parser.items()
    except GivenUp:
        assert parser.error_count
    if parser.error_count:
        raise ModelError([each for each in parser.diagnostics if each.severity is Severity.ERROR])
    return parser.model, preprocessor, parser.diagnostics


def parse_expression(span: Span, proctypes: frozenset[str], preprocessor: Preprocessor) -> Expression:
    """Returns the expression that stands alone in a stretch of some source."""
    diagnostics: list[Diagnostic] = []
    tokens = preprocessor.expanded(tokenize(span.alone()))
    for at, each in enumerate(tokens[:-1]):  # init:x is a variable of init, init[0]@label a place in it
        if each.kind == "init" and tokens[at + 1].kind in (":", "@", "["):
            tokens[at] = replace(each, kind=NAME)
    parser = Parser(span.source, tokens, diagnostics)
    parser.proctype_names = proctypes
    try:
        expression = parser.expression()
        if parser.kind != END_OF_FILE:
            parser.fail_expected("the end of the expression")
        if not parser.error_count:
            return expression
    except (Abandoned, GivenUp):
        pass
    raise ModelError([each.within(span.source) for each in parser.diagnostics])


class Parser(StatementParser):
    def __init__(self, source: Source, tokens: list[Token], diagnostics: list[Diagnostic]) -> None:
        super().__init__(source, tokens, diagnostics)
        self.model = Model()
        self.remote_labels = self.model.remote_labels
        self.inlines: dict[str, Inline] = {}
        self.typedefs: set[str] = set()
        self.channels: dict[str, bool] = {}
        self.declared_proctypes: set[str] = set()
        self.proctype_names = frozenset(
            self.tokens[at + 1].text for at, each in enumerate(self.tokens[:-1]) if each.kind in ("proctype", "init")
        )

    def items(self) -> None:
        while self.kind != END_OF_FILE:
            try:
                self._item()
            except Abandoned:
                self.nesting = 0
                self.at += self.kind != END_OF_FILE
                while self.kind not in _ITEM_STARTS:
                    self.take()

    def _item(self) -> None:
        match self.kind:
            case ";" | "->":
                self.take()
            case "active" | "proctype" | "D_proctype":
                self.model.proctypes.append(self._proctype())
            case "init":
                self.model.proctypes.append(self._init())
            case "never":
                self._never()
            case "inline":
                self._inline()
            case "typedef":
                self._typedef()
            case "ltl":
                self.ltl()
            case "mtype" if self.ahead() in ("=", "{") or (self.ahead() == ":" and self.ahead(3) in ("=", "{")):
                self._mtype()
            case "trace" | "notrace":
                self._event_trace()
            case "c_code" | "c_decl" | "c_state" | "c_track":
                self.fail(f"'{self.kind}' is not supported: it is C, not Promela", "declare the data in Promela itself")
            case _ if self.at_declaration():
                self.model.declarations.append(self.declaration())
            case _:
                is_type = self.kind == NAME and self.ahead() == NAME
                hint = f"no typedef '{self.text}' is defined above" if is_type and self.text not in hints.WORDS else ""
                if self.kind == "}":
                    hint = "there are more '}' than '{' above"
                elif self.kind == "run":
                    hint = "a process starts others: write 'run' in init or in a proctype"
                self.fail_expected("a declaration, a proctype or init", hint)

    def _proctype(self) -> Proctype:
        start = self.at
        active: Expression | None = None
        if self.accept("active"):
            active = Number(1, span=self.here())
            if self.accept("["):
                active = self.expression()
                self.expect("]", "after the number of processes")
        if not self.accept("D_proctype"):
            self.expect("proctype", "after 'active'")
        name = self.name("the name of a proctype")
        self.declared_proctypes.add(name.text)
        self.expect("(", "after the name of a proctype")
        parameters: list[Declaration] = []
        while self.kind != ")":
            parameters.append(self.declaration())
            if not self.accept(";"):
                break
        self.expect(")", "after the parameters")
        priority = self.priority()
        provided = self._provided()
        span = self.span_from(start)
        body = self.block("before the body of a proctype")
        return Proctype(name, tuple(parameters), active, provided, body, span, priority=priority)

    def _provided(self) -> Expression | None:
        if not self.accept("provided"):
            return None
        self.expect("(", "after 'provided'")
        condition = self.expression()
        self.expect(")", "after the condition")
        return condition

    def _init(self) -> Proctype:
        token = self.take()
        name = Name("init", token.span)
        priority = self.priority()
        provided = self._provided()
        body = self.block("after 'init'")
        active = Number(1, span=token.span)
        return Proctype(name, _NO_DECLARATIONS, active, provided, body, token.span, is_init=True, priority=priority)

    def _never(self) -> None:
        start = self.at
        self.take()
        if self.kind == NAME:
            self.take()
        body: Block = self.block("after 'never'")
        if self.model.never is not None:
            self.report("there is a never claim already", self.span_from(start), "keep one of them")
        self.model.never = body

    def _event_trace(self) -> None:
        start = self.at
        word = self.take().text
        body = self.block(f"after '{word}'")
        made = EventTrace(word, body, self.span_from(start))
        if self.model.trace is not None:
            self.report("there is a 'trace' or 'notrace' already", made.span, "keep one of them")
        self.model.trace = made

    def _inline(self) -> None:
        self.take()
        name = self.name("the name of an inline")
        self.expect("(", "after the name of an inline")
        parameters: list[str] = []
        while self.kind == NAME:
            parameters.append(self.take().text)
            self.accept(",")
        self.expect(")", "after the parameters")
        if self.kind != "{":
            self.fail_expected("'{' before the body of an inline")
        self.take()
        body: list[Token] = []
        depth = 1
        while True:
            if self.kind == END_OF_FILE:
                self.fail_expected("'}' at the end of an inline")
            token = self.take()
            depth += (token.kind == "{") - (token.kind == "}")
            if not depth:
                break
            body.append(token)
        self.inlines[name.text] = Inline(tuple(parameters), tuple(body))

    def _typedef(self) -> None:
        self.take()
        name = self.name("the name of a type")
        self.expect("{", "before the fields")
        fields: list[Declaration] = []
        while self.kind != "}":
            fields.append(self.declaration())
            if self.kind not in (";", "}") and not self.follows_separated():
                self.fail_expected("';' before the next field")
            while self.accept(";"):
                pass
        self.expect("}", "after the fields")
        self.typedefs.add(name.text)
        self.model.typedefs.append(Typedef(name, tuple(fields)))

    def _mtype(self) -> None:
        self.take()
        subtype = self.name("the name of the mtype").text if self.accept(":") else ""
        self.accept("=")
        self.expect("{", "before the names of an mtype")
        names: list[Name] = []
        while self.kind == NAME:
            names.append(self.name("a name"))
            self.accept(",")
        self.model.mtypes.append(MtypeList(subtype, tuple(names)))
        self.expect("}", "after the names of an mtype")

    def ltl(self) -> None:
        start = self.at
        self.take()
        name = self.take().text if self.kind == NAME else f"ltl_{len(self.model.formulas)}"
        if any(each.name == name for each in self.model.formulas):
            self.report(f"there is a formula '{name}' already", self.span_from(start), "rename one of the two")
        self.expect("{", "before the formula")
        formula = self.formula()
        while self.accept(";"):
            pass
        self.expect("}", "after the formula")
        self.model.formulas.append(Ltl(name, formula, self.span_from(start)))
