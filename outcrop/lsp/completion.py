"""Completion of names, fields and keywords, and the parameters of calls."""

from __future__ import annotations

import re

from lsprotocol import types

from outcrop.lang.editing import Declaration, Kind
from outcrop.lsp.texts import Text

_ITEMS = {
    Kind.CONSTANT: types.CompletionItemKind.Constant,
    Kind.TYPE: types.CompletionItemKind.Struct,
    Kind.VARIABLE: types.CompletionItemKind.Variable,
    Kind.PARAMETER: types.CompletionItemKind.Variable,
    Kind.MEMBER: types.CompletionItemKind.EnumMember,
    Kind.FIELD: types.CompletionItemKind.Field,
    Kind.FUNCTION: types.CompletionItemKind.Function,
    Kind.PROCESS: types.CompletionItemKind.Class,
    Kind.CHANNEL: types.CompletionItemKind.Interface,
    Kind.STATE: types.CompletionItemKind.EnumMember,
    Kind.LABEL: types.CompletionItemKind.Reference,
    Kind.MACRO: types.CompletionItemKind.Constant,
}
#: A name, perhaps only its beginning, behind a dot or arrow.
_BEHIND_DOT = re.compile(r"(?:\.|->)\s*\w*\Z")


def completion(text: Text, offset: int) -> list[types.CompletionItem]:
    """Returns the names that can stand at an offset. Behind a dot these are fields or states."""
    services = text.services
    if services is None or services.index is None:
        return []
    before = text.source.text[max(0, offset - 200) : offset]
    dotted = _BEHIND_DOT.search(before)
    if dotted and services.members is not None:
        found = services.members(text.index, offset)
        if found or not dotted.group().startswith("->"):
            return [_item(text, each) for each in found]
    known = [_item(text, each) for each in _names(text, offset)]
    taken = {each.label for each in known}
    words = [
        types.CompletionItem(each, kind=types.CompletionItemKind.Keyword, sort_text=f"2{each}")
        for each in sorted(services.keywords)
    ]
    builtins = [
        types.CompletionItem(each, kind=types.CompletionItemKind.Keyword, detail=about, sort_text=f"3{each}")
        for each, about in services.builtins.items()
        if each not in taken
    ]
    return known + words + builtins


def _names(text: Text, offset: int) -> list[Declaration]:
    """Returns the names that are known at an offset. ``init`` of Promela is a keyword too, and listed as one."""
    assert text.services is not None
    words = text.services.keywords
    return [each for each in text.index.visible(offset) if each.kind in _ITEMS and each.name not in words]


def _item(text: Text, each: Declaration) -> types.CompletionItem:
    facts = text.facts.get(each)
    detail = each.signature if each.parameters is not None else each.detail
    if facts is not None and facts.value:
        detail = f"{detail} = {facts.value}" if detail != facts.value else detail
    rank = "0" if each.is_local else "1"
    return types.CompletionItem(
        each.name, kind=_ITEMS.get(each.kind), detail=f"{each.kind} {detail}".strip(), sort_text=f"{rank}{each.name}"
    )


def signature_help(text: Text, offset: int) -> types.SignatureHelp | None:
    """Returns the parameters of the call around an offset."""
    call = _call_around(text.source.text, offset)
    if call is None:
        return None
    name, position = call
    found = text.index.region(offset).find(name)
    if found is None or found.parameters is None:
        return None
    parameters = [types.ParameterInformation(each) for each in found.parameters for _ in range(_count(each))]
    shown = types.SignatureInformation(found.signature, parameters=parameters)
    return types.SignatureHelp([shown], active_signature=0, active_parameter=min(position, max(len(parameters) - 1, 0)))


def _count(parameter: str) -> int:
    """Returns the number of names that one text declares: ``a, b: T`` has two."""
    return parameter.partition(":")[0].count(",") + 1


def _call_around(text: str, offset: int) -> tuple[str, int] | None:
    """Returns the name of the innermost call whose parentheses are open at an offset, and the number of commas."""
    depth = commas = 0
    for at in range(offset - 1, max(-1, offset - 2000), -1):
        character = text[at]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            if depth == 0:
                name = re.search(r"([A-Za-z_]\w*)\s*\Z", text[max(0, at - 100) : at])
                return (name.group(1), commas) if character == "(" and name else None
            depth -= 1
        elif character == "," and depth == 0:
            commas += 1
        elif character == ";" and depth == 0:
            return None
    return None
