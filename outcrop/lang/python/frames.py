"""The locals of a frame, while it is built."""

from __future__ import annotations

from outcrop.ir.nodes import Frame, Local
from outcrop.lang.python.kinds import INT, LOCAL_INTEGER, Kind


class FrameBuilder:
    """Collects the locals of a frame; parameters get the first indices."""

    def __init__(self) -> None:
        self._parameters: list[Local] = []
        self._others: list[Local] = []

    def add(self, name: str, kind: Kind, *, is_parameter: bool = False, is_reference: bool = False) -> Local:
        type_ = LOCAL_INTEGER if kind is INT else kind.type
        addressed = not is_reference and not type_.is_simple
        local = Local(name=name, type=type_, index=-1, is_reference=is_reference, is_addressed=addressed)
        (self._parameters if is_parameter else self._others).append(local)
        return local

    def finish(self) -> Frame:
        ordered = (*self._parameters, *self._others)
        for index, local in enumerate(ordered):
            local.index = index
        return Frame(ordered)
