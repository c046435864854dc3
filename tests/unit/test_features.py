"""The features that the emitter reports for a model, compared with the model and with the compiled library."""

from __future__ import annotations

import pytest

from outcrop.codegen.c import emit
from outcrop.codegen.compiler import FLAGS, compile_model
from outcrop.codegen.features import Feature
from outcrop.gpu.source import why_not
from outcrop.ir.automaton import Automaton, Edge
from outcrop.ir.product import product, strong_fairness, weak_fairness
from outcrop.ir.system import System
from outcrop.kernels.abi import structure
from outcrop.lang import load_text
from outcrop.lang.registry import read_options
from outcrop.options import LoadOptions

UNOPTIMISED = (*(flag for flag in FLAGS if flag != "-O2"), "-O0")
PLAIN = """
type thing: scalarset(2);
var x: 0 .. 1; b: array [thing] of boolean;
startstate begin x := 0; for t: thing do b[t] := false; end; end;
rule "flip" begin x := 1 - x; end;
"""
#: Features that a model needs when this text is added to it.
ADDED = {
    "": set(),
    'invariant "in range" x < 2;': {Feature.INVARIANTS},
    'assume "in range" x < 2;': {Feature.ASSUMPTIONS},
    'cover "one" x = 1;': {Feature.COVER_PROPERTIES},
    'liveness "one" x = 1;': {Feature.LIVENESS},
    'rule "shout" begin put "here"; end;': {Feature.PRINTING},
    "var r: real(3, 9); startstate begin x := 0; undefine b; r := 1.5; end;": {Feature.REALS},
    'rule "compare" 1.5 < x * 1.0 ==> begin end;': {Feature.REALS},
    'rule "wide" x < 18446744073709551615 ==> begin end;': {Feature.WIDE_INTEGERS},
    # A name alone is not a reason.
    'rule "real double HAS_REALS" begin end;': set(),
}


def system_of(text: str, **options: object) -> System:
    return load_text(text, "model.m", LoadOptions(own=read_options("model.m", options)))[0]


def with_automaton(system: System, kind: str) -> System:
    span = system.rules[0].span
    always = Automaton("Q", ("q",), 0, frozenset({0}), (Edge(0, 0, None, span),), span)
    fairness = {"none": None, "weak": weak_fairness(system), "strong": strong_fairness(system)}[kind]
    return product(system, always, fairness)


@pytest.mark.parametrize("added", ADDED)
def test_a_model_needs_what_it_has(added: str) -> None:
    assert emit(system_of(PLAIN + added), False, prints=True).features == ADDED[added]


def test_what_is_asked_for_is_needed() -> None:
    system = system_of(PLAIN)
    assert emit(system, True).features == {Feature.NORMALISE}
    assert emit(system, True, normalise=False).features == set()
    assert emit(system, False, coverage=True).features == {Feature.COVERAGE}


@pytest.mark.parametrize(
    ("fairness", "features"),
    [
        ("none", set()),
        ("weak", {Feature.FAIRNESS, Feature.FAIRNESS_COUNTER}),
        ("strong", {Feature.FAIRNESS, Feature.MOVERS}),
    ],
)
def test_products_need_an_automaton(fairness: str, features: set[Feature]) -> None:
    emitted = emit(with_automaton(system_of(PLAIN), fairness), False)
    assert emitted.features == {Feature.AUTOMATON, *features}


def test_the_kernels_know_all_features_by_the_same_names() -> None:
    names = {name for name, *_ in structure("Features")._fields_}
    assert names == {feature.name.lower() for feature in Feature}


@pytest.mark.parametrize("kind", ["plain", "full", "weak", "strong"])
def test_the_library_was_compiled_for_what_the_emitter_says(kind: str) -> None:
    if kind == "plain":
        emitted = emit(system_of(PLAIN), False)
    elif kind == "full":
        emitted = emit(system_of(PLAIN + "".join(ADDED)), True, coverage=True, prints=True)
    else:
        emitted = emit(with_automaton(system_of(PLAIN), kind), False)
    native = compile_model(emitted.source, flags=UNOPTIMISED, kernels=())
    assert native.features == {feature.name.lower() for feature in emitted.features}
    assert native.prints == (Feature.PRINTING in emitted.features)
    assert native.has_coverage == (Feature.COVERAGE in emitted.features)


def test_a_gpu_is_refused_for_what_its_kernels_lack_and_not_for_names() -> None:
    for added, reason in [
        ('rule "real double" begin end;', None),
        ('rule "shout" begin put "here"; end;', "it prints (--print)"),
        ('liveness "one" x = 1;', "it has liveness properties"),
        ('rule "compare" 1.5 < x * 1.0 ==> begin end;', "it computes with real numbers"),
    ]:
        system = system_of(PLAIN + added)
        assert why_not(system, emit(system, False, prints=True)) == reason
