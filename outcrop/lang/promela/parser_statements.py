"""Parses Promela declarations and statements. Inline calls are replaced by their bodies, token by token."""

from __future__ import annotations

from dataclasses import dataclass, replace

from outcrop.lang.promela import hints
from outcrop.lang.promela.lexer import END_OF_FILE, NAME, NUMBER, STRING, Token
from outcrop.lang.promela.parser_loops import LoopParser
from outcrop.lang.promela.syntax import (
    Assertion,
    Assignment,
    Binary,
    Block,
    Break,
    ChannelValue,
    Choice,
    Declaration,
    Declarator,
    Else,
    Exclusive,
    Expression,
    Goto,
    Labelled,
    LocalDeclaration,
    Name,
    Number,
    Print,
    Receive,
    Reference,
    Run,
    Send,
    SetPriority,
    Statement,
    Test,
    Unless,
    walk,
)

TYPES = frozenset(("bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan"))
_SEPARATORS = frozenset((";", "->"))
_ENDS = frozenset(("::", "fi", "od", "}", END_OF_FILE))
#: Inline calls inside each other.
_MAX_INLINE = 60


@dataclass(frozen=True)
class Inline:
    parameters: tuple[str, ...]
    body: tuple[Token, ...]


class StatementParser(LoopParser):
    inlines: dict[str, Inline]
    typedefs: set[str]
    declared_proctypes: set[str]  #: those whose text has begun
    _result: Reference | None = None  #: the variable that takes the value of the inline which is being read

    def ltl(self) -> None:
        """Reads a formula, which can also stand inside a proctype."""
        raise NotImplementedError

    # --- Declarations ------------------------------------------------------------------------------------------

    def at_declaration(self) -> bool:
        if self.kind in ("hidden", "show", "local"):
            return True
        return self.kind in TYPES or (self.kind == NAME and self.text in self.typedefs)

    def declaration(self) -> Declaration:
        start = self.at
        while self.kind in ("hidden", "show", "local"):
            self.take()
        token = self.take()
        if token.kind not in TYPES and token.text not in self.typedefs:
            self.at -= 1
            self.fail_expected("a type")
        kind = self._type_name(token)
        declarators = [self._declarator(kind)]
        while self.accept(","):
            if self.at_declaration():
                self.fail_expected("the name of another variable", "separate declarations by ';'")
            declarators.append(self._declarator(kind))
        return Declaration(kind, tuple(declarators), self.span_from(start))

    def _type_name(self, token: Token) -> Name:
        """Returns the name of a type that begins with a token: ``mtype:fruit`` for a named mtype."""
        is_named = token.kind == "mtype" and self.accept(":")
        return Name(f"mtype:{self.name('the name of the mtype').text}" if is_named else token.text, token.span)

    def _declarator(self, kind: Name) -> Declarator:
        name = self.name("the name of a variable")
        size = bits = None
        if self.accept(":"):
            bits = self._number_of("bits")
        if self.accept("["):
            size = self.expression()
            self.expect("]", "after the number of elements")
        if kind.text == "chan":
            self.channels[name.text] = size is not None
        initial: Expression | ChannelValue | tuple[Expression, ...] | None = None
        if self.accept("="):
            if kind.text == "chan" and self.kind == "[":
                initial = self._channel_value()
            elif self.kind == "{":
                initial = self._values()
            else:
                initial = self.expression()
            for run in [each for each in walk(initial) if isinstance(each, Run)]:
                hint = f"declare '{name.text}' first, and store the number: {name.text} = run {run.proctype.text}(...)"
                self.fail("'run' cannot stand in an initial value", hint, run.span)
        return Declarator(name, size, bits, initial)

    def _number_of(self, what: str) -> Expression:
        if self.kind not in (NUMBER, NAME, "("):
            self.fail_expected(f"the number of {what}")
        return self._operand()

    def _values(self) -> tuple[Expression, ...]:
        self.take()
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.expect("}", "after the values")
        return tuple(values)

    def _channel_value(self) -> ChannelValue:
        start = self.at
        self.take()
        capacity = self.expression()
        self.expect("]", "after the capacity of the channel")
        self.expect("of", "after the capacity of the channel", hints.CHANNEL)
        self.expect("{", "before the types of a message", hints.CHANNEL)
        types: list[Name] = []
        while self.kind != "}":
            token = self.take()
            if token.kind not in TYPES and token.text not in self.typedefs:
                self.at -= 1
                self.fail_expected("a type")
            types.append(self._type_name(token))
            if not self.accept(","):
                break
        self.expect("}", "after the types of a message")
        return ChannelValue(capacity, tuple(types), self.span_from(start))

    # --- Statements --------------------------------------------------------------------------------------------

    def block(self, where: str, kind: str = "") -> Block:
        start = self.at
        self.expect("{", where)
        steps = self.sequence()
        self.expect_end("}", "at the end of the block", "the block begins here", start)
        return Block(steps, kind, span=self.span_from(start))

    def sequence(self) -> tuple[Statement, ...]:
        steps: list[Statement] = []
        while True:
            is_separated = not steps or self.kind in _SEPARATORS or self.follows_separated()
            while self.kind in _SEPARATORS:
                self.take()
            if self.kind in _ENDS:
                return tuple(steps)
            if not is_separated:
                before = self.tokens[self.at - 1]
                is_call = before.kind == NAME and self.kind == "(" and before.text not in hints.WORDS
                hint = f"no inline '{before.text}' is defined above" if is_call else ""
                self.fail_expected("';' or '->' before the next statement", hint)
            if self.kind == "ltl":
                self.ltl()
                continue
            steps.append(self.step())

    def follows_separated(self) -> bool:
        """Returns whether a statement may begin without a separator: behind a brace or ``else``, and on a line of its
        own."""
        before, here = self.tokens[self.at - 1], self.tokens[self.at]
        return before.kind in ("}", "else") or self.begins_line() or bool(before.hidden or here.hidden)

    def step(self) -> Statement:
        start = self.at
        if self.kind in ("xr", "xs"):
            word = self.take().kind
            channels = [self.reference("a channel")]
            while self.accept(","):
                channels.append(self.reference("a channel"))
            return Exclusive(word, tuple(channels), span=self.span_from(start))
        if self.at_declaration():
            return LocalDeclaration(self.declaration(), span=self.span_from(start))
        statement = self.statement()
        if self.accept("unless"):
            return Unless(statement, self.statement(), span=self.span_from(start))
        return statement

    def statement(self) -> Statement:
        self.enter()
        try:
            return self._statement()
        finally:
            self.nesting -= 1

    def _statement(self) -> Statement:
        start, kind = self.at, self.kind
        if kind == NAME and self.ahead() == ":" and self.text not in self.declared_proctypes:
            label = self.name("a label")
            self.take()
            if self.kind in _ENDS or self.kind in _SEPARATORS:  # a label with nothing to label stands for skip
                return Labelled(label, self._skip(start), span=self.span_from(start))
            if self.at_declaration():
                self.fail("a label cannot stand before a declaration", "write 'skip' behind the label")
            inner = self.statement()
            return Labelled(label, inner, span=self.span_from(start))
        if kind == NAME and self.at_call():
            return self._inlined(None)
        if kind == NAME and self.text == "return":
            return self._return()
        match kind:
            case "if" | "do":
                return self._choice()
            case "atomic" | "d_step":
                self.take()
                return self.block(f"after '{kind}'", kind)
            case "{":
                return self.block("")
            case "for":
                return self.for_loop()
            case "select":
                return self.select()
            case "else":
                self.take()
                return Else(span=self.span_from(start))
            case "goto":
                self.take()
                return Goto(self.name("a label after 'goto'"), span=self.span_from(start))
            case "break":
                self.take()
                return Break(span=self.span_from(start))
            case "assert":
                self.take()
                return Assertion(self.expression(), span=self.span_from(start))
            case "set_priority":
                return self._set_priority()
            case "printf" | "printm":
                return self._print()
            case "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr":
                self.fail(f"'{kind}' is not supported: it is C, not Promela", "write the step in Promela itself")
        return self._simple(start)

    def _skip(self, start: int) -> Test:
        span = self.span_from(start)
        return Test(Number(1, span=span), span=span)

    def _simple(self, start: int) -> Statement:
        """Reads an assignment, a send, a receive or an expression."""
        if self.kind == NAME:
            reference = self.reference("a name")
            following = self.kind
            if following == "!!" or (following == "!" and not self.begins_statement()):
                self.take()
                return Send(reference, self.send_arguments(), following == "!!", span=self.span_from(start))
            if following in ("?", "??") and self.ahead() != "[":
                self.take()
                keeps = self.accept("<")
                arguments = self.receive_arguments()
                if keeps:
                    self.expect(">", "after the arguments")
                return Receive(reference, arguments, following == "??", keeps, span=self.span_from(start))
            if following == "=":
                self.take()
                if self.at_call():
                    return self._inlined(reference)
                return Assignment(reference, self.expression(), span=self.span_from(start))
            if following in ("++", "--"):
                self.take()
                one = Number(1, span=reference.span)
                value = Binary(following[0], reference, one, span=self.span_from(start))
                return Assignment(reference, value, span=self.span_from(start))
            self.at = start
        expression = self.expression()
        return Test(expression, span=self.span_from(start))

    def _choice(self) -> Statement:
        start = self.at
        word = self.take().kind
        options: list[Block] = []
        while self.kind in _SEPARATORS:
            self.take()
        while self.accept("::"):
            at = self.at
            options.append(Block(self.sequence(), span=self.span_from(at)))
            if not options[-1].steps:
                self.fail_expected("a statement after '::'")
        if not options:
            self.fail_expected(f"'::' after '{word}'", hints.WORDS["while" if word == "do" else "then"])
        others = [each.steps[0] for each in options if isinstance(each.steps[0], Else)]
        if len(others) > 1:
            self.report("there are two options 'else'", others[1].span, "keep one of them")
        self.expect_end("od" if word == "do" else "fi", f"at the end of '{word}'", f"'{word}' stands here", start)
        return Choice(tuple(options), word == "do", span=self.span_from(start))

    def _set_priority(self) -> Statement:
        start = self.at
        self.take()
        self.expect("(", "after 'set_priority'")
        process = self.expression()
        self.expect(",", "between the process and its priority")
        value = self.expression()
        self.expect(")", "after the priority")
        return SetPriority(process, value, span=self.span_from(start))

    def _print(self) -> Statement:
        start = self.at
        word = self.take().kind
        self.expect("(", f"after '{word}'")
        text = "%e"
        if word == "printf":
            if self.kind != STRING:
                self.fail_expected("a text between quotes")
            text = self.take().text[1:-1]
            while self.kind == STRING:
                text += self.take().text[1:-1]
            self.accept(",")
        arguments = self._arguments()
        return Print(text, arguments, word == "printm", span=self.span_from(start))

    # --- What stands for other statements -------------------------------------------------------------------------

    def at_call(self) -> bool:
        return self.kind == NAME and self.text in self.inlines and self.ahead() == "("

    def _return(self) -> Statement:
        """Reads the result of an inline, which is stored like any value; what follows is executed as well."""
        start = self.at
        token = self.take()
        if self._result is None:
            hint = "write 'variable = name(...)' where the inline is called"
            self.fail("'return' stands outside of any inline whose value is stored", hint, token.span)
        return Assignment(self._result, self.expression(), span=self.span_from(start))

    def _inlined(self, result: Reference | None) -> Statement:
        """Replaces a call by the body of its inline, between braces, and reads that."""
        start = self.at
        token = self.take()
        inline = self.inlines[token.text]
        if len(token.hidden) > _MAX_INLINE or f"inline {token.text}" in token.hidden:
            self.fail(f"inline '{token.text}' calls itself", "an inline is a text, not a function", token.span)
        self.take()
        arguments: list[list[Token]] = [[]]
        depth = 0
        while not (self.kind == ")" and depth == 0):
            if self.kind == END_OF_FILE:
                self.fail_expected("')' after the arguments of the inline")
            each = self.take()
            if each.kind == "," and depth == 0:
                arguments.append([])
                continue
            depth += (each.kind in ("(", "[", "{")) - (each.kind in (")", "]", "}"))
            arguments[-1].append(each)
        self.take()
        if arguments == [[]]:
            arguments = []
        if len(arguments) != len(inline.parameters):
            count = len(inline.parameters)
            counts = f"{count} argument{'' if count == 1 else 's'}, not {len(arguments)}"
            self.fail(f"inline '{token.text}' takes {counts}", "", token.span)
        values = dict(zip(inline.parameters, arguments, strict=True))
        hidden = token.hidden | {f"inline {token.text}"}
        body = [
            replace(part, hidden=part.hidden | hidden)
            for each in inline.body
            for part in (
                [replace(part, parameter=each.span) for part in values[each.text]]
                if each.kind == NAME and each.text in values
                else [each]
            )
        ]
        opening, closing = replace(token, kind="{", text="{"), replace(token, kind="}", text="}")
        self.tokens[start : self.at] = [opening, *body, closing]
        self.at = start
        outer, self._result = self._result, result
        try:
            return self.block("")
        finally:
            self._result = outer
