"""Parsing of statements and statement lists."""

from __future__ import annotations

from outcrop.lang.cursor import Abandoned, GivenUp
from outcrop.lang.murphi.hints import WORDS
from outcrop.lang.murphi.lexer import END_OF_FILE, IDENTIFIER, STRING
from outcrop.lang.murphi.parser_cursor import CLOSERS, CLOSING, RULE_STARTS, SECTION_STARTS
from outcrop.lang.murphi.parser_expressions import EXPRESSION_STARTS
from outcrop.lang.murphi.parser_types import TypeParser
from outcrop.lang.murphi.syntax import (
    AliasStatement,
    AssignStatement,
    CallStatement,
    ClearStatement,
    ErrorStatement,
    Expression,
    ForStatement,
    IfStatement,
    MultisetAddStatement,
    MultisetRemovePredStatement,
    MultisetRemoveStatement,
    PropertyStatement,
    PutStatement,
    ReturnStatement,
    Statement,
    SwitchStatement,
    UndefineStatement,
    WhileStatement,
)

_LIST_ENDS = CLOSING | {"else", "elsif", "case"}
_STATEMENT_ENDS = _LIST_ENDS | {";"}
_BODY_ENDS = RULE_STARTS | SECTION_STARTS
_PROPERTY_WORDS = frozenset(("assume", "cover", "liveness"))
_MULTISET_WORDS = frozenset(("multisetadd", "multisetremove", "multisetremovepred"))


class StatementParser(TypeParser):
    def statements(self) -> list[Statement]:
        """Parses statements separated by semicolons, up to the token that ends the list."""
        result: list[Statement] = []
        kinds = self.kinds
        self.skip_semicolons()
        while kinds[self.at] not in _LIST_ENDS:
            start = self.at
            mark = self.mark()
            try:
                result.append(self._statement())
                if kinds[self.at] not in _STATEMENT_ENDS:
                    self._fail_after_statement()
            except Abandoned:
                self.recover(mark)
                self._skip_statement(start)
            self.skip_semicolons()
        return result

    def _skip_statement(self, start: int) -> None:
        stopped_at = self.skip_construct(start, _BODY_ENDS, _STATEMENT_ENDS)
        if stopped_at == END_OF_FILE:
            raise GivenUp
        if stopped_at in _BODY_ENDS:
            raise Abandoned  # the enclosing rule has ended

    def _fail_after_statement(self) -> None:
        over = self.kinds[self.at] in RULE_STARTS or self.kinds[self.at] == END_OF_FILE
        closer = CLOSERS[self.open[-1][0]]
        what = f"';', 'end' or '{closer}' after this statement"
        hint = ""
        if self.kinds[self.at] == ":=" and self.kinds[self.at - 1] == ")":
            hint = "an element of an array is written a[1]"
        elif self.kinds[self.at] == IDENTIFIER and self.kinds[self.at + 1] in (":=", "[", "."):
            hint = "a ';' is missing before it"
        self.fail_expected(what, hint, related=self.unclosed() if over else ())

    def _statement(self) -> Statement:
        at = self.at
        kind = self.kinds[at]
        if kind == IDENTIFIER:
            return self._identifier_statement()
        self.enter()
        result = self._keyword_statement(kind, self.starts[at])
        self.nesting -= 1
        return result

    def _identifier_statement(self) -> Statement:
        at = self.at
        start = self.starts[at]
        follower = self.kinds[at + 1]
        if follower != ":=":
            word = self.texts[at].lower()
            if word in _PROPERTY_WORDS and self.at_property_word():
                return self._property_statement(word, start)
            if follower == "(":
                if word in _MULTISET_WORDS and self.texts[at] not in self.redeclared:
                    return self._multiset_statement(word, start)
                call = self.call()
                return CallStatement(call.span, call)
        target = self.designator()
        if self.kinds[self.at] != ":=":
            self.fail_expected("':='" if self.at > at + 1 else "':=' or '(' after this name", self._assignment_hint())
        self.at += 1
        value = self.expression()
        return AssignStatement(self.span_from(start), target, value)

    def _assignment_hint(self) -> str:
        """Returns a hint for the token in the place of ``:=``; "" if there is none."""
        if self.kinds[self.at] in ("=", ":") and self.texts[self.at - 1].lower() not in WORDS:
            return "an assignment is written ':='"
        if self.kinds[self.at] in _STATEMENT_ENDS and not self.hint():
            return "a call needs parentheses even without arguments, as in p()"
        return ""

    def at_property_word(self) -> bool:
        """Returns whether the word assume, cover or liveness starts a property here, and is not a name of the model."""
        follower = self.kinds[self.at + 1]
        if follower == "(":
            return self.texts[self.at] not in self.redeclared
        return follower in EXPRESSION_STARTS or follower == STRING

    def _keyword_statement(self, kind: str, start: int) -> Statement:
        match kind:
            case "if":
                return self._if(start)
            case "switch":
                return self._switch(start)
            case "for" | "while" | "alias":
                return self._block(kind, start)
            case "clear" | "undefine":
                self.at += 1
                target = self.designator()
                make = ClearStatement if kind == "clear" else UndefineStatement
                return make(self.span_from(start), target)
            case "error":
                self.at += 1
                if self.kinds[self.at] != STRING:
                    hint = 'write error "..." without parentheses' if self.kinds[self.at] == "(" else ""
                    self.fail_expected("a string after 'error'", hint)
                message = self.optional_string()
                return ErrorStatement(self.span_from(start), message)
            case "assert" | "invariant":
                return self._property_statement("assert", start)
            case "put":
                self.at += 1
                argument = self.optional_string() if self.kinds[self.at] == STRING else self.expression()
                return PutStatement(self.span_from(start), argument)
            case "return":
                self.at += 1
                value = self.expression() if self.kinds[self.at] in EXPRESSION_STARTS else None
                return ReturnStatement(self.span_from(start), value)
        if kind in RULE_STARTS or kind == END_OF_FILE:
            keyword = self.open[-1][0]
            hint = f"an 'end' is missing: every if, for, while, switch, alias and {keyword} has its own"
            self.fail_expected(f"'end' or '{CLOSERS[keyword]}' to close '{keyword}'", hint, self.unclosed())
        hint = "the declarations come before 'begin'" if kind in ("var", "const", "type") else ""
        return self.fail_expected("a statement", hint)

    def _block(self, keyword: str, start: int) -> Statement:
        self.open_block(keyword)
        if keyword == "for":
            quantifiers = self.quantifiers()
            self.expect_do("after the quantifier of 'for'")
            body = self.statements()
            self.close_block()
            return ForStatement(self.span_from(start), quantifiers, body)
        if keyword == "while":
            condition = self.expression()
            self.expect_do("after the condition of 'while'")
            body = self.statements()
            self.close_block()
            return WhileStatement(self.span_from(start), condition, body)
        bindings = self.alias_bindings()
        self.expect_do("after the aliases")
        body = self.statements()
        self.close_block()
        return AliasStatement(self.span_from(start), bindings, body)

    def _if(self, start: int) -> IfStatement:
        self.open_block("if")
        branches: list[tuple[Expression, list[Statement]]] = []
        while True:
            condition = self.expression()
            self.expect("then", "after the condition")
            branches.append((condition, self.statements()))
            if not self.accept("elsif"):
                break
        otherwise = self.statements() if self.accept("else") else None
        self.close_block("'end' or 'endif' after the 'else' branch" if otherwise is not None else "")
        return IfStatement(self.span_from(start), branches, otherwise)

    def _switch(self, start: int) -> SwitchStatement:
        self.open_block("switch")
        selector = self.expression()
        cases: list[tuple[list[Expression], list[Statement]]] = []
        self.skip_semicolons()
        while self.accept("case"):
            values = self.expressions(":")
            self.expect(":", "or ',' after this value")
            cases.append((values, self.statements()))
        otherwise = self.statements() if self.accept("else") else None
        self.close_block("'case', 'else', 'end' or 'endswitch'" if otherwise is None else "")
        return SwitchStatement(self.span_from(start), selector, cases, otherwise)

    def property_parts(self) -> tuple[str, Expression]:
        """Parses the keyword, the text (before or after) and the condition of a property."""
        self.at += 1
        text = self.title(self.texts[self.at - 1].lower())
        if self.kinds[self.at - 1] == STRING:
            return text, self.expression()
        condition = self.expression()
        return self.optional_string(), condition

    def _property_statement(self, kind: str, start: int) -> PropertyStatement:
        message, condition = self.property_parts()
        return PropertyStatement(self.span_from(start), kind, condition, message)

    def _multiset_statement(self, word: str, start: int) -> Statement:
        if word == "multisetremovepred":
            name, multiset = self.multiset_binding(word)
            condition = self.expression()
            self.expect(")", "after the condition of 'multisetremovepred'")
            return MultisetRemovePredStatement(self.span_from(start), name, multiset, condition)
        self.at += 2
        first = self.expression()
        self.expect(",", f"between the arguments of '{word}'")
        multiset = self.designator()
        self.expect(")", f"after the arguments of '{word}'")
        if word == "multisetadd":
            return MultisetAddStatement(self.span_from(start), first, multiset)
        return MultisetRemoveStatement(self.span_from(start), first, multiset)
