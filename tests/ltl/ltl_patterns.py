"""The specification patterns of Dwyer, Avrunin and Corbett (Patterns in property specifications for finite-state
verification, ICSE 1999) as LTL formulas: each pattern in five scopes, with p, s, t, z as events and q, r as the scope's
borders. The order of the scopes is global, before r, after q, between q and r, after q until r.

Each formula comes with the number of states of its automaton and of its negation's automaton. They are the results of
the present translation: a larger number is a regression, and a smaller one should be recorded here.
"""

from __future__ import annotations

#: Pattern and scope: formula, states, states of its negation.
PATTERNS: dict[str, tuple[str, int, int]] = {
    "absence, global": ("G !p", 1, 2),
    "absence, before": ("F r -> (!p U r)", 4, 3),
    "absence, after": ("G (q -> G !p)", 2, 3),
    "absence, between": ("G ((q && !r && F r) -> (!p U r))", 3, 4),
    "absence, until": ("G (q && !r -> (!p W r))", 2, 3),
    "existence, global": ("F p", 2, 1),
    "existence, before": ("!r W (p && !r)", 2, 2),
    "existence, after": ("G !q || F (q && F p)", 5, 2),
    "existence, between": ("G (q && !r -> (!r W (p && !r)))", 2, 3),
    "existence, until": ("G (q && !r -> (!r U (p && !r)))", 2, 3),
    "bounded existence, global": ("!p W (p W (!p W (p W G !p)))", 5, 6),
    "bounded existence, before": (
        "F r -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U (r || (!p U r)))))))))",
        8,
        7,
    ),
    "bounded existence, after": ("F q -> (!q U (q && (!p W (p W (!p W (p W G !p))))))", 6, 7),
    "bounded existence, between": (
        "G ((q && F r) -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U "
        "(r || (!p U r))))))))))",
        9,
        8,
    ),
    "bounded existence, until": (
        "G (q -> ((!p && !r) U (r || ((p && !r) U (r || ((!p && !r) U (r || ((p && !r) U "
        "(r || (!p W r) || G p)))))))))",
        8,
        7,
    ),
    "universality, global": ("G p", 1, 2),
    "universality, before": ("F r -> (p U r)", 4, 3),
    "universality, after": ("G (q -> G p)", 2, 3),
    "universality, between": ("G ((q && !r && F r) -> (p U r))", 3, 4),
    "universality, until": ("G (q && !r -> (p W r))", 2, 3),
    "precedence, global": ("!p W s", 2, 2),
    "precedence, before": ("F r -> (!p U (s || r))", 4, 3),
    "precedence, after": ("G !q || F (q && (!p W s))", 5, 3),
    "precedence, between": ("G ((q && !r && F r) -> (!p U (s || r)))", 3, 4),
    "precedence, until": ("G (q && !r -> (!p W (s || r)))", 2, 3),
    "response, global": ("G (p -> F s)", 2, 2),
    "response, before": ("F r -> (p -> (!r U (s && !r))) U r", 5, 3),
    "response, after": ("G (q -> G (p -> F s))", 3, 3),
    "response, between": ("G ((q && !r && F r) -> (p -> (!r U (s && !r))) U r)", 4, 4),
    "response, until": ("G (q && !r -> ((p -> (!r U (s && !r))) W r))", 3, 4),
    "precedence chain 2-1, global": ("F p -> (!p U (s && !p && X (!p U t)))", 3, 3),
    "precedence chain 2-1, before": ("F r -> (!p U (r || (s && !p && X (!p U t))))", 5, 4),
    "precedence chain 2-1, after": ("G !q || (!q U (q && F p -> (!p U (s && !p && X (!p U t)))))", 4, 4),
    "precedence chain 2-1, between": ("G ((q && F r) -> (!p U (r || (s && !p && X (!p U t)))))", 7, 5),
    "precedence chain 2-1, until": ("G (q -> (F p -> (!p U (r || (s && !p && X (!p U t))))))", 5, 4),
    "precedence chain 1-2, global": ("F (s && X F t) -> ((!s) U p)", 5, 3),
    "precedence chain 1-2, before": ("F r -> ((!(s && !r && X (!r U (t && !r)))) U (r || p))", 6, 4),
    "precedence chain 1-2, after": ("G !q || ((!q) U (q && ((F (s && X F t)) -> ((!s) U p))))", 5, 4),
    "precedence chain 1-2, between": ("G ((q && F r) -> ((!(s && !r && X (!r U (t && !r)))) U (r || p)))", 6, 5),
    "precedence chain 1-2, until": (
        "G (q -> ((!(s && !r && X (!r U (t && !r)))) U (r || p) || G (!(s && X F t))))",
        7,
        4,
    ),
    "response chain 2-1, global": ("G (s && X F t -> X (F (t && F p)))", 7, 3),
    "response chain 2-1, before": ("F r -> (s && X (!r U t) -> X (!r U (t && F p))) U r", 11, 4),
    "response chain 2-1, after": ("G (q -> G (s && X F t -> X (!t U (t && F p))))", 5, 4),
    "response chain 2-1, between": ("G ((q && F r) -> (s && X (!r U t) -> X (!r U (t && F p))) U r)", 16, 5),
    "response chain 2-1, until": (
        "G (q -> (s && X (!r U t) -> X (!r U (t && F p))) U (r || G (s && X (!r U t) -> X (!r U (t && F p)))))",
        22,
        4,
    ),
    "response chain 1-2, global": ("G (p -> F (s && X F t))", 5, 3),
    "response chain 1-2, before": ("F r -> (p -> (!r U (s && !r && X (!r U t)))) U r", 6, 4),
    "response chain 1-2, after": ("G (q -> G (p -> (s && X F t)))", 4, 4),
    "response chain 1-2, between": ("G ((q && F r) -> (p -> (!r U (s && !r && X (!r U t)))) U r)", 5, 5),
    "response chain 1-2, until": (
        "G (q -> (p -> (!r U (s && !r && X (!r U t)))) U (r || G (p -> (s && X F t))))",
        7,
        9,
    ),
    "constrained response, global": ("G (p -> F (s && !z && X (!z U t)))", 5, 3),
    "constrained response, before": ("F r -> (p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U r", 6, 4),
    "constrained response, after": ("G (q -> G (p -> (s && !z && X (!z U t))))", 4, 4),
    "constrained response, between": (
        "G ((q && F r) -> (p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U r)",
        5,
        5,
    ),
    "constrained response, until": (
        "G (q -> (p -> (!r U (s && !r && !z && X ((!r && !z) U t)))) U (r || G (p -> (s && !z && X (!z U t)))))",
        8,
        13,
    ),
}
