"""Traces of Promela models: names of values, SPIN's words, and message charts."""

from __future__ import annotations

import json
from pathlib import Path

import outcrop
from outcrop.result import Violation
from outcrop.trace.chart import ArrowKind, Chart, chart
from outcrop.trace.render import TraceStyle, render


def violated(tmp_path: Path, text: str) -> Violation:
    path = tmp_path / "m.pml"
    path.write_text(text)
    return outcrop.load(path).check(engine="interpreter").violations[0]


def charted(tmp_path: Path, text: str) -> Chart:
    path = tmp_path / "m.pml"
    path.write_text(text)
    document = json.loads(json.dumps(outcrop.load(path).check(engine="interpreter").to_dict()))
    return chart(document, document["violations"][0])


FRUIT = """mtype = { one, two, three }; mtype:fruit = { apple, pear }; mtype:box = { small };
typedef T { mtype:fruit f; mtype m }
chan q = [1] of { mtype, byte, bool, mtype:fruit };
"""


def test_values_have_the_names_of_their_own_mtype(tmp_path: Path) -> None:
    text = FRUIT + (
        "mtype m = two; mtype:fruit f = pear; mtype:none n = 3; T t;\n"
        "active proctype P() { atomic { t.f = apple; t.m = three };"
        ' printf("%e %d %e %d|", f, f, three, true); printm(m); assert(false) }'
    )
    trace = violated(tmp_path, text).trace
    assert trace is not None
    lines = render(trace, TraceStyle.FULL)
    last = [each.strip() for each in lines[lines.index(next(each for each in lines if each.startswith("3"))) :]]
    assert {"m: two", "f: pear", "n: 3", "t.f: apple", "t.m: three", "prints: two"} <= set(last)
    assert "prints: pear 1 three 1|" in {each.strip() for each in lines}


def test_fields_of_a_message_keep_their_order_in_charts(tmp_path: Path) -> None:
    made = charted(tmp_path, FRUIT + "active proctype P() { q!two,7,true,pear; assert(false) }")
    sent = [arrow.text for row in made.rows for arrow in row.arrows if arrow.kind is ArrowKind.SENT]
    assert sent == ["two, 7, true, pear"]
