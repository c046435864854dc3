"""C as text: literals, names and comments that no model can break out of, and blocks of indented lines."""

from __future__ import annotations

import re

from outcrop.ir.types import INT64_MAX, INT64_MIN

_UNSAFE_IN_NAME = re.compile(r"[^A-Za-z0-9_]+")
_UNSAFE_IN_COMMENT = re.compile(r"[^A-Za-z0-9 _.,:;=<>()+\[\]&|!'\"-]")
_ATOM = re.compile(r"\w+")

INDENT = "  "


def identifier(prefix: str, number: int, name: str) -> str:
    """Returns a C name that is unique by its prefix and number, and readable by its name.

    >>> identifier("rule", 3, "send request!")
    'rule_3_send_request'
    """
    words = _UNSAFE_IN_NAME.sub("_", name).strip("_")[:40]
    return f"{prefix}_{number}_{words}" if words else f"{prefix}_{number}"


def comment(text: str) -> str:
    """Returns a comment line without anything that could end it, start a trigraph or continue the line."""
    return f"/* {_UNSAFE_IN_COMMENT.sub('.', text)[:100]} */"


def integer(value: int) -> str:
    """Returns an Integer literal of C.

    >>> integer(5), integer(-5), integer(2**40)
    ('5', '(-5)', 'INT64_C(1099511627776)')
    """
    if value == INT64_MIN:
        return "INT64_MIN"
    if value > INT64_MAX:
        return f"((Integer)UINT64_C({value}))"
    text = str(value) if -(2**31) < value < 2**31 else f"INT64_C({value})"
    return text if value >= 0 else f"({text})"


def unsigned(value: int) -> str:
    """Returns a uint64_t literal of C."""
    return str(value) if value < 2**31 else f"UINT64_C({value})"


def is_atom(text: str) -> bool:
    """Returns whether a text is a name or a number, which can be repeated at no cost."""
    return _ATOM.fullmatch(text) is not None


def bare(text: str) -> str:
    """Returns a text without parentheses around the whole, which compilers warn about in conditions.

    >>> bare("(a == b)"), bare("(a) == (b)")
    ('a == b', '(a) == (b)')
    """
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1]


def negated(text: str) -> str:
    """Returns the negation of a condition."""
    return f"(!{text})" if is_atom(text) or bare(text) != text else f"(!({text}))"


def braced(head: str, body: list[str]) -> list[str]:
    """Returns ``head { body }`` with the body on separate lines."""
    return [f"{head} {{".lstrip(), *indented(body), "}"]


def indented(lines: list[str]) -> list[str]:
    return [INDENT + line if line else line for line in lines]
