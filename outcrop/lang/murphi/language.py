"""The declaration of Murphi: its files and its options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from outcrop.declared import option
from outcrop.lang.language import Language
from outcrop.lang.while_limit import LoopOptions


class UndefinedReads(StrEnum):
    """Meaning of copying an undefined simple value, or of comparing an undefined scalarset or union."""

    PERMIT = "permit"  #: as in CMurphi: allowed, with a note
    ERROR = "error"  #: as in rumur: a runtime error


@dataclass(frozen=True)
class MurphiOptions:
    undefined: UndefinedReads = option(
        UndefinedReads.PERMIT,
        "copying an undefined value: allowed where CMurphi allows it (permit, the default), or an error, as in rumur",
    )


LANGUAGE = Language(
    name="Murphi",
    suffixes=(".m",),
    front_end="outcrop.lang.murphi.lowering",
    options=(MurphiOptions, LoopOptions),
    editing="outcrop.lang.murphi.editing:EDITING",
    explain_no_start="outcrop.lang.murphi.start:explain_no_start",
)
