"""The Murphi parser: it turns a text into a syntax tree, or reports all mistakes in it.

The language is the union of what CMurphi and rumur accept. The parser descends recursively, with two tokens of
lookahead for optional semicolons and contextual words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from outcrop.errors import ModelError
from outcrop.lang.cursor import Abandoned, GivenUp
from outcrop.lang.murphi.lexer import END_OF_FILE, IDENTIFIER, STRING
from outcrop.lang.murphi.parser_cursor import (
    ARROW_HINT,
    ARROW_MESSAGE,
    CLOSING,
    ITEM_STARTS,
    RULE_STARTS,
    SECTION_STARTS,
)
from outcrop.lang.murphi.parser_expressions import EXPRESSION_STARTS
from outcrop.lang.murphi.parser_statements import StatementParser
from outcrop.lang.murphi.syntax import (
    AliasRule,
    ChooseRule,
    Declaration,
    Expression,
    FormalSyntax,
    FunctionDeclaration,
    LtlSyntax,
    ModelSyntax,
    PropertySyntax,
    QuantifierSyntax,
    RuleItem,
    RuleSet,
    RuleSyntax,
    StartStateSyntax,
    Statement,
)
from outcrop.source import Diagnostic, Severity, Source, Span

_PROPERTY_KINDS = {
    "invariant": "invariant",
    "assert": "invariant",
    "assume": "assume",
    "cover": "cover",
    "liveness": "liveness",
}
_UNSUPPORTED = {
    "externfun": ("external C++ functions (externfun) are not supported", "write the function in Murphi"),
    "externproc": ("external C++ procedures (externproc) are not supported", "write the procedure in Murphi"),
    "pctl": (
        "probabilistic properties (pctl) are not supported",
        "delete it, or state a property without probabilities",
    ),
}
_ITEM_ENDS = ITEM_STARTS | CLOSING | {";"}
_QUANTIFIER_ENDS = frozenset(("end", "endforall", "endexists"))


def parse(source: Source) -> tuple[ModelSyntax, list[Diagnostic]]:
    """Returns the tree and the warnings. Raises ``ModelError`` with all diagnostics if the text is not a model."""
    parser = _Parser(source)
    tree = parser.model()
    if any(each.severity is Severity.ERROR for each in parser.diagnostics):
        raise ModelError(sorted(parser.diagnostics, key=lambda each: each.span.start if each.span else 0))
    for arrow in parser.arrows:
        parser.warn(ARROW_MESSAGE, arrow, ARROW_HINT)
    return tree, parser.diagnostics


def parse_partly(source: Source) -> ModelSyntax:
    """Returns the tree of the parts that can be parsed. Mistakes are not reported."""
    return _Parser(source).model()


def parse_quantifiers(span: Span) -> list[QuantifierSyntax]:
    """Returns the quantifiers between ``forall`` and ``do``. Raises ``ModelError`` if they are invalid."""
    parser = _Parser(span.alone())
    parser.source = span.source
    try:
        found = parser.quantifiers()
        if parser.kinds[parser.at] != END_OF_FILE:
            parser.fail_expected("';' or 'do'")
        if not parser.error_count:
            return found
    except (Abandoned, GivenUp):
        pass
    raise ModelError([each.within(span.source) for each in parser.diagnostics])


def parse_expression(span: Span) -> Expression:
    """Returns the expression in a span. Raises ``ModelError`` if the span is not exactly one expression."""
    parser = _Parser(span.alone())
    parser.source = span.source
    try:
        expression = parser.expression()
        if parser.kinds[parser.at] != END_OF_FILE:
            parser.fail_expected("an operator or the end of the expression")
        if not parser.error_count:
            return expression
    except (Abandoned, GivenUp):
        pass
    found = [each.within(span.source) for each in parser.diagnostics]
    end = ("the end of the file", "the end of the expression")
    raise ModelError([replace(each, message=each.message.replace(*end)) for each in found])


class _Parser(StatementParser):
    def model(self) -> ModelSyntax:
        tree = ModelSyntax(Span(self.source, 0, len(self.source.text)), [])
        try:
            self.skip_semicolons()
            while self.kinds[self.at] != END_OF_FILE:
                self._item(tree.items)
                self.skip_semicolons()
        except GivenUp:
            pass
        return tree

    def _item(self, into: list[Declaration | FunctionDeclaration | RuleItem]) -> None:
        start = self.at
        kind = self.kinds[start]
        try:
            if kind in SECTION_STARTS:
                declarations: list[Declaration] = []
                self.declarations(declarations)
                into += declarations
            elif kind in ("function", "procedure"):
                into.append(self._function())
            else:
                into.append(self._rule_item("a declaration, a function or a rule"))
        except Abandoned:
            self.recover((0, 0))
            self.skip_construct(start, RULE_STARTS, _ITEM_ENDS)

    # --- Functions -----------------------------------------------------------------------------------------

    def _function(self) -> FunctionDeclaration:
        start = self.starts[self.at]
        keyword = self.kinds[self.at]
        self.open_block(keyword)
        name = self.name(f"the name of the {keyword}")
        self.expect("(", f"after the name of the {keyword}")
        formals = self._formals()
        self.expect(")", "after the parameters")
        result = self.type_expression() if self.accept(":") else None
        self.skip_semicolons()
        declarations: list[Declaration] = []
        self.declarations(declarations)
        self.accept("begin")
        body = self.statements()
        self.close_block()
        return FunctionDeclaration(self.span_from(start), name, formals, result, declarations, body)

    def _formals(self) -> list[FormalSyntax]:
        result: list[FormalSyntax] = []
        self.skip_semicolons()
        while self.kinds[self.at] != ")":
            start = self.starts[self.at]
            is_var = self.accept("var")
            names = self.names("the name of a parameter")
            self.expect(":", "or ',' after the name of this parameter")
            formal_type = self.type_expression()
            result.append(FormalSyntax(self.span_from(start), is_var, names, formal_type))
            if self.kinds[self.at] == "," and self.kinds[self.at + 1] != ")":
                self.fail_expected("';' or ')' after this parameter", "parameters are separated by semicolons")
            self.accept(",")
            self.skip_semicolons()
        return result

    # --- Rules ---------------------------------------------------------------------------------------------

    def _rules(self) -> list[RuleItem]:
        """Parses the rules inside a ruleset or alias, up to its end."""
        result: list[RuleItem] = []
        self.skip_semicolons()
        while self.kinds[self.at] not in CLOSING and not self.at_end_of_choose():
            start = self.at
            mark = self.mark()
            try:
                result.append(self._rule_item("a rule or 'end'"))
            except Abandoned:
                self.recover(mark)
                self.skip_construct(start, RULE_STARTS, _ITEM_ENDS)
            self.skip_semicolons()
        return result

    def at_contextual_item(self) -> bool:
        word = self.word()
        if word in _PROPERTY_KINDS:
            return self.at_property_word()
        follower = self.kinds[self.at + 1]
        if word == "choose":
            return follower == IDENTIFIER
        if word == "ltl":
            return follower == STRING
        return word in _UNSUPPORTED and follower == (IDENTIFIER if word != "pctl" else "[")

    def _rule_item(self, expected: str) -> RuleItem:
        start = self.starts[self.at]
        kind = self.kinds[self.at]
        if kind == IDENTIFIER and self.at_contextual_item():
            kind = self.word()
            if kind in _UNSUPPORTED:
                self._refuse(kind)
            if kind == "ltl":
                return self._ltl(start)
        if kind in _PROPERTY_KINDS:
            name, condition = self.property_parts()
            return PropertySyntax(self.span_from(start), _PROPERTY_KINDS[kind], name, condition)
        self.enter()
        match kind:
            case "rule":
                item: RuleItem = self._rule(start)
            case "startstate":
                item = self._startstate(start)
            case "ruleset" | "alias" | "choose":
                item = self._rule_block(kind, start)
            case _:
                self._fail_at_item(kind, expected)
        self.nesting -= 1
        return item

    def _ltl(self, start: int) -> LtlSyntax:
        """Parses ``ltl "name" : formula``, up to the semicolon or a word that no formula contains outside of braces."""
        self.at += 1
        name = self.optional_string()
        self.expect(":", "after the name of the formula")
        before, depth, quantifiers = self.at - 1, 0, 0
        while (kind := self.kinds[self.at]) != END_OF_FILE and (depth or quantifiers or kind not in _ITEM_ENDS):
            if not depth:
                quantifiers += (kind in ("forall", "exists")) - (kind in _QUANTIFIER_ENDS)
            depth += {"{": 1, "}": -1}.get(kind, 0)
            self.at += 1
        end = self.starts[self.at] if self.kinds[self.at] == ";" else self.ends[self.at - 1]
        formula = Span(self.source, self.ends[before], end)
        self.forgive(formula)
        return LtlSyntax(self.span_from(start), name, formula)

    def _refuse(self, word: str) -> NoReturn:
        message, hint = _UNSUPPORTED[word]
        self.report(message, self.token_span(self.at), hint)
        if word == "pctl":
            raise GivenUp  # the formula is the last construct of the text
        while self.kinds[self.at] not in (")", END_OF_FILE):
            self.at += 1
        raise Abandoned

    def _fail_at_item(self, kind: str, expected: str) -> NoReturn:
        if (kind in CLOSING or kind == "begin") and self.error_count:
            raise Abandoned  # an earlier mistake has swallowed what this closes or begins
        if self.open and kind in ("function", "procedure", *SECTION_STARTS):
            self.fail(f"'{kind}' cannot stand inside '{self.open[-1][0]}'", related=self.unclosed())
        hint = "there is one 'end' too many here or above" if kind in CLOSING else self.hint()
        if self.at >= 2 and self.kinds[self.at - 2] == "invariant" and self.kinds[self.at - 1] == IDENTIFIER:
            hint = hint or f'a name stands between quotes: invariant "{self.texts[self.at - 1]}" ...'
        self.fail_expected(expected, hint)

    def _rule_block(self, keyword: str, start: int) -> RuleItem:
        self.open_block(keyword)
        if keyword == "ruleset":
            quantifiers = self.quantifiers()
            self.expect_do("after the quantifiers of 'ruleset'")
            rules = self._rules()
            self.close_block()
            return RuleSet(self.span_from(start), quantifiers, rules)
        if keyword == "alias":
            bindings = self.alias_bindings()
            self.expect_do("after the aliases")
            rules = self._rules()
            self.close_block()
            return AliasRule(self.span_from(start), bindings, rules)
        name = self.name("the name of an index")
        self.expect(":", "after the name of the index")
        multiset = self.designator()
        self.expect_do("after the multiset of 'choose'")
        rules = self._rules()
        self.close_block()
        return ChooseRule(self.span_from(start), name, multiset, rules)

    def _rule(self, start: int) -> RuleSyntax:
        self.open_block("rule")
        priority, name, guard = self._rule_head()
        declarations, body = self._body()
        return RuleSyntax(self.span_from(start), name, priority, guard, declarations, body)

    def _rule_head(self) -> tuple[Expression | None, str, Expression | None]:
        """Parses ``[priority] ["name"] [guard ==>]``. The token after an expression tells a priority from a guard."""
        name = self.title("rule")
        named = self.at
        guard = self._guard_expression()
        if guard is None:
            return None, name, None
        if self.accept("==>"):
            return None, name, guard
        is_number = self.kinds[named] in ("integer", "-", "+")
        if not name and (self.kinds[self.at] == STRING or (is_number and self.at <= named + 2)):
            priority = guard
            name = self.optional_string()
            guard = self._guard_expression()
            if guard is None or self.accept("==>"):
                return priority, name, guard
        if self.kinds[self.at] in (":=", ";"):
            hint = "a rule without a guard needs 'begin' before its statements"
            return self.fail_expected("'==>' after the guard", hint)
        hint = self.hint()
        if not name and self.kinds[named : self.at] == [IDENTIFIER] and self.kinds[self.at] in EXPRESSION_STARTS:
            hint = hint or f'a name stands between quotes: rule "{self.texts[named]}" ...'
        return self.fail_expected("'==>' after the guard", hint)

    def _guard_expression(self) -> Expression | None:
        if self.kinds[self.at] not in EXPRESSION_STARTS:
            return None
        is_property = self.word() in _PROPERTY_KINDS and self.at_property_word()
        if is_property and self.kinds[self.at + 1] not in ("-", "+"):
            return None
        return self.expression()

    def _startstate(self, start: int) -> StartStateSyntax:
        self.open_block("startstate")
        name = self.title("startstate")
        declarations, body = self._body()
        return StartStateSyntax(self.span_from(start), name, declarations, body)

    def _body(self) -> tuple[list[Declaration], list[Statement]]:
        """Parses ``[declarations begin] statements end``."""
        declarations: list[Declaration] = []
        declared = self.kinds[self.at] in SECTION_STARTS
        self.declarations(declarations)
        if not self.accept("begin") and declared:
            self.fail_expected("'begin' after the declarations")
        body = self.statements()
        self.close_block()
        return declarations, body
