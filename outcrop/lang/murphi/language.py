"""The declaration of Murphi: its files and its options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from outcrop.declared import option
from outcrop.lang.language import Language
from outcrop.units import parse_count


class UndefinedReads(StrEnum):
    """Meaning of copying an undefined simple value, or of comparing an undefined scalarset or union."""

    PERMIT = "permit"  #: as in CMurphi: allowed, with a note
    ERROR = "error"  #: as in rumur: a runtime error


def parse_limit(text: str) -> int | None:
    """Reads a limit; 0 means none.

    >>> parse_limit("1,000"), parse_limit("0")
    (1000, None)
    """
    return parse_count(text) or None


@dataclass(frozen=True)
class MurphiOptions:
    undefined: UndefinedReads = option(
        UndefinedReads.PERMIT,
        "copying an undefined value: allowed where CMurphi allows it (permit, the default), or an error, as in rumur",
    )
    while_limit: int | None = option(
        1_000_000,
        "largest number of iterations of a while loop (default: 1,000,000); 0: no limit",
        convert=parse_limit,
    )


LANGUAGE = Language(
    name="Murphi",
    suffixes=(".m",),
    front_end="outcrop.lang.murphi.lowering",
    options=(MurphiOptions,),
    explain_no_start="outcrop.lang.murphi.start:explain_no_start",
)
