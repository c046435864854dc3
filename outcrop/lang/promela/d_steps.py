"""Deterministic steps: ``d_step`` sequences, which are one step, as in SPIN."""

from __future__ import annotations

from outcrop.ir.nodes import Assign, BinaryOperator, Error, Expression, If, LocalPlace, Statement, Switch, While
from outcrop.ir.types import BOOLEAN, Range
from outcrop.lang import build
from outcrop.lang.promela import syntax
from outcrop.lang.promela.channels import Use
from outcrop.lang.promela.control import Graph, Location, Step
from outcrop.lang.promela.exclusive import ExclusiveLowering
from outcrop.source import Span

#: Steps that one execution of a d_step may take.
_MOST_STEPS = 1_000_000


def first_action(step: Step) -> syntax.Statement | None:
    """Returns the statement with which a step begins. For a ``d_step`` that is its first one, if it begins with a
    receive: there it can be the other end of a rendezvous."""
    if step.graph is not None and len(step.graph.start.steps) == 1:
        first = step.graph.start.steps[0].action
        if isinstance(first, syntax.Receive):
            return first
    return step.action


class DeterministicLowering(ExclusiveLowering):
    def tests(self, step: Step, use: Use | None) -> list[Expression]:
        raise NotImplementedError

    def effects(self, step: Step, use: Use | None) -> list[Statement]:
        raise NotImplementedError

    def d_step(self, graph: Graph, span: Span, is_begun: bool = False) -> list[Statement]:
        """Returns statements that walk through a d_step: at each location the first step that can be taken is.
        ``is_begun``: its first step, a rendezvous, has been taken."""
        start = graph.start.steps[0].target if is_begun else graph.start
        linear = self._linear(graph, start)
        if linear is not None:
            return linear
        numbers = {each: number for number, each in enumerate(graph.locations)}
        local = self.frame.add("at", Range(0, len(graph.locations)))
        place = LocalPlace(type=local.type, span=span, local=local)
        cases = []
        for location in graph.locations:
            if location is graph.end:
                continue
            steps = sorted(location.steps, key=lambda each: isinstance(each.action, syntax.Else))
            branches = []
            otherwise: tuple[Statement, ...] = (Error(span=location.span, message="a d_step blocks"),)
            for step, use in ((each, use) for each in steps for use in self._own_uses(graph, each)):
                go = Assign(span=span, target=place, value=build.number(numbers[step.target], span))
                body = (*self.effects(step, use), go)
                test = None if isinstance(step.action, syntax.Else) else build.conjunction(self.tests(step, use))
                if test is None:
                    otherwise = body
                    break
                branches.append((test, body))
            statements = (If(span=span, branches=tuple(branches), otherwise=otherwise),) if branches else otherwise
            cases.append(((build.number(numbers[location], span),), statements))
        here = build.load(place)
        goes_on = build.binary(BinaryOperator.NOT_EQUAL, here, build.number(numbers[graph.end], span), span, BOOLEAN)
        switch = Switch(span=span, selector=here, cases=tuple(cases))
        return [
            Assign(span=span, target=place, value=build.number(numbers[start], span)),
            While(span=span, condition=goes_on, body=(switch,), limit=_MOST_STEPS),
        ]

    def _own_uses(self, graph: Graph, step: Step) -> list[Use | None]:
        """Returns the channels that a statement may mean, or None alone if it is about no channel. A rendezvous can
        only begin a d_step, as its only first statement, and only with a receive; its sender takes it."""
        node = step.action
        if not isinstance(node, syntax.Send | syntax.Receive):
            return [None]
        found: list[Use | None] = []
        for use in self.uses(node.channel, len(node.arguments)) or self.uses(node.channel, None):
            if not use.channel.capacity and isinstance(node, syntax.Receive) and graph.start.steps == [step]:
                continue
            if not use.channel.capacity:
                self.report.error(
                    f"a d_step cannot use '{use.channel.name}', which has no buffer",
                    step.span,
                    "use 'atomic' instead; only a receive can be there, as the first statement",
                )
            elif self.count_arguments(node, use):
                found.append(use)
        return found

    def _linear(self, graph: Graph, start: Location) -> list[Statement] | None:
        """Returns the statements of a d_step that has no choice; None where it has."""
        body: list[Statement] = []
        here, is_first = start, start is graph.start
        seen: set[Location] = set()
        while here is not graph.end:
            if len(here.steps) != 1 or here in seen:
                return None
            seen.add(here)
            step = here.steps[0]
            uses = self._own_uses(graph, step)
            blocked = (Error(span=step.span, message="a d_step blocks"),)
            if len(uses) == 1:
                test = None if is_first else build.conjunction(self.tests(step, uses[0]))
                if test is not None:
                    body.append(If(span=step.span, branches=((build.negation(test, step.span), blocked),)))
                body += self.effects(step, uses[0])
            else:
                pairs = ((build.conjunction(self.tests(step, use)), self.effects(step, use)) for use in uses)
                branches = tuple((test, tuple(effects)) for test, effects in pairs if test is not None)
                body.append(If(span=step.span, branches=branches, otherwise=blocked) if branches else blocked[0])
            here, is_first = step.target, False
        return body
