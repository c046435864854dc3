"""The declaration of a language: its name, its files, its options, and the module that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Language:
    """A language that models are written in.

    ``front_end`` names a module with two functions. ``lower(source, options)`` returns the System and the warnings;
    ``lower_open`` returns a third value, which lowers expressions that do not stand in the model. The module is
    imported when the first model needs it.
    """

    name: str  #: as its users call it
    suffixes: tuple[str, ...]  #: of files with models, in lower case
    front_end: str
    options: tuple[type, ...] = ()  #: dataclasses of its own options (outcrop/declared.py)
    mover: str = "rule instance"  #: what a fair run lets move again and again
    explain_no_start: str = ""  #: ``module:function`` that returns the Diagnostic for a System without a start state
    refused: Mapping[str, str] = field(default_factory=dict)  #: suffixes of files that are no models, with a remedy
