"""Promela models with claims ``xr`` and ``xs``: whether we find a violation, and whether SPIN does.

SPIN checks claims only with its reduction on, and keeps them to the end of its search. It also counts statements
that block.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claims:
    name: str
    text: str
    is_violated: bool
    differs: bool = False  #: SPIN says otherwise


_CHANNELS = "chan c = [2] of { byte }; chan d = [2] of { byte }; byte x; "

CLAIMS = [
    Claims(name, _CHANNELS + text, is_violated, differs)
    for name, text, is_violated, differs in [
        ("kept", "active proctype P() { xs c; c!1; c!2 } active proctype Q() { xr c; c?x; c?_ }", False, False),
        ("second sender", "active proctype P() { xs c; c!1 } active proctype Q() { c!2 }", True, False),
        ("second receiver", "active proctype P() { xr c; c?x } active proctype Q() { c!1; c?_ }", True, False),
        ("receiver of another", "active proctype P() { xr c; c?x } active proctype Q() { c!1; d!1 }", False, False),
        ("sorted send", "active proctype P() { xs c; c!1 } active proctype Q() { c!!2 }", True, False),
        ("two in one", "active proctype P() { xs c, d; c!1 } active proctype Q() { d!2 }", True, False),
        ("claimed twice", "active [2] proctype P() { xr c; x = 1 }", True, False),
        ("in dead code", "active proctype P() { if :: false -> xs c; c!1 :: else fi } init { c!2 }", True, False),
        ("in an atomic sequence", "active proctype P() { xs c } init { x = 1; atomic { x = 2; c!2 } }", True, False),
        ("in a d_step", "active proctype P() { xs c } init { x = 1; d_step { x = 2; c!2 } }", True, False),
        ("nempty", "active proctype P() { xr c; c?x } init { c!1; nempty(c) }", True, False),
        ("nempty of a sender", "active proctype P() { xs c; c!1 } init { nempty(c) }", False, False),
        ("nfull", "active proctype P() { xs c; c!1 } init { nfull(c) }", True, False),
        ("nfull of a receiver", "active proctype P() { xr c; c?x } init { c!1; nfull(c) }", False, False),
        ("len", "active proctype P() { xs c; c!1 } init { x = len(c) }", True, False),
        ("poll", "active proctype P() { xs c; c!1 } init { c?[1] }", True, False),
        ("own tests", "active proctype P() { xs c; xr c; nfull(c); c!1; x = len(c); c?[1] }", False, False),
        ("parameters", "proctype P(chan a, b) { xr a; xs b; b!1; a?x } init { run P(c, d);"
         " run P(d, c) }", False, False),
        ("same parameters", "proctype P(chan a, b) { xr a; b!1; a?x } init { run P(c, d); run P(c, d) }", True, False),
        ("parameter of another", "proctype P(chan a) { xr a; a?_ } init { c!1; run P(c); c!2; c?x }", True, False),
        ("before it begins", "proctype P() { xr c; c?_ } init { c!1; c!2; c?x; run P() }", False, False),
        ("own channel", "proctype P() { chan o = [1] of { byte }; xs o; o!1 } init { run P(); run P() }", False, False),
        ("array", "chan q[2] = [1] of { byte }; active [2] proctype P() { chan m = q[_pid]; xs m; m!1 }", False, False),
        ("array of others", "chan q[2] = [1] of { byte }; active [2] proctype P() { chan m = q[_pid]; xs m; m!1;"
         " q[0]!1 }", True, False),
        ("number taken again", "proctype P() { xs c } proctype Q() { c!1 }"
         " init { run P(); _nr_pr == 1; run Q() }", False, False),
        # SPIN: a claim outlives its process.
        ("gone", "proctype P() { xs c } init { run P(); _nr_pr == 1; c!1 }", False, True),
        # SPIN: a receive that blocks counts as well.
        ("blocked", "active proctype P() { xr c; c?x } active proctype Q() { c?x }", False, True),
        # SPIN: every claim about a channel without a buffer is an error.
        ("rendezvous", "chan r = [0] of { byte }; active proctype P() { xs r; r!1 } init { r?x }", False, True),
        ("rendezvous of others", "chan r = [0] of { byte }; active proctype P() { xs r; r!1 }"
         " active proctype Q() { r!2 } init { r?x; r?x }", True, False),
        ("receivers of a rendezvous", "chan r = [0] of { byte }; active proctype P() { xr r; r?_ }"
         " active proctype Q() { r?_ } init { r!1; r!2 }", True, False),
    ]
]  # fmt: skip
