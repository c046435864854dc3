"""Parses Promela expressions, with C's precedence, and formulas of temporal logic, which contain them."""

from __future__ import annotations

from outcrop.lang.promela.cursor import Cursor
from outcrop.lang.promela.lexer import CHARACTER, NAME, NUMBER
from outcrop.lang.promela.syntax import (
    Binary,
    ChannelTest,
    Conditional,
    Enabled,
    Evaluated,
    Expression,
    Number,
    Poll,
    Priority,
    Progress,
    Reference,
    RemoteLabel,
    RemoteVariable,
    Run,
    Timeout,
    Unary,
)

_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">=", ">"),
    ("<<", ">>"),
    ("-", "+"),
    ("*", "/", "%"),
)
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_CHANNEL_TESTS = ("len", "empty", "nempty", "full", "nfull")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "f": 12}
#: Spellings of temporal operators.
UNARY_TEMPORAL = {"[]": "G", "always": "G", "<>": "F", "eventually": "F", "X": "X", "next": "X"}
_BINARY_TEMPORAL = {
    "U": "U",
    "until": "U",
    "stronguntil": "U",
    "W": "W",
    "weakuntil": "W",
    "V": "R",
    "release": "R",
}
_IMPLIES = {"->": "->", "implies": "->", "<->": "<->", "equivalent": "<->"}
_FORMULA_WORDS = frozenset((*UNARY_TEMPORAL, *_BINARY_TEMPORAL, *_IMPLIES, "&&", "||"))


class ExpressionParser(Cursor):
    def expression(self, loosest: int = 0) -> Expression:
        """Reads an expression whose binary operators all have the level ``loosest`` or bind tighter."""
        start = self.at
        self.enter()
        left = self._operand()
        while (level := _LEVEL.get(self.kind, -1)) >= loosest and not (self.kind == "-" and self.begins_statement()):
            operator = self.take().kind
            right = self.expression(level + 1)
            left = Binary(operator, left, right, span=self.span_from(start))
        self.nesting -= 1
        return left

    def _operand(self) -> Expression:
        start, kind = self.at, self.kind
        if kind in ("!", "~", "-", "+"):
            self.take()
            return Unary(kind, self._operand(), span=self.span_from(start))
        if kind == "!!":
            self.take()
            inner = Unary("!", self._operand(), span=self.span_from(start))
            return Unary("!", inner, span=self.span_from(start))
        if kind == "(":
            return self._parenthesised()
        if kind in (NUMBER, CHARACTER, "true", "false", "skip"):
            return self._number()
        if kind in _CHANNEL_TESTS:
            return self._channel_test()
        if kind == "run":
            self.take()
            proctype = self.name("a proctype after 'run'")
            self.expect("(", "after the proctype")
            arguments = self._arguments()
            return Run(proctype, arguments, self.priority(), span=self.span_from(start))
        if kind == "timeout":
            self.take()
            return Timeout(span=self.span_from(start))
        if kind == "enabled":
            self.take()
            self.expect("(", "after 'enabled'")
            process = self.expression()
            self.expect(")", "after the process")
            return Enabled(process, span=self.span_from(start))
        if kind == "get_priority":
            self.take()
            self.expect("(", "after 'get_priority'")
            process = self.expression()
            self.expect(")", "after the process")
            return Priority(process, span=self.span_from(start))
        if kind == "pc_value":
            self.fail("'pc_value' is not supported", "ask for a label instead: P[pid]@label")
        if kind == "c_expr":
            self.fail("'c_expr' is not supported: it is C, not Promela", "write the condition in Promela itself")
        if kind == NAME:
            return self._named()
        return self.fail_expected("an expression")

    def priority(self) -> int:
        """Reads ``priority N``, where it stands."""
        if not self.accept("priority"):
            return 1
        start = self.at
        value = self._number().value if self.kind == NUMBER else self.fail_expected("the number of a priority")
        if not 1 <= value <= 255:
            self.report(f"a priority is from 1 to 255, not {value}", self.span_from(start))
        return value

    def _parenthesised(self) -> Expression:
        start = self.at
        self.take()
        inner = self.expression()
        if self.accept("->"):
            then = self.expression()
            self.expect(":", "between the values of a conditional expression")
            otherwise = self.expression()
            inner = Conditional(inner, then, otherwise, span=self.span_from(start))
        self.expect(")", "after an expression in parentheses")
        return inner

    def _number(self) -> Number:
        start = self.at
        token = self.take()
        if token.kind == NUMBER:
            value = int(token.text, 0) if token.text[:2] in ("0x", "0X") else int(token.text)
            if value >= 2**32:
                self.report("this number does not fit into 32 bits", token.span, "use a smaller one")
        elif token.kind == CHARACTER:
            value = ord(token.text[1]) if token.text[1] != "\\" else _ESCAPES.get(token.text[2], ord(token.text[2]))
        else:
            value = int(token.kind != "false")
        return Number(value, span=self.span_from(start))

    def _channel_test(self) -> Expression:
        start = self.at
        word = self.take().kind
        self.expect("(", f"after '{word}'")
        channel = self.reference("a channel")
        self.expect(")", "after the channel")
        return ChannelTest(word, channel, span=self.span_from(start))

    def _named(self) -> Expression:
        start = self.at
        if self.text == "np_":
            self.take()
            return Progress(span=self.span_from(start))
        reference = self.reference("a name")
        if self.kind == "@" or (self.kind == ":" and self.ahead() == NAME and self._is_remote()):
            return self._remote(start, reference)
        if self.kind in ("?", "??") and self.ahead() == "[":
            is_random = self.take().kind == "??"
            self.take()
            arguments = self.receive_arguments()
            self.expect("]", "after the arguments of a poll")
            return Poll(reference, arguments, is_random, span=self.span_from(start))
        return reference

    remote_labels: list[tuple[str, str]]
    #: Proctypes that are known so far, and those that may follow: what ``P:x`` and ``P[1]:x`` may begin with.
    proctype_names: frozenset[str] = frozenset()

    def _is_remote(self) -> bool:
        at = self.at - 1
        depth = 0
        while at >= 0:
            kind = self.tokens[at].kind
            depth += (kind == "]") - (kind == "[")
            if kind == NAME and depth == 0:
                return self.tokens[at].text in self.proctype_names
            at -= 1
        return False

    def _remote(self, start: int, reference: Reference) -> Expression:
        if reference.next is not None:
            self.fail("a process has no fields", "write P[pid]@label or P[pid]:variable")
        if self.take().kind == "@":
            label = self.name("a label after '@'")
            self.remote_labels.append((reference.name.text, label.text))
            return RemoteLabel(reference.name, reference.index, label, span=self.span_from(start))
        variable = self.reference("a variable after ':'")
        return RemoteVariable(reference.name, reference.index, variable, span=self.span_from(start))

    def reference(self, what: str) -> Reference:
        """Reads what can be assigned."""
        start = self.at
        name = self.name(what)
        index = None
        if self.accept("["):
            index = self.expression()
            self.expect("]", "after the index")
        rest = None
        if self.accept("."):
            rest = self.reference("a field after '.'")
        return Reference(name, index, rest, span=self.span_from(start))

    def _arguments(self) -> tuple[Expression, ...]:
        """Reads arguments up to the closing parenthesis."""
        arguments: list[Expression] = []
        while self.kind != ")":
            arguments.append(self.expression())
            if not self.accept(","):
                break
        self.expect(")", "after the arguments")
        return tuple(arguments)

    # --- Messages ----------------------------------------------------------------------------------------------

    def send_arguments(self) -> tuple[Expression, ...]:
        """Reads ``a, b`` or ``a(b)``."""
        first = self.expression()
        if self.kind == "(" and not self.begins_statement():
            self.take()
            return (first, *self._arguments())
        arguments = [first]
        while self.accept(","):
            arguments.append(self.expression())
        return tuple(arguments)

    def receive_arguments(self) -> tuple[Expression, ...]:
        """Reads ``a, b``, ``a(b)`` or ``(a, b)``, where each may be ``eval(expression)``."""
        if self.accept("("):
            inner = self.receive_arguments()
            self.expect(")", "after the arguments")
            return inner
        first = self._received()
        rest: tuple[Expression, ...] = ()
        if self.accept(",") or (self.kind == "(" and not self.begins_statement()):
            rest = self.receive_arguments()
        return (first, *rest)

    def _received(self) -> Expression:
        start = self.at
        if self.accept("eval"):
            self.expect("(", "after 'eval'")
            operand = self.expression()
            self.expect(")", "after the expression")
            return Evaluated(operand, span=self.span_from(start))
        if self.kind == NAME:
            return self.reference("a variable")
        if self.kind in ("-", NUMBER, CHARACTER, "true", "false"):
            return self._operand()
        return self.fail_expected("a variable or a constant to receive")

    # --- Formulas ----------------------------------------------------------------------------------------------

    def formula(self) -> Expression:
        """Reads a formula of temporal logic: a tree of expressions with operators ``G F X U W R -> <->`` in it. As in
        SPIN, all binary operators associate to the left."""
        start = self.at
        left = self._formula_or()
        while self.text in _IMPLIES:
            operator = _IMPLIES[self.take().text]
            left = Binary(operator, left, self._formula_or(), span=self.span_from(start))
        return left

    def _formula_or(self) -> Expression:
        start = self.at
        left = self._formula_and()
        while self.kind == "||" or self.text == "or":
            self.take()
            left = Binary("||", left, self._formula_and(), span=self.span_from(start))
        return left

    def _formula_and(self) -> Expression:
        start = self.at
        left = self._formula_until()
        while self.kind == "&&" or self.text == "and":
            self.take()
            left = Binary("&&", left, self._formula_until(), span=self.span_from(start))
        return left

    def _formula_until(self) -> Expression:
        start = self.at
        left = self._formula_unary()
        while self.kind == NAME and self.text in _BINARY_TEMPORAL:
            operator = _BINARY_TEMPORAL[self.take().text]
            left = Binary(operator, left, self._formula_unary(), span=self.span_from(start))
        return left

    def _formula_unary(self) -> Expression:
        start = self.at
        self.enter()
        try:
            if self.text in UNARY_TEMPORAL:
                operator = UNARY_TEMPORAL[self.take().text]
                operand = self._formula_unary()
                self._warn_of_comparison(start, operand)
                return Unary(operator, operand, span=self.span_from(start))
            if self.kind == "!" and self._negates_formula():
                self.take()
                return Unary("!", self._formula_unary(), span=self.span_from(start))
            if self.kind == "(" and self._holds_formula(self.at):
                self.take()
                inner = self.formula()
                self.expect(")", "after a formula in parentheses")
                return inner
            return self.expression(_LEVEL["|"])
        finally:
            self.nesting -= 1

    def _warn_of_comparison(self, start: int, operand: Expression) -> None:
        """Warns of ``[] x == 1``, where ``operand`` is ``x == 1``: SPIN checks another formula, ``([] x) == 1``."""
        if isinstance(operand, Binary) and operand.operator in _LEVEL and self._closing(start + 1) != self.at - 1:
            word, text = self.tokens[start].text, operand.span.text
            message = f"'{word}' is about all of '{text}', but SPIN needs parentheses here and checks something else"
            self.warn(message, self.span_from(start), f"write {word} ({text})")

    def _closing(self, at: int) -> int:
        """Returns where the parentheses are closed that open there; the place itself if none do."""
        depth = 0
        for place in range(at, len(self.tokens)):
            depth += (self.tokens[place].kind == "(") - (self.tokens[place].kind == ")")
            if not depth:
                return place
        return at

    def _negates_formula(self) -> bool:
        """Returns whether a formula follows the ``!`` here, and not an operand as in the expression ``!x == 1``."""
        at = self.at
        while self.tokens[at].kind == "!":
            at += 1
        return self.tokens[at].text in UNARY_TEMPORAL or (self.tokens[at].kind == "(" and self._holds_formula(at))

    def _holds_formula(self, at: int) -> bool:
        """Returns whether the parentheses that open there hold a formula, and no operator of an expression follows."""
        depth, holds = 0, False
        arrows: set[int] = set()  # depths of arrows that may still belong to a conditional expression
        while at < len(self.tokens) - 1:
            token = self.tokens[at]
            if token.kind == ")":
                holds = holds or depth in arrows
                arrows.discard(depth)
            depth += (token.kind == "(") - (token.kind == ")")
            if token.text == "->" and depth > 1:
                arrows.add(depth)
            elif token.kind == ":":
                arrows.discard(depth)
            else:
                holds = holds or token.text in _FORMULA_WORDS
            at += 1
            if depth == 0:
                break
        return holds and _LEVEL.get(self.tokens[at].kind, -1) < _LEVEL["|"]
