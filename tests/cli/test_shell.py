"""Shells: outcrop.toml, several models, standard input, completion, and manual pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run

from outcrop.cli.completion import candidates
from outcrop.cli.man import page
from outcrop.cli.parser import build_parser

HOLDS = (
    'const N: 3; var x: 0..9; startstate x := 0; end; rule "turn" begin x := (x + 1) % N; end; invariant "low" x < N;'
)
VIOLATED = 'var x: 0..9; startstate x := 0; end; rule "up" x < 9 ==> x := x + 1; end; invariant "low" x < 3;'


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUTCROP_ENGINE", "interpreter")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.m").write_text(HOLDS)
    (tmp_path / "bad.m").write_text(VIOLATED)
    return tmp_path


def configure(models: Path, text: str) -> None:
    (models / "outcrop.toml").write_text(text)


def test_defaults_of_the_directory_and_of_the_model(models: Path, cli: Callable[..., Run]) -> None:
    configure(models, '[check]\ndepth = 1\n[models."good.m"]\nconstants = { N = 5 }\nsymmetry = false\ndepth = 2\n')
    document = json.loads(cli("check", "good.m", "--json").out)
    assert document["options"] == {"constants": {"N": "5"}, "depth": 2, "symmetry": False}
    document = json.loads(cli("check", models / "good.m", "-D", "N=4", "--depth=9", "--json").out)
    assert document["options"]["constants"] == {"N": "4"} and document["options"]["depth"] == 9
    assert json.loads(cli("check", "bad.m", "--json").out)["options"] == {"depth": 1}
    assert json.loads(cli("show", "good.m", "--json").out)["constants"]["N"] == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[check]\nmemroy = '1G'", "outcrop.toml:2: there is no option 'memroy'; did you mean 'memory'?"),
        ("[chek]\ndepth = 1", "outcrop.toml:1: there is no table 'chek'; did you mean 'check'?"),
        ("[models.'good.m']\n\nconstant = 1", "outcrop.toml:3: there is no option 'constant'"),
        ("[check]\nmemory = 'much'", "outcrop.toml: argument --memory: 'much' is not a size"),
        ("[check]\nquiet = 'yes'", "outcrop.toml:2: 'quiet' must be true or false"),
        ("[check]\ndepth = [1, 2]", "outcrop.toml:2: 'depth' takes one value"),
        ("[check\n", "outcrop.toml: "),
    ],
)
def test_wrong_entries_are_named(text: str, said: str, models: Path, cli: Callable[..., Run]) -> None:
    configure(models, text)
    run = cli("check", "good.m")
    assert run.code == 2 and said in run.err


def test_a_sandbox_takes_no_defaults_from_beside_the_model(models: Path, cli: Callable[..., Run]) -> None:
    configure(models, "nonsense")
    assert "outcrop.toml" not in cli("check", "missing.m", "--sandbox").err
    assert "outcrop.toml" in cli("check", "good.m").err


def test_the_check_alone_takes_the_listed_models(models: Path, cli: Callable[..., Run]) -> None:
    assert "outcrop.toml" in cli("check").err
    configure(models, '[models."good.m"]\n')
    run = cli("check", "--json")
    assert (run.code, json.loads(run.out)["verdict"]) == (0, "holds")


def test_several_models_make_a_table(models: Path, cli: Callable[..., Run]) -> None:
    run = cli("check", "good.m", "bad.m", "none.m", "--trace-json", "{model}.itf.json")
    rows = {line.split()[0]: line.split()[1] for line in run.out.splitlines() if line.split()[1:]}
    assert run.code == 1
    assert (rows["good.m"], rows["bad.m"], rows["none.m"]) == ("holds", "violated", "error")
    assert (models / "bad.m.itf.json").exists() and not (models / "good.m.itf.json").exists()
    refused = cli("check", "good.m", "bad.m", "--report", "page.html")
    assert refused.code == 2 and "{model}" in refused.err
    document = json.loads(cli("check", "good.m", "bad.m", "--json").out)
    assert [each["result"]["verdict"] for each in document["results"]] == ["holds", "violated"]


def test_a_model_from_standard_input(models: Path) -> None:
    command = [sys.executable, "-m", "outcrop", "check", "-", "--json"]
    done = subprocess.run(command, input=VIOLATED, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["kind"]) == (1, "invariant")
    text = "byte x; process P { state a; init a; trans a -> a { effect x = 1 - x; }; } system async;"
    done = subprocess.run([*command, "--language", "dve"], input=text, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["states"] == 2


def test_completion_knows_options_values_and_names_of_the_model(models: Path) -> None:
    parser = build_parser()
    assert candidates(parser, ["che"]) == ["check"]
    assert candidates(parser, ["check", "go"]) == ["good.m"]
    assert candidates(parser, ["check", "good.m", "--deadl"]) == ["--deadlock"]
    assert candidates(parser, ["check", "good.m", "--deadlock", "s"]) == ["stuttering", "stuck"]
    assert candidates(parser, ["check", "good.m", "--deadlock=o"]) == ["--deadlock=off"]
    assert candidates(parser, ["check", "good.m", "--property", ""]) == ["low"]
    assert candidates(parser, ["simulate", "good.m", "--weight", ""]) == ["turn="]
    assert candidates(parser, ["check", "good.m", "-D", ""]) == ["N="]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_accepted_by_their_shell(shell: str, cli: Callable[..., Run], tmp_path: Path) -> None:
    script = cli("completion", shell).out
    assert "outcrop completion" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        assert subprocess.run([shell, "-n", tmp_path / "script"], check=False).returncode == 0


#: Calls the completion of each shell for the words of a line, the last of them to be completed.
ASKED = {
    "bash": "COMP_WORDS=({split}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _outcrop; "
    "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
    "zsh": "compadd() {{ shift ${{@[(i)--]}}; print -rl -- ${{(Q)@}}; }}; "
    "words=({words}); CURRENT=${{#words}}; _outcrop",
    "fish": "complete -C {line}",
}


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["check", "--deadl"], {"--deadlock"}),
        (["check", "--deadlock", "st"], {"stuttering", "stuck"}),
        (["check", "--deadlock=o"], {"off"}),
        (["check", "good.m", "--property", "always\\ l"], {"always low"}),
        (["check", "good.m", "--property=always\\ l"], {"always low"}),
        (["check", "two\\ words.m", "-D", ""], {"N="}),
        (["check", "sub/"], {"sub/inner.m"}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str, typed: list[str], found: set[str], models: Path, cli: Callable[..., Run]) -> None:
    """Values after = are completed whole, except in bash, which replaces only the part after it."""
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    (models / "outcrop").write_text(f'#!/bin/sh\nexec {sys.executable} -m outcrop "$@"\n')
    (models / "outcrop").chmod(0o700)
    (models / "sub").mkdir()
    for name in ("good.m", "two words.m", "sub/inner.m"):
        (models / name).write_text(HOLDS.replace('"low"', '"always low"'))
    line = ["outcrop", *typed]
    asked = ASKED[shell].format(
        split=" ".join(shlex.quote(part) for word in line for part in re.findall("=|[^=]+|^$", word)),
        words=" ".join(shlex.quote(word) for word in line),
        line="'" + " ".join(line).replace("\\", "\\\\") + "'",
    )
    script = cli("completion", shell).out.replace("compdef _outcrop outcrop", "")  # needs compinit
    done = subprocess.run(
        [shell, "-c", f"{script}\n{asked}"],
        env={**os.environ, "PATH": f"{models}:{os.environ['PATH']}", "HOME": str(models)},
        capture_output=True,
        text=True,
        check=False,
    )
    offered = {line.removeprefix("--deadlock=").removeprefix("--property=") for line in done.stdout.splitlines()}
    assert offered - {""} == found, done.stderr


def test_manual_pages_name_every_option(cli: Callable[..., Run], tmp_path: Path) -> None:
    parser = build_parser()
    assert cli("man", "-o", tmp_path / "man1").code == 0
    assert len(list((tmp_path / "man1").glob("outcrop*.1"))) == 1 + len(parser.verbs)
    text = page(parser, "check").replace("\\-", "-")
    options = [option for action in parser.verbs["check"]._actions for option in action.option_strings]
    assert all(f"\\fB{option}\\fR" in text for option in options)
    if shutil.which("groff"):
        warnings = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, capture_output=True, text=True)
        assert warnings.stderr == ""
    assert cli("man", "chek").code == 2


def test_lint_reports_every_model_and_searches_nothing(models: Path, cli: Callable[..., Run]) -> None:
    (models / "wrong.m").write_text("var x: 0..nowhere;")
    run = cli("lint", "good.m", "bad.m")
    assert (run.code, run.out, run.err) == (0, "", "")
    run = cli("lint", "good.m", "wrong.m", "none.m")
    assert run.code == 2 and "wrong.m:1:11" in run.err and "none.m" in run.err
    good, wrong = json.loads(cli("lint", "good.m", "wrong.m", "--json").out)["models"]
    assert (good["valid"], good["rules"], good["properties"]) == (
        True,
        ["turn"],
        [{"kind": "invariant", "name": "low"}],
    )
    assert not wrong["valid"] and wrong["diagnostics"][0]["position"]["line"] == 1


def test_sarif_shows_the_steps_of_a_trace(models: Path, cli: Callable[..., Run]) -> None:
    cli("check", "bad.m", "--sarif", "{model}.sarif")
    (result,) = json.loads((models / "bad.m.sarif").read_text())["runs"][0]["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [each["location"]["message"]["text"] for each in flow["locations"][:2]] == [
        "step 0: Startstate 1",
        "step 1: up",
    ]
    assert all(each["location"]["physicalLocation"]["region"]["startLine"] == 1 for each in flow["locations"])
