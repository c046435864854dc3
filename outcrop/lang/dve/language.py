"""The declaration of DVE: its files and its options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from outcrop.declared import option
from outcrop.lang.language import Language


class Overflow(StrEnum):
    """Meaning of storing a value outside the range of a variable."""

    ERROR = "error"  #: a runtime error
    WRAP = "wrap"  #: it is reduced modulo the number of values, as in C


@dataclass(frozen=True)
class DveOptions:
    overflow: Overflow = option(
        Overflow.ERROR,
        "storing a value outside the range of a DVE variable: an error (the default), or it wraps around",
    )


LANGUAGE = Language(
    name="DVE",
    suffixes=(".dve",),
    front_end="outcrop.lang.dve.lowering",
    options=(DveOptions,),
    mover="process",
    refused={
        ".mdve": "it is a template; run m4 on it first and check what that writes, as NAME.dve",
        ".probdve": "probabilistic models are not supported",
    },
)
