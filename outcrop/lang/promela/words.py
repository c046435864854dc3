"""Statements in SPIN's words: as ``spin -t -p`` shows them, with macros and inlines replaced."""

from __future__ import annotations

from collections.abc import Iterable

from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Step


def in_d_step(step: Step) -> list[Step]:
    """Returns the steps inside a d_step without choices; otherwise the step alone."""
    inner: list[Step] = []
    here = None if step.graph is None else step.graph.start
    while step.graph is not None and here is not None and here is not step.graph.end:
        if len(here.steps) != 1 or here.steps[0] in inner:
            return [step]
        inner += here.steps
        here = inner[-1].target
    return inner or [step]


def statement_words(node: syntax.Statement) -> str:
    """Returns a statement in SPIN's words."""
    match node:
        case syntax.Test(condition=condition):
            return f"({words(condition)})"
        case syntax.Assignment(target, value):
            return f"{words(target)} = {words(value)}"
        case syntax.Send(channel, arguments, is_sorted):
            return f"{words(channel)}{'!!' if is_sorted else '!'}{_list(arguments)}"
        case syntax.Receive(channel, arguments, is_random, keeps):
            received = f"<{_list(arguments)}>" if keeps else _list(arguments)
            return f"{words(channel)}{'??' if is_random else '?'}{received}"
        case syntax.Assertion(condition=condition):
            return f"assert({words(condition)})"
        case syntax.SetPriority(process, value):
            return f"set_priority({words(process)}, {words(value)})"
        case syntax.Print(arguments=arguments, is_name=True):
            return f"printm({_list(arguments)})"
        case syntax.Print(text, arguments):
            text = text.replace("\\", "\\\\")
            return f"printf('{text}'{''.join(',' + words(each) for each in arguments)})"
        case syntax.Else():
            return "else"
        case syntax.Goto(label=label):
            return f"goto {label.text}"
    return " ".join(node.span.text.split())


def words(node: syntax.Expression) -> str:
    """Returns an expression in SPIN's words: each operation is in parentheses."""
    match node:
        case syntax.Number(value):
            return str(value)
        case syntax.Reference():
            return _reference(node)
        case syntax.Unary("+", operand):
            return words(operand)
        case syntax.Unary(operator, operand):
            return f"{operator}({words(operand)})"
        case syntax.Binary(operator, left, right):
            return f"({words(left)}{operator}{words(right)})"
        case syntax.Conditional(condition, then, otherwise):
            return f"( ({words(condition)}) -> ({words(then)}) : ({words(otherwise)}) )"
        case syntax.Run(proctype, arguments):
            return f"run {proctype.text}({_list(arguments)})"
        case syntax.ChannelTest(word, channel):
            return f"{word}({words(channel)})"
        case syntax.Poll(channel, arguments, is_random):
            return f"{words(channel)}{'??' if is_random else '?'}[{_list(arguments)}]"
        case syntax.Timeout():
            return "timeout"
        case syntax.Progress():
            return "np_"
        case syntax.Enabled(process):
            return f"enabled({words(process)})"
        case syntax.Priority(process):
            return f"get_priority({words(process)})"
        case syntax.Evaluated(operand):
            return f"eval({words(operand)})"
        case syntax.RemoteLabel(proctype, process, label):
            return f"{_process(proctype, process)}@{label.text}"
        case syntax.RemoteVariable(proctype, process, variable):
            return f"{_process(proctype, process)}:{words(variable)}"
    return " ".join(node.span.text.split())


def _process(proctype: syntax.Name, process: syntax.Expression | None) -> str:
    return proctype.text if process is None else f"{proctype.text}[{words(process)}]"


def _reference(node: syntax.Reference) -> str:
    index = "" if node.index is None else f"[{words(node.index)}]"
    rest = "" if node.next is None else f".{words(node.next)}"
    return f"{node.name.text}{index}{rest}"


def _list(nodes: Iterable[syntax.Expression]) -> str:
    return ",".join(map(words, nodes))
