"""The names of a Promela model, and what is wrong with their uses."""

from __future__ import annotations

from outcrop.ir.nodes import Expression
from outcrop.lang import build
from outcrop.lang.integers import IntegerLowering
from outcrop.lang.promela import syntax
from outcrop.lang.promela.scope import ChannelSymbol, ProctypeSymbol, Self, Symbol, VariableSymbol
from outcrop.lang.report import did_you_mean

#: What is to be said of names that the language gives a meaning, where they have none.
READ_ONLY = {
    "_": "a value that is stored in '_' is lost, and cannot be read",
    "_pid": "only a process can read its number, and nothing can change it",
    "_nr_pr": "the number of processes can only be read",
    "_last": "the process that moved last can only be read",
}


class NameLowering(IntegerLowering):
    def __init__(self) -> None:
        super().__init__()
        self.globals: dict[str, Symbol] = {}
        self.proctypes: dict[str, ProctypeSymbol] = {}
        self.process: Self | None = None  #: whose expressions are being lowered
        self.declaring: ProctypeSymbol | None = None  #: whose variables are being declared
        self.written: set[str] = set()  #: names that are assigned or received into

    @property
    def _own_names(self) -> dict[str, Symbol]:
        proctype = self.declaring if self.process is None else self.process.proctype
        return {} if proctype is None else proctype.names

    def known(self, name: syntax.Name) -> Symbol | None:
        """Returns what a name stands for; None if it is unknown."""
        return self._own_names.get(name.text) or self.globals.get(name.text)

    def lookup(self, name: syntax.Name) -> Symbol | None:
        """Returns what a name stands for; None, and an error reported, when it is unknown."""
        symbol = self.known(name)
        if symbol is None and name.text in READ_ONLY:
            self.report.error(f"'{name.text}' cannot be used here", name.span, READ_ONLY[name.text])
        elif symbol is None:
            hint = did_you_mean(name.text, (*self._own_names, *self.globals, "true", "false"))
            self.report.error(f"unknown name '{name.text}'", name.span, hint)
        return symbol

    def constant(self, node: syntax.Expression, what: str) -> int | None:
        """Returns the value of an expression that must be constant; None, and an error reported, if it is not."""
        for each in syntax.walk(node):
            if isinstance(each, syntax.Reference) and isinstance(self.known(each.name), VariableSymbol):
                message = f"{what} must be a constant, and '{each.name.text}' is a variable"
                self.report.error(message, node.span, f"write a number, or #define {each.name.text}")
                return None
        return super().constant(node, what)

    def miss_index(self, node: syntax.Reference) -> None:
        name = node.name.text
        self.report.error(f"'{name}' is an array, and an index is missing", node.span, f"name an element: {name}[0]")

    def channel_index(self, symbol: ChannelSymbol, node: syntax.Reference) -> Expression:
        """Returns the index of a channel within its declaration."""
        if symbol.size is None or node.index is None:
            if symbol.size is not None:
                self.miss_index(node)
            return build.number(0, node.span)
        return self.integer(node.index)
