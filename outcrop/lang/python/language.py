"""The declaration of Python as a language of models."""

from __future__ import annotations

from outcrop.lang.language import Language
from outcrop.lang.while_limit import LoopOptions

LANGUAGE = Language(
    name="Python",
    suffixes=(".py",),
    front_end="outcrop.lang.python.lowering",
    editing="outcrop.lang.python.editing:EDITING",
    options=(LoopOptions,),
)
