"""Calls of the model's functions and of the real functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from outcrop.ir.arithmetic import REAL_FUNCTIONS
from outcrop.ir.faults import MAX_CALL_DEPTH, Fault, FaultKind
from outcrop.ir.nodes import Call, Expression, Place, RealCall, Undefined
from outcrop.ir.places import Evaluate, Places, Store, blank_frame, source_text
from outcrop.ir.system import Formal, Function, System


class Calls(Places):
    """Compiles calls to closures. The class that executes statements fills in ``bodies``."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.bodies: dict[Function, Evaluate] = {}
        self.call_depth = 0

    def call(self, node: Call) -> Evaluate:
        function = node.function
        blank = blank_frame(function.frame)
        result = self._result(node)
        pairs = zip(function.formals, node.arguments, strict=True)
        passes = [self._pass(formal, argument) for formal, argument in pairs]

        def call(state: Store, frame: Store) -> Any:
            callee = blank.copy()
            for pass_argument in passes:
                pass_argument(state, frame, callee)
            if self.call_depth == MAX_CALL_DEPTH:
                text = f"{function.name} is called more than {MAX_CALL_DEPTH} calls deep"
                raise Fault(FaultKind.RECURSION, text, node.span)
            self.call_depth += 1
            try:
                returned = self.bodies[function](state, callee)
            except Fault as fault:
                fault.calls.append((function.name, node.span))
                raise
            finally:
                self.call_depth -= 1
            return result(state, returned)

        return call

    def _result(self, node: Call) -> Callable[[Store, tuple[Any] | None], Any]:
        """Returns a closure that checks and rounds the value that a body returned, as for a value that is stored."""
        function, span = node.function, node.span
        if function.result is None:
            return lambda state, returned: None
        write = self.write(function.result, span, lambda location, state: f"what {function.name} returns")
        is_simple = function.result.is_simple
        must_be_defined = node.undefined is Undefined.ERROR

        def take(state: Store, returned: tuple[Any] | None) -> Any:
            if returned is None:
                text = f"the end of function {function.name} is reached without a return"
                raise Fault(FaultKind.NO_RETURN, text, span)
            if not is_simple:
                return returned[0]
            value: Store = [None]
            write(state, (value, 0), returned[0])
            if must_be_defined and value[0] is None:
                raise Fault(FaultKind.UNDEFINED, f"{source_text(span)} is undefined", span)
            return value[0]

        return take

    def _pass(self, formal: Formal, argument: Expression | Place) -> Callable[[Store, Store, Store], None]:
        """Returns a closure that puts an argument into the frame of the called function."""
        offset = self.offsets[formal.local]
        if isinstance(argument, Place):
            locate = self.place(argument)

            def pass_reference(state: Store, frame: Store, callee: Store) -> None:
                callee[offset] = locate(state, frame)

            return pass_reference
        evaluate = self.expression(argument)
        write = self.write(formal.local.type, argument.span, lambda location, state: formal.local.name)

        def pass_value(state: Store, frame: Store, callee: Store) -> None:
            write(state, (callee, offset), evaluate(state, frame))

        return pass_value

    def real_call(self, node: RealCall) -> Evaluate:
        function = REAL_FUNCTIONS[node.name]
        arguments = [self.defined(argument) for argument in node.arguments]

        def call(state: Store, frame: Store) -> float:
            values = [argument(state, frame) for argument in arguments]
            try:
                value = float(function(*values))
            except (ValueError, OverflowError):
                value = math.nan
            if not math.isfinite(value):
                shown = ", ".join(map(str, values))
                raise Fault(FaultKind.REAL, f"{node.name}({shown}) is not a finite number", node.span)
            return value

        return call
