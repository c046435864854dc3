"""Hints for words and signs of other languages, with their counterparts in Murphi.

The parser uses them only after an error. A model may declare any of these words, since no text is refused because of
this file.
"""

from __future__ import annotations

from outcrop.ir.types import BOOLEAN, Array, Range, Scalarset, Type, Union

_UPDATE = "there is no '{0}=': write x := x {0} {1}"
_NOT_EQUAL = "'not equal' is written '!='"
_EQUIVALENCE = "'if and only if' is written '='"
_COMMENT = "a comment starts with '--', or stands between '/*' and '*/'"
_END = "every block is closed by 'end'"
_MODEL = "a model has no enclosing construct: it begins with its declarations"
_STARTSTATE = "the first values are set in 'startstate ... end'"

#: Operators that no Murphi text can contain. The lexer reads each as one token, so that messages show it whole.
OPERATORS = {
    "=>": "a guard ends with '==>', 'implies' is written '->', and 'greater or equal' is written '>='",
    "=<": "'less or equal' is written '<='",
    "<>": _NOT_EQUAL,
    "/=": f"{_NOT_EQUAL}; to divide, write x := x / 2",
    "~=": _NOT_EQUAL,
    "!==": _NOT_EQUAL,
    "=/=": _NOT_EQUAL,
    "===": "'equal' is written '='",
    "=:": "an assignment is written ':='",
    "<=>": _EQUIVALENCE,
    "<->": _EQUIVALENCE,
    "...": "a range is written with two dots, as in 0..7",
    **{f"{sign}=": _UPDATE.format(sign, 1) for sign in "+-"},
    **{f"{sign}=": _UPDATE.format(sign, 2) for sign in "*%&|^"},
}

#: Tokens that are valid in other places.
MISPLACED = {
    ":=": "a comparison is written '=', an assignment is a statement of its own",
    "==>": "'==>' stands between the guard and the statements of a rule; 'implies' is written '->'",
    "{": "blocks are written with words, not with braces: if ... then ... end, while ... do ... end",
    "}": "blocks are written with words, not with braces: if ... then ... end, while ... do ... end",
    "case": "a choice among values is written 'switch x case 1: ... case 2: ... else ... end'",
    "begin": "'begin' follows the '==>' of a rule, or the head of a startstate, a function or a procedure",
}

#: Type names of other languages.
TYPES = {
    **dict.fromkeys(
        ("int", "integer", "nat", "natural", "byte", "short", "long", "unsigned", "uint", "number"),
        "give a range: 0..7",
    ),
    "bool": "did you mean 'boolean'?",
    **dict.fromkeys(("string", "str", "char"), "there is no string type: use an enumeration, as in enum {A, B}"),
    **dict.fromkeys(("float", "double", "real"), "give digits and exponent, as in real(6, 99), or a range: 0..7"),
    **dict.fromkeys(("set", "list", "seq"), "use an array or a multiset, as in multiset [4] of T"),
}

#: Words of other languages for statements, operators and declarations.
WORDS = {
    "and": "'and' is written '&'",
    "or": "'or' is written '|'",
    "not": "'not' is written '!'",
    "implies": "'implies' is written '->'",
    "xor": "'xor' of two booleans is written '!='",
    "mod": "the remainder is written '%'",
    "div": "division is written '/'",
    "in": "a variable and its type stand around ':', as in for i: T do ... end",
    "is": "a comparison is written '='",
    "elseif": "did you mean 'elsif'?",
    "elif": "did you mean 'elsif'?",
    "endproc": "did you mean 'endprocedure'?",
    "endfunc": "did you mean 'endfunction'?",
    **dict.fromkeys(("fi", "od", "done", "endloop"), _END),
    "default": "'default' is written 'else'",
    "break": "a case needs no 'break'; a loop ends by its condition, or by 'return', which ends the whole rule",
    "continue": "a loop has no 'continue': put the rest of its body under an 'if'",
    **dict.fromkeys(("skip", "pass"), "to do nothing, write no statement"),
    **dict.fromkeys(("print", "printf", "println", "write", "writeln"), 'a text is printed with: put "..."'),
    **dict.fromkeys(("let", "set"), "an assignment is written x := 1"),
    "call": "a call is the name and its arguments, as in p(1)",
    **dict.fromkeys(("repeat", "loop"), "a loop is written 'while ... do ... end'"),
    **dict.fromkeys(("start", "init", "initial", "initially"), _STARTSTATE),
    **dict.fromkeys(("null", "nil", "none"), "a variable without a value is made by 'undefine x'"),
    **dict.fromkeys(("module", "program", "model", "system", "end_module"), _MODEL),
    **dict.fromkeys(("proc", "def", "func", "fun"), "did you mean 'procedure' or 'function'?"),
    "process": "processes are written as a ruleset over their numbers, with the rules of each",
}

#: Comment signs of other languages.
COMMENTS = {"//": _COMMENT, "#": _COMMENT, "(*": _COMMENT}

_SCALARSET = (
    "the values of a scalarset have no numbers: bind one with 'for', 'ruleset', 'forall' or 'exists', or declare a "
    "range, as in 0..2, instead of the scalarset"
)


def type_hint(given: Type, wanted: Type) -> str:
    """Returns a hint for a value of type ``given`` where ``wanted`` is needed."""
    if isinstance(given, Range):
        if has_scalarset(wanted):
            return _SCALARSET
        if wanted is BOOLEAN:
            return "the booleans are true and false; a number is compared, as in x != 0"
    if isinstance(wanted, Array) and given in (wanted.element, wanted.index):
        return "pick one element, as in a[i]"
    if isinstance(given, Scalarset) and isinstance(wanted, Range):
        return _SCALARSET
    return ""


def scalarset_hint(first: Type, second: Type) -> str:
    """Returns a hint for an operator between a scalarset and a number."""
    for one, other in ((first, second), (second, first)):
        if has_scalarset(one) and isinstance(other, Range):
            return _SCALARSET
    return ""


def has_scalarset(kind: Type) -> bool:
    members = kind.members if isinstance(kind, Union) else (kind,)
    return any(isinstance(each, Scalarset) for each in members)
