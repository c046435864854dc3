"""Options that strategies have of their own, made from the registry."""

from __future__ import annotations

import argparse
import dataclasses
from enum import StrEnum
from typing import Any

from outcrop.cli.values import count, curve, fraction
from outcrop.strategies import OWN_OPTIONS, own_options


def add_strategy_options(parser: argparse.ArgumentParser) -> None:
    """Adds a group of options for each dataclass in the registry, named by the strategies that take them."""
    groups: dict[type, Any] = {}
    for kind, declared, takers in own_options():
        if kind not in groups:
            groups[kind] = parser.add_argument_group(f"options of {_listed(takers)}")
        _add(groups[kind], declared)


def own_values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of strategies that were given, as CheckOptions takes them."""
    return {name: _value(declared, getattr(arguments, name)) for name, declared in OWN_OPTIONS.items()}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _add(group: Any, declared: dataclasses.Field[Any]) -> None:
    flag, default, text = f"--{declared.name.replace('_', '-')}", declared.default, declared.metadata["help"]
    if default is False:
        group.add_argument(flag, action="store_true", help=text)
        return
    if default is True:
        group.add_argument(flag, choices=["on", "off"], default="on", help=f"{text} (default: on)")
        return
    if isinstance(default, StrEnum):
        group.add_argument(flag, choices=[*map(str, type(default))], default=default, help=text)
        return
    shown = declared.metadata["shown"] or (default if isinstance(default, str) else f"{default:,}")
    metavar, convert = "N", declared.metadata["convert"] or count
    if isinstance(default, tuple):
        metavar, convert = "A:B,A:B", curve
    elif isinstance(default, float):
        metavar, convert = "X", fraction
    help_text = text if "the default" in text else f"{text} (default: {shown})"
    group.add_argument(flag, metavar=metavar, type=convert, default=default, help=help_text)


def _value(declared: dataclasses.Field[Any], given: Any) -> Any:
    default = declared.default
    if default is True:
        return given in ("on", True)
    return type(default)(given) if isinstance(default, StrEnum) else given
