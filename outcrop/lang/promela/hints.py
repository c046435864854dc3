"""Hints for words and signs of other languages, with their counterparts in Promela.

The parser uses them only after an error. A model may declare any of these words, since no text is refused because of
this file.
"""

from __future__ import annotations

_TYPES = "there is no type '{}': the types are bit, bool, byte, short, int, unsigned, mtype and chan"
CHANNEL = "a channel is declared: chan c = [2] of { mtype, byte }"
_LOOP = "a loop is written: do :: condition -> ... :: else -> break od"
_CHOICE = "a choice is written: if :: condition -> ... :: else -> ... fi"
_INLINE = "there are no functions: 'inline' names a piece of text, and 'proctype' declares processes"
_NAMES = "names for values are declared with: mtype = { a, b, c }"

WORDS = {
    **{each: _TYPES.format(each) for each in ("float", "double", "real", "long", "char", "string", "uint", "integer")},
    "boolean": "did you mean 'bool'?",
    "G": "'always' is written []",
    "F": "'eventually' is written <>",
    "and": "'and' is written '&&'",
    "or": "'or' is written '||'",
    "not": "'not' is written '!'",
    "mod": "the remainder is written '%'",
    **dict.fromkeys(("while", "repeat", "loop", "until", "forever"), _LOOP),
    **dict.fromkeys(("then", "elif", "elseif", "elsif", "switch", "case", "endif"), _CHOICE),
    **dict.fromkeys(("void", "function", "procedure", "def", "func"), _INLINE),
    "struct": "a structure is declared with: typedef T { ... }",
    "enum": _NAMES,
    **dict.fromkeys(("const", "constant"), "a constant is a macro: #define N 3"),
    **dict.fromkeys(("wait", "await", "when"), "a condition that stands alone waits until it is true"),
    **dict.fromkeys(("send", "receive", "recv"), "messages are sent by channel!value, and received by channel?x"),
}

#: Signs that stand where a statement, a declaration or the rest of an expression was expected.
SIGNS = {
    "?": "c?x is a statement of its own; c?[x] asks for a message, and (condition -> a : b) is an expression",
    "[": "arrays have one dimension: for two, put an array into a typedef",
    ".": "numbers are whole, and a field follows a variable of a typedef",
    "++": "write x++, which is a statement of its own and no part of an expression",
    "--": "write x--, which is a statement of its own and no part of an expression",
}

#: Words behind which a number of processes is sometimes written, though it stands behind "active" alone.
PROCESSES = frozenset(("proctype", "D_proctype"))
NUMBER_OF_PROCESSES = "the number of processes is written: active [2] proctype P()"

#: Operators that some languages join with '='.
_JOINED = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))


def of_assignment(before: str) -> str:
    """Returns a hint for a '=' that stands where it cannot, by the sign before it."""
    if before in _JOINED:
        return f"there is no '{before}=': write x = x {before} ..."
    return "a comparison is written '=='"
