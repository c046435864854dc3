"""Promela models with accept labels in processes: whether ``pan -a`` finds a violation, with and without a claim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    name: str
    text: str
    is_violated: bool
    acceptance: bool = False  #: loaded with --acceptance, since it has no claim


_LOOP = "byte x; active proctype P() { accept: do :: x = 1 - x od } "
_INSIDE = "byte x; active proctype P() { do :: atomic { x = 1; accept: x = 0 } od } "
_ENDS = "byte x; active proctype P() { x = 1; accept: skip } "
_WAITS = "byte x; active proctype P() { x = 1; accept: false } "
_PASSES = "byte x; active proctype P() { atomic { x = 1; accept: x = 0 }; false } "
_LEAVES = "byte x; active proctype P() { do :: x == 0 -> accept: x = 1 :: x = 0 od } "
_ANY = "never { do :: true od }"

LABELS = [
    Labels("the claim lets all runs go on", _LOOP + _ANY, True),
    Labels("the claim follows the run", _LOOP + "never { do :: x == 0 :: x == 1 od }", True),
    Labels("the claim changes its state", _LOOP + "never { T: x == 0; x == 1; goto T }", True),
    Labels("the claim blocks", _LOOP + "never { do :: x == 0 od }", False),
    Labels("the claim leaves out the label", _LEAVES + "never { do :: x == 0 && !P@accept od }", False),
    Labels("the claim allows the label", _LEAVES + "never { do :: !P@accept :: P@accept od }", True),
    Labels("a process waits at the label", _WAITS + _ANY, True),
    Labels("a process passes the label once", _ENDS + _ANY, False),
    Labels("inside an atomic sequence", _INSIDE + _ANY, True),
    Labels("inside an atomic sequence, once", _PASSES + _ANY, False),
    Labels("an atomic sequence, no claim", _INSIDE, True, acceptance=True),
    Labels("an atomic sequence, once, no claim", _PASSES, False, acceptance=True),
    Labels("a second process", _INSIDE + "byte y; active proctype Q() { do :: y = 1 - y od } " + _ANY, True),
]
