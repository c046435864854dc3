"""The values of conditions of ``#if``: whole numbers with C's operators."""

from __future__ import annotations

from collections.abc import Callable

#: Shifts are by fewer bits than a number has, as in C.
_BITS = 64


def condition_value(words: list[str]) -> int:
    """Returns the value of a condition. Raises ValueError if it is none, and ZeroDivisionError."""
    try:
        return _Reader(words).whole()
    except RecursionError:
        raise ValueError from None


def _quotient(a: int, b: int) -> int:
    """Divides as C does, towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << b % _BITS, ">>": lambda a, b: a >> b % _BITS},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)
_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda a: int(not a),
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
}


class _Reader:
    """Reads a condition by precedence climbing."""

    def __init__(self, words: list[str]) -> None:
        self._words = [*words, ""]
        self._at = 0

    def whole(self) -> int:
        value = self._choice()
        if self._words[self._at]:
            raise ValueError
        return value

    def _choice(self) -> int:
        value = self._binary(0)
        if not self._accept("?"):
            return value
        then = self._choice()
        self._expect(":")
        otherwise = self._choice()
        return then if value else otherwise

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._operand()
        value = self._binary(level + 1)
        while (operation := _LEVELS[level].get(self._words[self._at])) is not None:
            self._at += 1
            value = operation(value, self._binary(level + 1))
        return value

    def _operand(self) -> int:
        word = self._words[self._at]
        self._at += bool(word)
        if word in _UNARY:
            return _UNARY[word](self._operand())
        if word == "(":
            value = self._choice()
            self._expect(")")
            return value
        return int(word, 8 if word[:1] == "0" and word.isdigit() else 0)

    def _accept(self, word: str) -> bool:
        found = self._words[self._at] == word
        self._at += found
        return found

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise ValueError
