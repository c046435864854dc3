"""The registry of languages.

A new language is a folder next to this file, which declares its LANGUAGE in language.py, and an entry in _FOLDERS. The
command line, its help, refusals and the reading of files are made from the declarations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from outcrop.declared import declared_options, flag_of, listed, require_bounds, value_of
from outcrop.errors import UsageError
from outcrop.lang.language import Language

#: The folders of all languages. A file without a suffix (``/dev/stdin``) is read as the first of them.
_FOLDERS = ("murphi", "dve", "python", "promela")

LANGUAGES: tuple[Language, ...] = tuple(import_module(f"outcrop.lang.{each}.language").LANGUAGE for each in _FOLDERS)


def language_of(name: str) -> Language:
    """Returns the language of a file by the suffix of its name. Raises UsageError if no language has that suffix."""
    suffix = Path(name).suffix.lower()
    if not suffix:
        return LANGUAGES[0]
    for each in LANGUAGES:
        if suffix in each.suffixes:
            return each
        if suffix in each.refused:
            raise UsageError(f"'{name}' cannot be read: {each.refused[suffix]}")
    known = ", ".join(sorted(suffix for each in LANGUAGES for suffix in each.suffixes))
    raise UsageError(f"'{name}' cannot be read as a model; its suffix must be one of {known}")


def language_options() -> Iterator[tuple[type, dataclasses.Field[Any], list[str]]]:
    """Returns the options of all languages, each with its dataclass and the languages that take it."""
    return declared_options((each.name, each.options) for each in LANGUAGES)


#: The options of all languages, by name.
OPTIONS: dict[str, dataclasses.Field[Any]] = {declared.name: declared for _, declared, _ in language_options()}


def options_taken(name: str) -> set[str]:
    """Returns the names of the options that the language of the file ``name`` takes."""
    return {declared.name for kind in language_of(name).options for declared in dataclasses.fields(kind)}


def read_options(name: str, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the options of the language of the file ``name``, in the form that LoadOptions takes.

    Raises UsageError for an option of another language, and for a value that is not permitted.
    """
    language, taken = language_of(name), options_taken(name)
    for each in given:
        if each not in taken:
            others = listed(next(takers for _, declared, takers in language_options() if declared.name == each))
            raise UsageError(
                f"'{name}' is a {language.name} model, and {flag_of(each)} is an option of {others}; leave it out"
            )
    values = {each: value_of(OPTIONS[each], value) for each, value in given.items()}
    for each, value in values.items():
        require_bounds(OPTIONS[each], value)
    return tuple(
        kind(**{each.name: values[each.name] for each in dataclasses.fields(kind) if each.name in values})
        for kind in language.options
    )
