"""Executing the text of a model, with constants replaced, and finding its class."""

from __future__ import annotations

import ast
import copy
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from outcrop.errors import ModelError, UsageError
from outcrop.lang.python.sources import PythonSource, Sources
from outcrop.lang.report import did_you_mean
from outcrop.model import Ltl, Model
from outcrop.source import Diagnostic, Severity, Source, Span

_count = 0


def load_module(source: Source, sources: Sources, constants: Mapping[str, str], part: str = "") -> type[Model]:
    """Executes the text of a file and returns its class; ``part`` is the name of the class where there are several.
    ``constants`` replace assignments at the top of the file and in the class, by the text of an expression."""
    filename = source.name
    parsed = sources.add(filename, source)
    tree = _parse(parsed)
    left = dict(constants)
    _replace(tree.body, left)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and part in ("", node.name):
            _replace(node.body, left)
    if left:
        raise ModelError([_unknown_constant(name, tree) for name in left])
    module = _execute(tree, parsed, filename)
    return _choose(module, parsed, part)


def reload_class(cls: type[Model], sources: Sources, constants: Mapping[str, str]) -> type[Model]:
    """Returns the class as it would be with other constants: its file is executed again, or its cell of a notebook."""
    if not constants:
        return cls
    parsed = class_source(cls, sources)
    module = sys.modules.get(cls.__module__)
    name = getattr(module, "__file__", None)
    if parsed is not None and name == parsed.source.name:
        source = Source(parsed.source.name, parsed.source.text)
        return load_module(source, sources, constants, cls.__qualname__)
    node = None if parsed is None else parsed.class_node(cls.__qualname__)
    if parsed is None or node is None:
        raise UsageError(
            f"the constants of {cls.__name__} cannot be replaced: its source cannot be found; define it in a file"
        )
    left = dict(constants)
    # Line numbers stay: they are how methods are found in the text.
    again = copy.deepcopy(node)
    _replace(again.body, left)
    if left:
        raise ModelError([_unknown_constant(each, ast.Module([node], [])) for each in left])
    names = dict(vars(module) if module is not None else {})
    exec(compile(ast.Module([again], []), parsed.source.name, "exec"), names)
    made: type[Model] = names[cls.__name__]
    return made


def class_source(cls: type[Model], sources: Sources) -> PythonSource | None:
    """Returns the text that a class stands in, by its first method."""
    for value in vars(cls).values():
        found = sources.of_function(value)
        if found is not None:
            return found[0]
    name = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return None if name is None else sources.of_file(name)


def _parse(parsed: PythonSource) -> ast.Module:
    try:
        # A separate tree: constants are replaced in it, and diagnostics show the text.
        with _without_warnings():
            tree = ast.parse(parsed.source.text, parsed.source.name)
        parsed.tree  # noqa: B018
    except SyntaxError as error:
        start = parsed.offset(error.lineno or 1, 0) + max(0, (error.offset or 1) - 1)
        width = (error.end_offset or 0) - (error.offset or 0) if error.end_lineno == error.lineno else 1
        span = Span(parsed.source, start, start + max(1, width))
        raise ModelError([Diagnostic(Severity.ERROR, f"this is not valid Python: {error.msg}", span)]) from None
    except (ValueError, RecursionError) as error:
        raise ModelError([Diagnostic(Severity.ERROR, f"this is not valid Python: {error}")]) from None
    return tree


def _replace(body: list[ast.stmt], constants: dict[str, str]) -> None:
    """Replaces the values of simple assignments, and takes their names out of ``constants``."""
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in constants:
            text = constants.pop(target.id)
            try:
                value = ast.parse(_as_python(text), mode="eval").body
            except SyntaxError:
                message = f"the value '{text}' given for '{target.id}' is not an expression"
                raise ModelError([Diagnostic(Severity.ERROR, message)]) from None
            for each in ast.walk(value):
                ast.copy_location(each, node.value)
            node.value = value


def _as_python(text: str) -> str:
    return {"true": "True", "false": "False"}.get(text, text)


def _unknown_constant(name: str, tree: ast.Module) -> Diagnostic:
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    known = [
        target.id
        for body in (tree.body, *(each.body for each in classes))
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    hint = did_you_mean(name, known) or (f"it has {', '.join(sorted(known)[:12])}" if known else "it has none")
    return Diagnostic(Severity.ERROR, f"the model has no constant '{name}'", None, hint)


def _execute(tree: ast.Module, parsed: PythonSource, filename: str) -> ModuleType:
    global _count
    _count += 1
    module = ModuleType(f"outcrop_model_{Path(filename).stem}_{_count}")
    module.__file__ = filename
    # Dataclasses look for the module of their annotations.
    sys.modules[module.__name__] = module
    with _beside(filename):
        try:
            with _without_warnings():
                code = compile(tree, filename, "exec")
            exec(code, vars(module))
        except Exception as error:
            raise ModelError([_failed(error, parsed, filename)]) from None
        except SystemExit:
            text = "the file ends the process when it is executed"
            hint = 'put what runs it under: if __name__ == "__main__":'
            raise ModelError([Diagnostic(Severity.ERROR, text, None, hint)]) from None
    return module


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silences the compiler of Python: what it warns about gets a diagnostic at its place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        yield


@contextmanager
def _beside(filename: str) -> Iterator[None]:
    """Lets a file import files from its own directory."""
    place = str(Path(filename).resolve().parent)
    sys.path.insert(0, place)
    try:
        yield
    finally:
        if place in sys.path:
            sys.path.remove(place)


def _failed(error: Exception, parsed: PythonSource, filename: str) -> Diagnostic:
    """Says what went wrong at the line of the file that it went wrong in."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == filename]
    message = f"{type(error).__name__}: {error}"
    if not lines or not lines[-1]:
        return Diagnostic(Severity.ERROR, message)
    text = parsed.source.line(lines[-1])
    start = parsed.offset(lines[-1], 0) + len(text) - len(text.lstrip())
    return Diagnostic(Severity.ERROR, message, Span(parsed.source, start, start + len(text.strip())))


def _choose(module: ModuleType, parsed: PythonSource, part: str) -> type[Model]:
    """Returns the class that was named, or the only one that the file defines."""
    classes: dict[str, type[Model]] = {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, Model) and each.__module__ == module.__name__
    }
    if part:
        if part in classes:
            return classes[part]
        hint = did_you_mean(part, classes) or (f"it has {', '.join(classes)}" if classes else "")
        raise ModelError([Diagnostic(Severity.ERROR, f"the file has no model class '{part}'", None, hint)])
    # A class that others build on is not a model by itself.
    leaves = [
        each
        for each in classes.values()
        if not any(other is not each and issubclass(other, each) for other in classes.values())
    ]
    if len(leaves) == 1:
        return leaves[0]
    place = Span(parsed.source, 0, 1)
    if not leaves:
        hint = "derive a class from outcrop.model.Model: class Lock(Model): ..."
        raise ModelError([Diagnostic(Severity.ERROR, "the file defines no model", place, hint)])
    names = ", ".join(each.__name__ for each in leaves)
    hint = f"name one after a colon: {Path(module.__file__ or '').name}:{leaves[0].__name__}"
    raise ModelError([Diagnostic(Severity.ERROR, f"the file defines several models: {names}", place, hint)])


def formulas_of(cls: type[Model]) -> dict[str, Ltl]:
    """Returns the formulas of a class by name."""
    return {
        name: value for base in reversed(cls.__mro__) for name, value in vars(base).items() if isinstance(value, Ltl)
    }
