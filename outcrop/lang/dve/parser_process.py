"""The parser of DVE declarations and processes."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.lang.cursor import Abandoned
from outcrop.lang.dve.lexer import IDENTIFIER
from outcrop.lang.dve.parser_expressions import ExpressionParser
from outcrop.lang.dve.syntax import (
    Assertion,
    Assignment,
    ChannelDeclaration,
    Declaration,
    Expression,
    Name,
    Process,
    Sync,
    Transition,
    VariableDeclaration,
)

_SECTIONS = frozenset(("state", "init", "commit", "accept", "assert", "trans"))
_SECTION_ENDS = _SECTIONS | {";", "byte", "int", "const", "channel"}
_TRANSITION_ENDS = _SECTIONS | {",", ";"}
#: Acceptance conditions other than Büchi's, which are not supported.
_FOREIGN_ACCEPTANCE = ("genbuchi", "muller", "rabin", "fair")
_PARTS = ("guard", "sync", "effect")


@dataclass
class _Sections:
    declarations: list[Declaration] = field(default_factory=list)
    states: list[Name] = field(default_factory=list)
    initial: list[Name] = field(default_factory=list)
    committed: list[Name] = field(default_factory=list)
    accepting: list[Name] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)


class ProcessParser(ExpressionParser):
    # --- Declarations --------------------------------------------------------------------------------------

    def at_declaration(self) -> bool:
        if self.kind in ("const", "byte", "int", "channel"):
            return True
        return self.word == "input" and self.next_kind in ("byte", "int")

    def declaration(self) -> list[Declaration]:
        """Parses one declaration, which may declare several names."""
        if self.kind == "channel":
            return self._channels()
        is_input = self.word == "input"
        is_constant = is_input or self.kind == "const"
        if is_constant:
            self.at += 1
        if self.kind not in ("byte", "int"):
            self.fail_expected("'byte' or 'int' after 'const'")
        is_byte = self.kind == "byte"
        self.at += 1
        found: list[Declaration] = [self._variable(is_byte, is_constant, is_input)]
        while self.accept(","):
            found.append(self._variable(is_byte, is_constant, is_input))
        self.expect(";", "after a declaration")
        return found

    def _variable(self, is_byte: bool, is_constant: bool, is_input: bool) -> VariableDeclaration:
        start = self.at
        name = self.name("the name of a variable")
        size = self._size("the number of elements")
        if self.kind == "[":
            self.fail("arrays have one dimension only", "compute one index, as in a[row * WIDTH + column]")
        initial: Expression | tuple[Expression, ...] | None = None
        if self.accept("="):
            initial = self._listed() if self.kind == "{" else self.expression()
        return VariableDeclaration(name, is_byte, is_constant, is_input, size, initial, self.span_from(start))

    def _size(self, what: str) -> Expression | None:
        if not self.accept("["):
            return None
        size = self.expression()
        self.expect("]", f"after {what}")
        return size

    def _listed(self) -> tuple[Expression, ...]:
        """Parses ``{a, b, c}``; the list may be empty."""
        self.expect("{", "before a list of values")
        values: list[Expression] = []
        while self.kind != "}":
            values.append(self.expression())
            if not self.accept(","):
                break
        self.expect("}", "after a list of values")
        return tuple(values)

    def _channels(self) -> list[Declaration]:
        self.at += 1
        items = None
        if self.accept("{"):
            items = self._item_types()
        found: list[Declaration] = []
        while True:
            start = self.at
            name = self.name("the name of a channel")
            capacity = self._size("the capacity of the channel")
            found.append(ChannelDeclaration(name, items, capacity, self.span_from(start)))
            if not self.accept(","):
                break
        self.expect(";", "after a channel declaration")
        return found

    def _item_types(self) -> tuple[bool, ...]:
        items: list[bool] = []
        while self.kind in ("byte", "int"):
            items.append(self.kind == "byte")
            self.at += 1
            if not self.accept(","):
                break
        self.expect("}", "after the types of a channel's items")
        return tuple(items)

    # --- Processes -----------------------------------------------------------------------------------------

    def process(self, is_property: bool) -> Process:
        self.at += 1
        name = self.name("the name of the process")
        if self.kind == "(":
            hint = "write one process for each instance"
            self.fail("process templates of DiVinE 3 are not supported", hint)
        self.expect("{", f"after 'process {name.text}'")
        sections = _Sections()
        while self.kind != "}":
            start = self.at
            try:
                self._section(sections)
            except Abandoned:
                kind = self.skip(start, _SECTION_ENDS)
                if kind == ";":
                    self.at += 1
                elif kind in ("process", "system"):
                    break
        else:
            self.at += 1
        return Process(
            name,
            is_property,
            tuple(sections.declarations),
            tuple(sections.states),
            tuple(sections.initial),
            tuple(sections.committed),
            tuple(sections.accepting),
            tuple(sections.assertions),
            tuple(sections.transitions),
        )

    def _section(self, sections: _Sections) -> None:
        kind = self.kind
        if self.at_declaration():
            sections.declarations += self.declaration()
        elif kind == "trans":
            self._transitions(sections.transitions)
        elif kind == "accept":
            sections.accepting += self._accepting()
        elif kind == "assert":
            self.at += 1
            sections.assertions.append(self._assertion())
            while self.accept(","):
                sections.assertions.append(self._assertion())
            self.expect(";", "after the assertions")
        elif kind in ("state", "init", "commit"):
            self.at += 1
            target = {"state": sections.states, "init": sections.initial, "commit": sections.committed}[kind]
            target += self.names("the name of a state")
            self.expect(";", f"after the states of '{kind}'")
        elif kind == ";":
            self.at += 1
        else:
            self.fail_expected("a declaration, 'state', 'init', 'commit', 'accept', 'assert', 'trans' or '}'")

    def _accepting(self) -> list[Name]:
        self.at += 1
        if self.kind in _FOREIGN_ACCEPTANCE:
            self.fail(f"acceptance by '{self.kind}' is not supported", "write the property as a Büchi automaton")
        self.accept("buchi")
        parenthesis = self.accept("(")
        names = self.names("the name of a state")
        if parenthesis:
            self.expect(")", "after the accepting states")
        self.expect(";", "after the accepting states")
        return names

    def _assertion(self) -> Assertion:
        start = self.at
        state = self.name("the name of a state")
        self.expect(":", "between the state and the assertion")
        condition = self.expression()
        return Assertion(state, condition, self.span_from(start))

    # --- Transitions ---------------------------------------------------------------------------------------

    def _transitions(self, found: list[Transition]) -> None:
        self.at += 1
        source: Name | None = None
        while self.kind in (IDENTIFIER, "->"):
            start = self.at
            try:
                transition = self._transition(source)
                source = transition.source
                found.append(transition)
                if self.accept(",") or self.kind in (IDENTIFIER, "->"):  # DiVinE 3 needs no comma
                    continue
            except Abandoned:
                if self.texts[start] and self.kinds[start] == IDENTIFIER:
                    source = Name(self.texts[start], self.here())
                if self.skip(start, _TRANSITION_ENDS) == ",":
                    self.at += 1
                    continue
            if not self._at_semicolon_inside():
                break
        if not self.accept(";") and self.kind != "}":
            self.fail_expected("',' and another transition, or ';'")

    def _at_semicolon_inside(self) -> bool:
        """Reports and takes a semicolon that is followed by another transition. Returns whether there was one."""
        if self.kind != ";" or "->" not in self.kinds[self.at + 1 : self.at + 3]:
            return False
        self.report("expected ',' between two transitions, found ';'", self.here(), "';' ends the list of transitions")
        self.at += 1
        return True

    def _transition(self, source: Name | None) -> Transition:
        start = self.at
        if self.kind == IDENTIFIER:
            source = self.name("a state")
        elif source is None:
            self.fail("the first transition must name the state it leaves", "write idle -> busy { ... }")
        if self.kind == "=>":
            self.fail("probabilistic transitions are not supported", "write one transition with '->' for each outcome")
        self.expect("->", f"after state '{source.text}'")
        target = self.name("the state that the transition enters")
        span = self.span_from(start)
        self.expect("{", "before the guard, sync and effect of a transition")
        guards: list[Expression] = []
        sync = None
        effects: list[Assignment] = []
        if self.accept("guard"):
            guards.append(self.expression())
            while self.accept(","):
                guards.append(self.expression())
            self.expect(";", "after the guard")
        if self.accept("sync"):
            sync = self._sync()
            self.expect(";", "after the synchronisation")
        if self.accept("effect"):
            effects.append(self._assignment())
            while self.accept(","):
                effects.append(self._assignment())
            self.expect(";", "after the effect")
        if self.kind in _PARTS:
            hint = "the parts of a transition come in the order guard, sync, effect, each at most once"
            self.fail(f"'{self.kind}' is not allowed here", hint)
        self.expect("}", "at the end of the transition")
        return Transition(source, target, tuple(guards), sync, tuple(effects), span)

    def _assignment(self) -> Assignment:
        start = self.at
        target = self.reference("a variable to assign")
        if self.kind == "==":
            self.fail("expected '=' in an effect, found '=='", "an effect assigns: x = 1")
        self.expect("=", "in an effect")
        value = self.expression()
        return Assignment(target, value, self.span_from(start))

    def _sync(self) -> Sync:
        start = self.at
        process, channel = None, self.name("the name of a channel")
        if self.accept("->"):
            process, channel = channel, self.name(f"a channel of process '{channel.text}' after '->'")
        if self.kind not in ("!", "?"):
            self.fail_expected(f"'!' or '?' after channel '{channel.text}'")
        is_send = self.kind == "!"
        self.at += 1
        values: tuple[Expression, ...] = ()
        if self.kind == "{":
            values = self._listed() if is_send else self._received()
        elif self.kind != ";":
            values = (self.expression() if is_send else self.reference("the variable that receives the value"),)
        return Sync(process, channel, is_send, values, self.span_from(start))

    def _received(self) -> tuple[Expression, ...]:
        self.at += 1
        targets = [self.reference("the variable that receives the value")]
        while self.accept(","):
            targets.append(self.reference("the variable that receives the value"))
        self.expect("}", "after the variables that receive values")
        return tuple(targets)
