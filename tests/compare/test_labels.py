"""`outcrop compare --labels instances` and mapping files: steps that correspond by their parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import Run
from generator import generate

import outcrop
from outcrop.compare.comparison import CompareOptions, compare
from outcrop.compare.labels import LabelKind, LabelOptions
from outcrop.compare.mapping import LabelMapping
from outcrop.ir.interpreter import Interpreter
from outcrop.ir.layout import State
from outcrop.options import CheckOptions
from outcrop.result import Verdict

Cli = Callable[..., Run]
WALK = """
var at: -2..2;
startstate begin at := 0; end;
ruleset d: -1..1 do rule "step" d != 0 & at + d >= -2 & at + d <= 2 ==> begin at := at + d; end; end;
"""
#: The largest graph that the reference compares.
MOST = 400


def written(tmp_path: Path, name: str, content: str | dict[str, Any]) -> Path:
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path / name


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    """A walk on five places, and the same walk whose start is one place to the side."""
    return written(tmp_path, "one.m", WALK), written(tmp_path, "other.m", WALK.replace("at := 0;", "at := 1;"))


def test_parameters_make_a_difference(cli: Cli, models: tuple[Path, Path]) -> None:
    """By names alone, both walks go on for ever."""
    assert cli("compare", *models).code == 0
    document = json.loads(cli("compare", *models, "--labels", "instances", "--json").out)
    assert document["difference"]["rules"] == ["step, d: 1"] * 2
    assert document["difference"]["model"] == str(models[0])
    assert cli("compare", models[0], models[0], "--labels", "instances").code == 0


def test_labels_are_translated(cli: Cli, models: tuple[Path, Path], tmp_path: Path) -> None:
    """Mirrored, the walk is itself; a sign must not be lost on the way."""
    mirror = written(tmp_path, "map.json", {"first": {"step, d: $d": "go $d"}, "second": {"step, d: $d": "go $d"}})
    swapped = {"first": {"step, d: -1": "step, d: 1", "step, d: 1": "step, d: -1"}}
    shifted = written(tmp_path, "shifted.m", WALK.replace("at := 0;", "at := -1;"))
    labels = ("--labels", "instances", "--map")
    assert cli("compare", models[0], models[0], *labels, mirror).code == 0
    assert cli("compare", models[0], models[1], *labels, mirror).code == 1
    assert cli("compare", shifted, models[1], *labels, written(tmp_path, "swap.json", swapped)).code == 0
    assert cli("compare", shifted, models[1], *labels, mirror).code == 1


def test_values_are_translated_and_steps_hidden(cli: Cli, models: tuple[Path, Path], tmp_path: Path) -> None:
    names = "type side: enum { left, right };\n" + WALK.replace("d: -1..1", "d: side").replace("d != 0 & ", "")
    names = names.replace("at + d", "(d = left ? at - 1 : at + 1)")
    other = written(tmp_path, "names.m", names)
    values = {"first": {"step, d: $d": "step, d: $d"}, "values": {"-1": "left", "1": "right", "0": "none"}}
    mapping = written(tmp_path, "map.json", values)
    assert cli("compare", models[0], other, "--labels", "instances", "--map", mapping).code == 0
    assert cli("compare", models[1], other, "--labels", "instances", "--map", mapping).code == 1
    hidden = written(tmp_path, "hidden.json", {"first": {"step": None}})
    still = written(tmp_path, "still.m", "var x: 0..1; startstate begin x := 0; end;")
    assert cli("compare", models[0], still, "--map", hidden, "--relation", "inclusion").code == 0
    assert cli("compare", models[0], still, "--map", hidden).code == 2


@pytest.mark.parametrize(
    "content", [{"first": {"stop": "x"}}, {"first": {"step": "$p"}}, {"third": {}}, {"second": {"step": None}}, "no"]
)
def test_bad_mapping_files_are_refused(cli: Cli, models: tuple[Path, Path], tmp_path: Path, content: Any) -> None:
    ran = cli("compare", *models, "--map", written(tmp_path, "map.json", content))
    assert ran.code == 2 and "Traceback" not in ran.err


def test_symmetry_does_not_confuse_parameters(cli: Cli, repository: Path, tmp_path: Path) -> None:
    """In one orbit the first node to ask may be any; its name is in the label."""
    murphi, python = (repository / "examples" / f"german_cache.{suffix}" for suffix in ("m", "py"))
    sizes = ("--first", "NodeCount=2", "--second", "NODES=2", "--json")
    same = json.loads(cli("compare", murphi, python, *sizes, "--labels", "instances").out)
    assert same["verdict"] == "holds"
    text = murphi.read_text().replace("sharer[n] := false;\n    undefine answer[n];", "undefine answer[n];")
    assert text != murphi.read_text()
    wrong = written(tmp_path, "wrong.m", text)
    assert json.loads(cli("compare", wrong, python, *sizes, "--labels", "instances").out)["verdict"] == "violated"


def test_names_that_differ_in_signs_alone_stay_apart(cli: Cli, tmp_path: Path) -> None:
    text = 'var x: 0..3; startstate begin x := 1; end; rule "x+" x < 3 ==> begin x := x + 1; end;'
    one = written(tmp_path, "one.m", text + ' rule "x-" x > 0 ==> begin x := x - 1; end;')
    other = written(tmp_path, "other.m", one.read_text().replace("x := 1", "x := 2"))
    assert cli("compare", one, one).code == 0
    assert cli("compare", one, other).code == 1


# --- Against a reference --------------------------------------------------------------------------------------------


Steps = dict[State, list[tuple[str, State]]]


def graph_of(model: outcrop.Model) -> tuple[list[State], Steps] | None:
    """Returns the start states and the labelled steps of a model, by the interpreter; None if there are too many."""
    interpreter = Interpreter(model.system, symmetry=False)

    def kept(state: State | None) -> bool:
        return state is not None and interpreter.check(state).is_kept

    starts = [each.successor for each in interpreter.start_states() if each.successor and kept(each.successor)]
    steps: Steps = {}
    left = list(dict.fromkeys(starts))
    while left:
        state = left.pop()
        if state in steps:
            continue
        found = [(each.label, each.successor) for each in interpreter.successors(state) if kept(each.successor)]
        steps[state] = [(label, after) for label, after in found if after is not None]
        left += [after for _, after in steps[state]]
        if len(steps) > MOST:
            return None
    return starts, steps


def bisimilar(starts: list[State], steps: Steps, first: dict[str, str], second: dict[str, str]) -> bool:
    """Returns whether a graph is bisimilar to itself under two translations of its labels."""
    names = (first, second)
    blocks: dict[tuple[bool, State], int] = {(side, state): 0 for side in (False, True) for state in steps}
    while True:
        signatures = {
            (side, state): (
                block,
                frozenset((names[side][label], blocks[side, after]) for label, after in steps[state]),
            )
            for (side, state), block in blocks.items()
        }
        numbers = {each: number for number, each in enumerate(dict.fromkeys(signatures.values()))}
        refined = {key: numbers[each] for key, each in signatures.items()}
        if len(numbers) == len(set(blocks.values())):
            return {refined[False, each] for each in starts} == {refined[True, each] for each in starts}
        blocks = refined


def agrees_with_the_reference(seed: int, tries: int = 4) -> list[bool]:
    """Compares the answers about one model with itself, under random translations of its labels."""
    random = Random(seed)
    model = outcrop.loads(generate(random), "generated.m", while_limit=50)
    found = graph_of(model)
    if found is None or not found[0]:
        return []
    labels = sorted({rule.label(arguments) for rule in model.system.rules for arguments in rule.instances()})
    verdicts = []
    for _ in range(tries):
        count = random.randint(1, 3)
        first = {each: f"label {random.randrange(count)}" for each in labels}
        others = {each: f"label {random.randrange(count)}" for each in labels}
        second = {each: (first if random.random() < 0.8 else others)[each] for each in labels}
        if set(first.values()) != set(second.values()):
            continue  # for labels that only one of them has, a renaming is looked for
        expected = bisimilar(*found, first, second)
        options = CompareOptions(labels=LabelOptions(LabelKind.INSTANCES, mapping=LabelMapping(first, second)))
        answer = compare(model, model, options, CheckOptions(threads=1, symmetry=False))
        assert (answer.verdict is Verdict.HOLDS) == expected, seed
        verdicts.append(expected)
    return verdicts


def test_random_models_against_the_reference() -> None:
    verdicts = [verdict for seed in range(1, 9) for verdict in agrees_with_the_reference(seed)]
    assert True in verdicts and False in verdicts
