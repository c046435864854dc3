"""A plugin for mypy, which rejects numbers in the brackets of a type: ``plugins = outcrop.mypy_plugin``.

``Range[0, 7]`` is an int to it, ``Array[bool, 3]`` an ``Array[bool]``, ``Bag[Message, 4]`` a ``Bag[Message]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.types import Type

_CONTAINERS = ("outcrop.model.Array", "outcrop.model.Bag")


class ModelPlugin(Plugin):
    """Gives the types of models a meaning that mypy knows."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        if fullname == "outcrop.model.Range":
            return lambda context: context.api.named_type("builtins.int", [])
        if fullname in _CONTAINERS:
            return lambda context: _container(fullname, context)
        return None


def _container(fullname: str, context: AnalyzeTypeContext) -> Type:
    elements = [context.api.analyze_type(context.type.args[0])] if context.type.args else []
    return context.api.named_type(fullname, elements)


def plugin(version: str) -> Any:
    """Returns the plugin, for every version of mypy."""
    return ModelPlugin
