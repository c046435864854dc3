"""The locals of a rule, function or property, while a front-end makes it."""

from __future__ import annotations

from outcrop.ir.nodes import Frame, Local
from outcrop.ir.types import Type


class FrameBuilder:
    """Builder of a frame. Parameters get the first indices."""

    def __init__(self) -> None:
        self._parameters: list[Local] = []
        self._others: list[Local] = []

    def add(self, name: str, kind: Type, *, is_parameter: bool = False, is_reference: bool = False) -> Local:
        addressed = not is_reference and not kind.is_simple
        local = Local(name=name, type=kind, index=-1, is_reference=is_reference, is_addressed=addressed)
        (self._parameters if is_parameter else self._others).append(local)
        return local

    def finish(self) -> Frame:
        """Returns the frame of all locals so far, and gives them their indices."""
        ordered = (*self._parameters, *self._others)
        for index, local in enumerate(ordered):
            local.index = index
        return Frame(ordered)
