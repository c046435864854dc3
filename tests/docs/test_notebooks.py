"""The notebooks in ``examples/notebooks`` run, and their stored outputs are those of a new execution."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
#: Largest notebook with its outputs, in bytes.
MOST_BYTES = 100_000
#: Figures that differ between executions: times and sizes in memory.
_VARYING = re.compile(r"\d+(\.\d+)? (s|ms|MiB|GiB)\b")


def outputs(notebook: Path) -> list[list[Any]]:
    """Returns the outputs of each code cell, without varying figures; a picture is represented by its type alone."""
    document = json.loads(notebook.read_text(encoding="utf-8"))
    return [[_output(each) for each in cell["outputs"]] for cell in document["cells"] if cell["cell_type"] == "code"]


def _output(output: dict[str, Any]) -> Any:
    data = {"text": output["text"]} if output["output_type"] == "stream" else output["data"]
    return {
        kind: None if kind.startswith("image/") else _VARYING.sub("VARYING", "".join(text))
        for kind, text in data.items()
    }


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_small_and_name_no_place(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert len(text) < MOST_BYTES
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)
    assert all(outputs(notebook)[:1]), "the notebook has not been executed"


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("nbconvert", "ipykernel", "matplotlib"))), reason="needs outcrop[notebook]"
)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_execution_prints_the_stored_outputs(notebook: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    copy = tmp_path / "examples" / "notebooks" / notebook.name
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--inplace", str(copy)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert outputs(copy) == outputs(notebook)
