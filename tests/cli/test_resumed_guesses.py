"""Resuming a check whose bound was found, rather than given."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop.cli.main import main

MANY = """byte x;
proctype W() { x == 1 }
init { byte n; do :: n < 40 -> run W(); n++ :: break od }
"""


def test_a_checkpoint_names_the_bound_that_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, saved = tmp_path / "m.pml", tmp_path / "saved"
    model.write_text(MANY)
    command = ["check", str(model), "--engine", "native", "--depth", "40", "--deadlock", "off"]
    assert main([*command, "--checkpoint", str(saved)]) == 3
    capsys.readouterr()
    assert main([*command, "--resume", str(saved)]) == 2
    refused = capsys.readouterr().err
    assert "--processes was" in refused and "repeat the command that wrote it with --processes " in refused
    bound = refused.partition("wrote it with --processes ")[2].partition(",")[0]
    assert main([*command, "--resume", str(saved), "--processes", bound]) == 3
