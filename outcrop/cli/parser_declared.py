"""The options of strategies and of languages, made from their registries."""

from __future__ import annotations

import argparse
import dataclasses
from enum import StrEnum
from typing import Any

from outcrop.cli.values import count, curve, fraction, unit
from outcrop.declared import flag_of, listed, value_of
from outcrop.lang.registry import OPTIONS
from outcrop.strategies import OWN_OPTIONS, own_options


def add_strategy_options(parser: argparse.ArgumentParser) -> None:
    """Adds a group of options for each dataclass in the registry, named after the strategies that take them."""
    groups: dict[type, Any] = {}
    for kind, declared, takers in own_options():
        if kind not in groups:
            groups[kind] = parser.add_argument_group(f"options of {listed(takers)}")
        _add(groups[kind], declared)


def own_values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of strategies as the command line gives them, in the form that CheckOptions takes."""
    return {name: value_of(declared, getattr(arguments, name)) for name, declared in OWN_OPTIONS.items()}


def add_language_options(group: argparse._ActionsContainer) -> None:
    """Adds the options of all languages. An option that is not given is absent from the arguments."""
    for declared in OPTIONS.values():
        _add(group, declared).default = argparse.SUPPRESS


def language_values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of languages that were given, in the form that ``outcrop.load`` takes."""
    return {name: getattr(arguments, name) for name in OPTIONS if hasattr(arguments, name)}


def _add(group: argparse._ActionsContainer, declared: dataclasses.Field[Any]) -> argparse.Action:
    flag, default, text = flag_of(declared.name), declared.default, declared.metadata["help"]
    if default is False:
        return group.add_argument(flag, action="store_true", help=text)
    if default is True:
        return group.add_argument(flag, choices=["on", "off"], default="on", help=f"{text} (default: on)")
    if isinstance(default, StrEnum):
        return group.add_argument(flag, choices=[*map(str, type(default))], default=default, help=text)
    shown = declared.metadata["shown"] or (default if isinstance(default, str) else f"{default:,}")
    convert = declared.metadata["convert"]
    metavar, convert = "N", count if convert is None else unit(convert)
    if isinstance(default, tuple):
        metavar, convert = "A:B,A:B", curve
    elif isinstance(default, float):
        metavar, convert = "X", fraction
    help_text = text if "default" in text else f"{text} (default: {shown})"
    return group.add_argument(flag, metavar=metavar, type=convert, default=default, help=help_text)
