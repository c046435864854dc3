"""The declaration of a language: its name, its files, its options, and the module that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Language:
    """A language of models.

    ``front_end`` names a module with two functions. ``lower(source, options)`` returns the System and the warnings.
    ``lower_open`` returns a third value: a function that lowers expressions from outside the model. The module is
    imported when the first model needs it.
    """

    name: str  #: name for users
    suffixes: tuple[str, ...]  #: suffixes of model files, in lower case
    front_end: str
    options: tuple[type, ...] = ()  #: dataclasses of its own options (outcrop/declared.py)
    mover: str = "rule instance"  #: noun for the thing that a fair run does not neglect
    explain_no_start: str = ""  #: ``module:function`` that returns the Diagnostic for a System without a start state
    editing: str = ""  #: ``module:value`` of its services for editors (outcrop/lang/editing.py)
    refused: Mapping[str, str] = field(default_factory=dict)  #: suffixes of files that are not models, with a remedy
