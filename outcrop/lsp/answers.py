"""Answers about the names of a text: hover, definition, references, rename, outline, colours, hints."""

from __future__ import annotations

import re

from lsprotocol import types

from outcrop.errors import ModelError, OutcropError
from outcrop.lang import arranged
from outcrop.lang.editing import TITLED, Declaration, Kind
from outcrop.lsp.texts import Text
from outcrop.source import Diagnostic, Severity

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_SYMBOLS = {
    Kind.CONSTANT: types.SymbolKind.Constant,
    Kind.TYPE: types.SymbolKind.Struct,
    Kind.VARIABLE: types.SymbolKind.Variable,
    Kind.PARAMETER: types.SymbolKind.Variable,
    Kind.MEMBER: types.SymbolKind.EnumMember,
    Kind.FIELD: types.SymbolKind.Field,
    Kind.FUNCTION: types.SymbolKind.Function,
    Kind.PROCESS: types.SymbolKind.Class,
    Kind.CHANNEL: types.SymbolKind.Interface,
    Kind.STATE: types.SymbolKind.EnumMember,
    Kind.LABEL: types.SymbolKind.Key,
    Kind.MACRO: types.SymbolKind.Constant,
    Kind.RULE: types.SymbolKind.Event,
    Kind.START: types.SymbolKind.Constructor,
    Kind.PROPERTY: types.SymbolKind.Boolean,
}
#: Kinds of tokens for colours, in the order of their numbers in the protocol.
TOKEN_KINDS = ["variable", "parameter", "type", "enumMember", "property", "function", "class", "macro", "label"]
TOKEN_MODIFIERS = ["declaration", "readonly", "modification"]
_TOKENS = {
    Kind.CONSTANT: "variable",
    Kind.TYPE: "type",
    Kind.VARIABLE: "variable",
    Kind.PARAMETER: "parameter",
    Kind.MEMBER: "enumMember",
    Kind.FIELD: "property",
    Kind.FUNCTION: "function",
    Kind.PROCESS: "class",
    Kind.CHANNEL: "variable",
    Kind.STATE: "enumMember",
    Kind.LABEL: "label",
    Kind.MACRO: "macro",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: A value that needs no hint, because the text shows it.
_LITERAL = re.compile(r"-?\w+\Z|\d+\s*\.\.\s*\d+\Z")
_RANGE = re.compile(r"-?\d+\.\.-?\d+\Z")


def diagnostic(text: Text, each: Diagnostic) -> types.Diagnostic:
    """Returns a diagnostic in the form of the protocol."""
    span = each.span
    is_here = span is not None and span.source.name == text.source.name
    where = text.span(span) if span is not None and is_here else text.line_range(1)
    related = [
        types.DiagnosticRelatedInformation(types.Location(text.uri, text.span(span)), message)
        for message, span in each.related
        if span.source.name == text.source.name
    ]
    message = each.message if span is None or is_here else f"{span}: {each.message}"
    hint = f"\nhint: {each.hint}" if each.hint else ""
    return types.Diagnostic(
        range=where,
        message=message + hint,
        severity=_SEVERITIES[each.severity],
        source="outcrop",
        related_information=related or None,
    )


def hover(text: Text, offset: int) -> types.Hover | None:
    """Returns the type, the value and the place of declaration of the name at an offset."""
    use = text.index.at(offset)
    if use is None:
        return None
    lines = [_headline(use.declaration)]
    facts = text.facts.get(use.declaration)
    notes = []
    if facts is not None and facts.value:
        notes.append(f"value: `{facts.value}`" + (f" of type `{facts.type}`" if facts.type else ""))
    elif facts is not None and facts.type and _squeezed(facts.type) != _squeezed(use.declaration.detail):
        notes.append(f"type: `{facts.type}`")
    if facts is not None and facts.bits is not None:
        notes.append(f"{facts.bits} bit{'s' * (facts.bits != 1)} in a state")
    notes.append(f"declared on line {use.declaration.span.line}")
    body = f"```{text.services.identifier if text.services else ''}\n{lines[0]}\n```\n" + "  \n".join(notes)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, body), text.range(use.start, use.end))


def _squeezed(code: str) -> str:
    return re.sub(r"\s", "", code)


def _headline(each: Declaration) -> str:
    if each.parameters is not None:
        return f"{each.kind} {each.signature}"
    return f"{each.kind} {each.name}" + (f": {each.detail}" if each.detail else "")


def definition(text: Text, offset: int) -> types.Location | None:
    use = text.index.at(offset)
    return None if use is None else types.Location(text.uri, text.span(use.declaration.span))


def references(text: Text, offset: int, with_declaration: bool = True) -> list[types.Location]:
    use = text.index.at(offset)
    if use is None:
        return []
    declared = use.declaration.span.start
    found = [each for each in text.index.uses_of(use.declaration) if with_declaration or each.start != declared]
    return [types.Location(text.uri, text.range(each.start, each.end)) for each in found]


def highlights(text: Text, offset: int) -> list[types.DocumentHighlight]:
    use = text.index.at(offset)
    found = [] if use is None else text.index.uses_of(use.declaration)
    kinds = types.DocumentHighlightKind
    return [
        types.DocumentHighlight(text.range(each.start, each.end), kinds.Write if each.is_written else kinds.Read)
        for each in found
    ]


def rename(text: Text, offset: int, name: str) -> types.WorkspaceEdit | str:
    """Returns the edits of a renaming; the reason as a text if it is refused."""
    use = text.index.at(offset)
    services = text.services
    if use is None or services is None:
        return "there is no name here"
    if not _NAME.match(name) or name in services.keywords or name.lower() in services.keywords:
        return f"'{name}' cannot be a name in {text.language}"
    uses = text.index.uses_of(use.declaration)
    for each in uses:
        taken = text.index.region(each.start).find(name)
        if taken is not None and taken is not use.declaration and use.declaration.kind is not Kind.FIELD:
            return f"'{name}' is declared already, on line {taken.span.line}"
    edits = [types.TextEdit(text.range(each.start, each.end), name) for each in uses]
    return types.WorkspaceEdit(changes={text.uri: edits})


def rename_range(text: Text, offset: int) -> types.Range | None:
    use = text.index.at(offset)
    return None if use is None else text.range(use.start, use.end)


def outline(text: Text) -> list[types.DocumentSymbol]:
    """Returns the declarations as a tree."""
    made: dict[Declaration, types.DocumentSymbol] = {}
    roots: list[types.DocumentSymbol] = []
    for each in text.index.declarations:
        if each.is_local:
            continue
        extent = each.extent if each.extent.end >= each.span.end else each.span
        symbol = types.DocumentSymbol(
            name=each.name or each.kind,
            kind=_SYMBOLS[each.kind],
            range=text.range(min(extent.start, each.span.start), extent.end),
            selection_range=text.span(each.span),
            detail=each.detail if each.parameters is None else each.signature.removeprefix(each.name),
            children=[],
        )
        made[each] = symbol
        owner = made.get(each.owner) if each.owner is not None else None
        if owner is None or owner.children is None:
            roots.append(symbol)
        else:
            owner.children = [*owner.children, symbol]
    return roots


def folds(text: Text) -> list[types.FoldingRange]:
    """Returns the declarations and rules of several lines."""
    lines: dict[int, int] = {}
    for each in text.index.declarations:
        first = text.source.position(each.extent.start)[0] - 1
        last = text.source.position(max(each.extent.end - 1, 0))[0] - 1
        if last > first:
            lines[first] = max(last, lines.get(first, 0))
    return [types.FoldingRange(first, last) for first, last in sorted(lines.items())]


def semantic_tokens(text: Text) -> types.SemanticTokens:
    """Returns the kinds of all names, in the relative form of the protocol."""
    data: list[int] = []
    line = column = 0
    for each in text.index.uses:
        kind = _TOKENS.get(each.declaration.kind)
        if kind is None or "\n" in text.source.text[each.start : each.end]:
            continue
        start, end = text.position(each.start), text.position(each.end)
        is_declaration = each.start == each.declaration.span.start
        is_constant = each.declaration.kind in (Kind.CONSTANT, Kind.MEMBER, Kind.MACRO, Kind.STATE)
        modifiers = is_declaration | is_constant << 1 | each.is_written << 2
        data += [
            start.line - line,
            start.character - (column if start.line == line else 0),
            end.character - start.character,
            TOKEN_KINDS.index(kind),
            modifiers,
        ]
        line, column = start.line, start.character
    return types.SemanticTokens(data)


def inlay_hints(text: Text, within: types.Range) -> list[types.InlayHint]:
    """Returns the values of constants, and the ranges of types, where the text shows a formula for them."""
    first, last = text.offset(within.start), text.offset(within.end)
    hints: list[types.InlayHint] = []
    for each, facts in text.facts.items():
        shown = facts.value or (facts.type if _RANGE.match(facts.type) else "")
        end = each.extent.end
        if each.kind not in (Kind.CONSTANT, Kind.TYPE, Kind.VARIABLE, Kind.MACRO) or not first <= end <= last:
            continue
        if shown and not _LITERAL.match(each.detail) and _squeezed(shown) != _squeezed(each.detail):
            label = f" = {shown}"
            hints.append(types.InlayHint(text.position(end), label, kind=types.InlayHintKind.Type))
    return hints


def formatting(text: Text) -> list[types.TextEdit] | None:
    """Returns the edit that arranges the text; None if the text has mistakes or its language no layout."""
    try:
        made = arranged(text.source.text, text.source.name)
    except (ModelError, OutcropError, RecursionError):
        return None
    if made == text.source.text:
        return []
    return [types.TextEdit(text.range(0, len(text.source.text)), made)]


def titled(text: Text, *kinds: Kind) -> list[Declaration]:
    """Returns the rules, startstates or properties of a text."""
    return [each for each in text.index.declarations if each.kind in TITLED and each.kind in kinds]
