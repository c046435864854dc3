"""Checks the claims ``xr`` and ``xs``: that no other process receives from a channel, or sends to it.

A claim is about one channel as long as its process exists; that of a process which exists from the start, in the whole
run. A process that makes a claim checks at its beginning that nobody else has it, and may use the channel from then on.
A statement of any other process that uses the channel has a check of its own. Where channels and processes are known
from the text, there is no check, or one that always fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outcrop.ir.nodes import BinaryOperator, Constant, Error, Expression, If, Statement
from outcrop.ir.types import BOOLEAN
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.language import PromelaOptions
from outcrop.lang.promela.priorities import PriorityLowering
from outcrop.lang.promela.scope import ChannelSymbol, ProctypeSymbol, Self, VariableSymbol
from outcrop.lang.report import did_you_mean
from outcrop.source import Span

#: Claims that a test of a channel touches, as in SPIN. Polls touch both.
_TESTED = {"nempty": ("xr",), "nfull": ("xs",)}
_BOTH = ("xr", "xs")
#: Processes of a proctype that get a test each.
_MOST_UNROLLED = 8


@dataclass(frozen=True)
class Claim:
    """A claim ``xr`` or ``xs`` about one channel. ``span``: the whole declaration."""

    word: str
    proctype: ProctypeSymbol
    channel: syntax.Reference
    span: Span

    @property
    def is_own_variable(self) -> bool:
        """Whether a parameter or variable of the process has the number of the channel."""
        return isinstance(self.proctype.names.get(self.channel.name.text), VariableSymbol)


@dataclass(frozen=True)
class Access:
    """A use of a channel in a statement. ``what`` completes the sentence "another process ... the channel"."""

    channel: syntax.Reference
    words: tuple[str, ...]
    what: str


class ExclusiveLowering(PriorityLowering):
    claims: tuple[Claim, ...] = ()

    def find_claims(self, written: set[str]) -> None:
        """Finds the claims of all proctypes. ``written``: names into which some statement stores."""
        found = []
        for proctype in self.proctypes.values():
            own = set(syntax.stored_names(proctype.tree.body))
            for node in syntax.walk(proctype.tree.body):
                for channel in node.channels if isinstance(node, syntax.Exclusive) else ():
                    changing = self._changing(channel, proctype, own, written)
                    if changing:
                        message = f"this '{node.word}' is not checked, since '{changing}' may change"
                        hint = "name a channel that is never assigned, or a parameter of the proctype"
                        self.report.warning(message, node.span, hint)
                    elif changing is not None and proctype.variable is not None:
                        found.append(Claim(node.word, proctype, channel, node.span))
        if self.options.of(PromelaOptions).assertions:
            self.claims = tuple(found)

    def _changing(
        self, channel: syntax.Reference, proctype: ProctypeSymbol, own: set[str], written: set[str]
    ) -> str | None:
        """Returns a name in a claim that may change while its process exists, "" without one; None: it is unknown."""
        names = [each.name for each in syntax.walk(channel) if isinstance(each, syntax.Reference)]
        for each in names:
            is_own = each.text in proctype.names
            symbol = proctype.names.get(each.text) or self.globals.get(each.text)
            if symbol is None and each is channel.name:
                hint = did_you_mean(each.text, (*proctype.names, *self.globals))
                self.report.error(f"unknown name '{each.text}'", each.span, hint)
                return None
            if isinstance(symbol, VariableSymbol) and not symbol.is_channel and each is channel.name:
                self.report.error(f"'{each.text}' is not a channel", each.span, "name a variable of type 'chan'")
                return None
            if isinstance(symbol, VariableSymbol) and each.text in (own if is_own else written):
                return each.text
        return ""

    # --- Checks ------------------------------------------------------------------------------------------------

    def claim_checks(self, node: syntax.Statement | None) -> list[Statement]:
        """Returns the checks of a statement of ``self.process``: that no other process claims a channel it uses."""
        checks: list[Statement] = []
        for access in _accesses(node) if self.claims else ():
            number = self._number(access.channel)
            own = {each.word for each in self._own_claims() if _key(each.channel) == _key(access.channel)}
            for claim in self.claims:
                if number is not None and claim.word in access.words and claim.word not in own:
                    span = access.channel.span
                    checks += self._check(claim, number, f"another process {access.what} the channel", span)
        return checks

    def begin_claims(self, span: Span) -> list[Statement]:
        """Returns the checks of ``self.process`` when it begins: that nobody has the claims that it makes."""
        checks: list[Statement] = []
        for mine in self._own_claims():
            number = self._number(mine.channel)
            for claim in self.claims:
                if number is not None and claim.word == mine.word:
                    checks += self._check(claim, number, "another process claims the channel as well", span)
        return checks

    def _own_claims(self) -> list[Claim]:
        assert self.process is not None
        return [each for each in self.claims if each.proctype is self.process.proctype]

    def _check(self, claim: Claim, number: Expression, what: str, span: Span) -> list[Statement]:
        """Returns the check that no process other than ``self.process`` has a claim on a channel."""
        violated = self._claimed(claim, number, span)
        if isinstance(violated, Constant) and not violated.value:
            return []
        text = f"'{claim.word} {claim.channel.span.text}' of proctype '{claim.proctype.name}', line {claim.span.line}"
        error = Error(span=span, message=f"the claim {text}, is violated: {what}")
        return [If(span=span, branches=((violated, (error,)),))]

    def _claimed(self, claim: Claim, number: Expression, span: Span) -> Expression:
        """Returns whether a process other than ``self.process`` has a claim on a channel."""
        me, proctype = self.process, claim.proctype
        assert me is not None

        def by(other: Self) -> list[Expression]:
            """Returns the tests that ``other`` exists and that its claim is about this channel."""
            self.process = other
            theirs = self._number(claim.channel)
            self.process = me
            if theirs is None:
                return [build.truth(False, span)]
            tests = [_compared(BinaryOperator.EQUAL, number, theirs, span)]
            if proctype is me.proctype or (proctype.scalarset is None and me.proctype.scalarset is None):
                tests.append(_compared(BinaryOperator.NOT_EQUAL, me.pid, other.pid, span))
            if claim.is_own_variable:  # zero where the process does not exist
                return [*tests, build.binary(BinaryOperator.NOT_EQUAL, theirs, build.number(0, span), span, BOOLEAN)]
            return [*tests, *self._exists(other, span)]

        if proctype.scalarset is not None or len(proctype.pids) > _MOST_UNROLLED:
            return self.some_process(proctype, by, span)
        whole: Expression = build.truth(False, span)
        for pid in proctype.pids:
            one = build.conjunction(by(self.self_of(proctype, build.number(pid, span), span)))
            whole = build.logical(BinaryOperator.OR, whole, one or build.truth(True, span), span)
        return whole

    def _exists(self, process: Self, span: Span) -> list[Expression]:
        """Returns the test that a process has begun, if that depends on the state, and has not ended."""
        active, pid = process.proctype.active, process.pid
        if active == process.proctype.pids or getattr(pid, "value", None) in active:
            return []
        exists = build.negation(self.is_at(process, [0], span), span)
        if not active or isinstance(pid, Constant):
            return [exists]
        first = build.binary(BinaryOperator.LESS, pid, build.number(active.stop, span), span, BOOLEAN)
        return [build.logical(BinaryOperator.OR, first, exists, span)]

    def _number(self, node: syntax.Reference) -> Expression | None:
        """Returns the number of a channel; None where a name is unknown, which has been reported."""
        symbol = self.lookup(node.name)
        if isinstance(symbol, ChannelSymbol):
            if symbol.size is None and node.index is not None:
                node = syntax.Reference(node.name, span=node.span)
            return self.channel_number(symbol, node)
        place = None if symbol is None else self.target(node)
        return None if place is None else build.load(place)


def _compared(what: BinaryOperator, left: Expression, right: Expression, span: Span) -> Expression:
    one, other = getattr(left, "value", None), getattr(right, "value", None)
    if isinstance(one, int) and isinstance(other, int):
        return build.truth((one == other) is (what is BinaryOperator.EQUAL), span)
    return build.binary(what, left, right, span, BOOLEAN)


def _key(node: syntax.Reference) -> list[str | int]:
    """Returns the names and numbers of a reference, which are equal where it means the same."""
    leaves = (each for each in syntax.walk(node) if isinstance(each, syntax.Name | syntax.Number))
    return [each.text if isinstance(each, syntax.Name) else each.value for each in leaves]


def _accesses(node: syntax.Statement | None) -> Iterator[Access]:
    """Yields the channels that a statement uses, each with the claims that this touches."""
    if isinstance(node, syntax.Block):  # a d_step, whose statements are asked one by one
        return
    match node:
        case syntax.Send():
            yield Access(node.channel, ("xs",), "sends to")
        case syntax.Receive():
            yield Access(node.channel, ("xr",), "receives from")
    for each in syntax.walk(node):
        match each:
            case syntax.ChannelTest():
                yield Access(each.channel, _TESTED.get(each.word, _BOTH), "tests")
            case syntax.Poll():
                yield Access(each.channel, _BOTH, "tests")
