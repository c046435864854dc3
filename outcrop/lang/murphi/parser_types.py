"""Parsing of types, quantifiers, and declarations of constants, types and variables."""

from __future__ import annotations

from typing import NoReturn

from outcrop.lang.cursor import Abandoned
from outcrop.lang.murphi.hints import TYPES
from outcrop.lang.murphi.lexer import IDENTIFIER, INTEGER, KEYWORDS
from outcrop.lang.murphi.parser_cursor import ITEM_STARTS, SECTION_STARTS
from outcrop.lang.murphi.parser_expressions import EXPRESSION_STARTS, ExpressionParser
from outcrop.lang.murphi.syntax import (
    AliasBinding,
    ArrayType,
    BinaryOperation,
    ConstDeclaration,
    Declaration,
    EnumType,
    Expression,
    Identifier,
    MultisetType,
    Name,
    QuantifierSyntax,
    RangeType,
    RealType,
    RecordType,
    ScalarsetType,
    StepQuantifier,
    TypeDeclaration,
    TypeExpression,
    TypeName,
    TypeQuantifier,
    UnionType,
    VarDeclaration,
)

_SECTION_ENDS = ITEM_STARTS | {"begin"}
_DECLARATION_ENDS = frozenset((";",))
_TYPE_HINTS = {
    "{": "an enumeration is written enum {A, B}",
    "(": "an enumeration is written enum {A, B}",
    "[": "a range is written 0..7, without brackets",
}
#: Tokens that may follow a type in other languages, with the Murphi form.
_DECLARATION_HINTS = {
    ":=": "a variable gets its first value in a startstate",
    "=": "a variable gets its first value in a startstate",
    "[": "an array is written array [0..7] of boolean",
}
_QUANTIFIER_HINTS = {
    "=": "write i := 0 to 3",
    ",": "each variable has its own type: i: T; j: T",
}
_STATEMENT_FOLLOWERS = frozenset((":=", "(", "[", "."))


#: Example of a declaration for each section.
_EXAMPLES = {"const": "3", "type": "0..7", "var": "0..7"}


class TypeParser(ExpressionParser):
    # --- Types ---------------------------------------------------------------------------------------------

    def type_expression(self) -> TypeExpression:
        self.enter()
        result = self._type_expression()
        self.nesting -= 1
        return result

    def _type_expression(self) -> TypeExpression:
        at = self.at
        start = self.starts[at]
        match self.kinds[at]:
            case "boolean":
                self.at = at + 1
                return TypeName(self.span_from(start), "boolean")
            case "enum":
                self.at = at + 1
                self.expect("{", "after 'enum'")
                members = self.names("the name of an enum member") if self.kinds[self.at] != "}" else []
                self.expect("}", "or ',' after this enum member")
                return EnumType(self.span_from(start), members)
            case "record":
                return self._record_type()
            case "array":
                self.at = at + 1
                self.expect("[", "after 'array'")
                index = self.type_expression()
                self.expect("]", "after the index type")
                self.expect("of", "before the element type")
                element = self.type_expression()
                return ArrayType(self.span_from(start), index, element)
            case "scalarset":
                self.at = at + 1
                self.expect("(", "after 'scalarset'")
                size = self.expression()
                self.expect(")", "after the size of the scalarset")
                return ScalarsetType(self.span_from(start), size)
            case "union":
                return self._union_type()
        follower = self.kinds[at + 1] if self.kinds[at] == IDENTIFIER else ""
        if follower == "[" and self.word() == "multiset":
            return self._multiset_type()
        if follower == "(" and self.word() == "real":
            return self._real_type()
        return self._range_or_name()

    def _range_or_name(self) -> TypeExpression:
        at = self.at
        if self.kinds[at] not in EXPRESSION_STARTS or self.kinds[at : at + 3] == ["(", IDENTIFIER, ","]:
            self.fail_expected("a type", _TYPE_HINTS.get(self.kinds[at], ""))
        start = self.starts[at]
        low = self.expression()
        if self.accept(".."):
            high = self.expression()
            return RangeType(self.span_from(start), low, high)
        if isinstance(low, Identifier) and self.at == at + 1:
            return TypeName(low.span, low.name)
        hint = "a range has two bounds, as in 0..7"
        if self.kinds[at + 1] == ".":
            hint = "'do' follows the type of a quantified variable: forall i: T do ... end"
        return self.fail_expected("'..' and the upper bound of a range", self.hint() or hint)

    def _record_type(self) -> RecordType:
        start = self.starts[self.at]
        self.open_block("record")
        fields: list[tuple[list[Name], TypeExpression]] = []
        self.skip_semicolons()
        while self.kinds[self.at] == IDENTIFIER:
            names = self.names("the name of a field")
            self.expect(":", "or ',' after the name of this field")
            fields.append((names, self.type_expression()))
            self.skip_semicolons()
        if self.kinds[self.at] == "{":
            self.fail_expected("the name of a field", "a record has no braces: record a: boolean; b: 0..7; end")
        self.close_block("the name of a field, 'end' or 'endrecord'")
        return RecordType(self.span_from(start), fields)

    def _union_type(self) -> UnionType:
        start = self.starts[self.at]
        self.at += 1
        self.expect("{", "after 'union'")
        members: list[TypeExpression] = []
        while self.kinds[self.at] != "}":
            members.append(self.type_expression())
            if not self.accept(","):
                break
        self.expect("}", "or ',' after this member of the union")
        return UnionType(self.span_from(start), members)

    def _multiset_type(self) -> MultisetType:
        start = self.starts[self.at]
        self.at += 2
        capacity = self.expression()
        self.expect("]", "after the capacity of the multiset")
        self.expect("of", "before the element type")
        element = self.type_expression()
        return MultisetType(self.span_from(start), capacity, element)

    def _real_type(self) -> RealType:
        start = self.starts[self.at]
        self.at += 2
        digits = self.expression()
        self.expect(",", "between the digits and the exponent of 'real'")
        exponent = self.expression()
        self.expect(")", "after the exponent of 'real'")
        return RealType(self.span_from(start), digits, exponent)

    # --- Quantifiers and aliases ---------------------------------------------------------------------------

    def quantifiers(self) -> list[QuantifierSyntax]:
        result = [self._quantifier()]
        while self.skip_semicolons() and self.kinds[self.at] not in ("do", ":"):
            result.append(self._quantifier())
        if self.kinds[self.at] == ",":
            self.fail_expected("';' or 'do' after this quantifier", "quantifiers are separated by ';': i: T; j: T")
        return result

    def _quantifier(self) -> QuantifierSyntax:
        start = self.starts[self.at]
        if self.kinds[self.at] == "(":
            self.fail_expected("the name of a quantified variable", "write i: 0..3 or i := 0 to 3, without parentheses")
        name = self.name("the name of a quantified variable")
        if self.accept(":"):
            bound_type = self.type_expression()
            return TypeQuantifier(self.span_from(start), name, bound_type)
        if not self.accept(":="):
            self.fail_expected("':' and a type, or ':=' and bounds", _QUANTIFIER_HINTS.get(self.kinds[self.at], ""))
        first = self.expression()
        if self.kinds[self.at] != "to":
            hint = "write i: 0..3, or i := 0 to 3" if self.kinds[self.at] == ".." else ""
            self.fail_expected("'to' before the last value", hint)
        self.at += 1
        last = self.expression()
        step = self.expression() if self.accept("by") else None
        return StepQuantifier(self.span_from(start), name, first, last, step)

    def alias_bindings(self) -> list[AliasBinding]:
        """Parses ``a : e; b, c : f`` up to ``do``; the list may be empty."""
        result: list[AliasBinding] = []
        while self.kinds[self.at] not in ("do", ":"):
            start = self.starts[self.at]
            names = self.names("the name of an alias")
            self.expect(":", "after the name of the alias")
            value = self.expression()
            span = self.span_from(start)
            result += [AliasBinding(span, name, value) for name in names]
            self.skip_semicolons()
        return result

    # --- Declarations --------------------------------------------------------------------------------------

    def declarations(self, into: list[Declaration]) -> None:
        """Parses all sections that start here."""
        while self.kinds[self.at] in SECTION_STARTS:
            section = self.kinds[self.at]
            self.at += 1
            self.skip_semicolons()
            while self._at_declaration():
                start = self.at
                mark = self.mark()
                try:
                    into.append(self._declaration(section))
                except Abandoned:
                    self.recover(mark)
                    self.skip_construct(start, _SECTION_ENDS, _DECLARATION_ENDS)
                self.skip_semicolons()

    def _at_declaration(self) -> bool:
        kind = self.kinds[self.at]
        if kind == IDENTIFIER:
            # In a function without ``begin`` statements follow, and anywhere rules that start with a contextual word.
            is_statement = self.kinds[self.at + 1] in _STATEMENT_FOLLOWERS and self.open
            return not is_statement and not self.at_contextual_item()
        # A reserved word in the place of a name is taken for a declaration, so that the message says so.
        is_name = kind in KEYWORDS and self.kinds[self.at + 1] in (":", ",")
        return kind == "boolean" or (is_name and self.kinds[self.at + 2] != "begin")

    def at_contextual_item(self) -> bool:
        raise NotImplementedError

    def _declaration(self, section: str) -> Declaration:
        start = self.starts[self.at]
        if self.kinds[self.at] == "boolean":
            self.fail("'boolean' is a type of the language and cannot be declared")
        names = self.names("a name")
        if not self.accept(":"):
            self._fail_at_declaration(section, names[-1].text)
        if section == "const":
            value = self.expression()
            return ConstDeclaration(self.span_from(start), names, value)
        declared = self.type_expression()
        if section == "type":
            return TypeDeclaration(self.span_from(start), names, declared)
        if self.kinds[self.at] in _DECLARATION_HINTS:
            self.fail_expected("';' after this type", _DECLARATION_HINTS[self.kinds[self.at]])
        if isinstance(declared, RangeType) and _is_equation(declared.high):
            self.report("a declaration cannot give a value", declared.high.span, _DECLARATION_HINTS["="])
        return VarDeclaration(self.span_from(start), names, declared)

    def _fail_at_declaration(self, section: str, name: str) -> NoReturn:
        hint = ""
        if self.kinds[self.at] in ("=", ":=", INTEGER):
            meaning = {"const": "value", "type": "meaning", "var": "type"}[section]
            hint = f"a name and its {meaning} are separated by ':', as in {section} {name}: {_EXAMPLES[section]}"
        elif self.kinds[self.at] == IDENTIFIER and name.lower() in TYPES:
            hint = f"the name comes first, as in {section} {self.texts[self.at]}: 0..7"
        self.fail_expected("':' or ',' after this name", hint)


def _is_equation(bound: Expression) -> bool:
    return isinstance(bound, BinaryOperation) and bound.operator == "="
