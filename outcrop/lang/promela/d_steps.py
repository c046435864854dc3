"""Deterministic steps: ``d_step`` sequences, which SPIN and we execute as one."""

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


class DeterministicLowering(ExclusiveLowering):
    def tests(self, step: Step, use: Use | None) -> list[Expression]:
        raise NotImplementedError

    def effects(self, step: Step, use: Use | None) -> list[Statement]:
        raise NotImplementedError

    def d_step(self, graph: Graph, span: Span) -> list[Statement]:
        """Returns statements that walk through a d_step: at each location the first step that can be taken is."""
        linear = self._linear(graph)
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
            for step in steps:
                go = Assign(span=span, target=place, value=build.number(numbers[step.target], span))
                use = self._own_use(step)
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
            Assign(span=span, target=place, value=build.number(numbers[graph.start], span)),
            While(span=span, condition=goes_on, body=(switch,), limit=_MOST_STEPS),
        ]

    def _own_use(self, step: Step) -> Use | None:
        node = step.action
        if not isinstance(node, syntax.Send | syntax.Receive):
            return None
        uses = self.uses(node.channel, len(node.arguments))
        if len(uses) != 1 or not uses[0].channel.capacity:
            self.report.error(
                "a d_step can only use buffered channels that its text names", step.span, "use 'atomic' instead"
            )
        return uses[0] if uses else None

    def _linear(self, graph: Graph) -> list[Statement] | None:
        """Returns the statements of a d_step that has no choice; None where it has."""
        body: list[Statement] = []
        here, is_first = graph.start, True
        seen: set[Location] = set()
        while here is not graph.end:
            if len(here.steps) != 1 or here in seen:
                return None
            seen.add(here)
            step = here.steps[0]
            use = self._own_use(step)
            test = None if is_first else build.conjunction(self.tests(step, use))
            if test is not None:
                blocked = (Error(span=step.span, message="a d_step blocks"),)
                body.append(If(span=step.span, branches=((build.negation(test, step.span), blocked),)))
            body += self.effects(step, use)
            here, is_first = step.target, False
        return body
