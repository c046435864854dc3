"""Options of strategies and languages, declared as fields of small dataclasses.

The command line, its help, the bounds and the conversion of texts in the Python API are made from these declarations.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, TypeVar

from outcrop.errors import UsageError

_Choice = TypeVar("_Choice", bound=StrEnum)


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    convert: Callable[[str], Any] | None = None,
    shown: str | None = None,
) -> Any:
    """Declares an option: its default, help, bounds, and the function that reads its text.

    ``convert`` raises UsageError for a text that it cannot read.
    """
    metadata = {"help": help, "least": least, "most": most, "convert": convert, "shown": shown}
    return dataclasses.field(default=default, metadata=metadata)


def declared_options(
    takers: Iterable[tuple[str, tuple[type, ...]]],
) -> Iterator[tuple[type, dataclasses.Field[Any], list[str]]]:
    """Yields every option once, with its dataclass and the names of the strategies or languages that take it."""
    listed = list(takers)
    for kind in dict.fromkeys(each for _, kinds in listed for each in kinds):
        names = [name for name, kinds in listed if kind in kinds]
        for declared in dataclasses.fields(kind):
            yield kind, declared, names


def flag_of(name: str) -> str:
    """Returns the command-line option for a field.

    >>> flag_of("while_limit")
    '--while-limit'
    """
    return f"--{name.replace('_', '-')}"


def listed(names: Iterable[str], word: str = "and") -> str:
    """Returns names as an enumeration, with ``word`` before the last of them.

    >>> listed(["ram", "auto", "disk"])
    'ram, auto and disk'
    """
    return f" {word} ".join(", ".join(names).rsplit(", ", 1))


def choice(choices: type[_Choice], name: str, value: str) -> _Choice:
    """Returns the member that a word names. Raises UsageError, with all members, if it names none."""
    try:
        return choices(value)
    except ValueError:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, not '{value}'") from None


def value_of(declared: dataclasses.Field[Any], given: Any) -> Any:
    """Returns the value of an option, given as a word of the command line or as a Python value."""
    if not isinstance(given, str):
        return given
    if isinstance(declared.default, StrEnum):
        return choice(type(declared.default), declared.name, given)
    if declared.default is True:
        if given not in ("on", "off"):
            raise UsageError(f"{declared.name.replace('_', ' ')} must be on or off, not '{given}'")
        return given == "on"
    convert = declared.metadata["convert"]
    return given if convert is None else convert(given)


def require_bounds(declared: dataclasses.Field[Any], value: Any) -> None:
    """Raises UsageError for a value outside the declared bounds."""
    least, most = declared.metadata["least"], declared.metadata["most"]
    if least is not None or most is not None:
        require_within(declared.name, value, -math.inf if least is None else least, math.inf if most is None else most)


def require_within(name: str, value: float | None, least: float, most: float) -> None:
    """Raises UsageError for a value outside some bounds; None is always within them."""
    if value is not None and not least <= value <= most:
        wanted = f"at least {least}" if most == math.inf else f"from {least} to {most}"
        raise UsageError(f"{name.replace('_', ' ')} must be {wanted}, not {value}")
