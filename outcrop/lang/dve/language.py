"""The declaration of DVE: its files and its options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from outcrop.declared import option
from outcrop.lang.language import Language


class Overflow(StrEnum):
    """Meaning of assigning a value outside the range of a variable."""

    ERROR = "error"  #: a runtime error
    WRAP = "wrap"  #: the value is reduced modulo the size of the range, as in C


@dataclass(frozen=True)
class DveOptions:
    overflow: Overflow = option(
        Overflow.ERROR,
        "assigning a value outside the range of a DVE variable: an error (the default), or the value wraps around",
    )


LANGUAGE = Language(
    name="DVE",
    suffixes=(".dve",),
    front_end="outcrop.lang.dve.lowering",
    editing="outcrop.lang.dve.editing:EDITING",
    options=(DveOptions,),
    mover="process",
    refused={
        ".mdve": "it is a template; run m4 on it, and check the output as NAME.dve",
        ".probdve": "probabilistic models are not supported",
    },
)
