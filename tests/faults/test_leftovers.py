"""Files of killed searches: the next search removes them, and keeps those of running ones."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_injected import GRID, STATES

import outcrop
from outcrop.result import Result
from outcrop.store.workdir import WorkDirectory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

#: Makes a work directory with a file in it, and is killed.
KILLED = """
import os, sys
from outcrop.store.workdir import WorkDirectory
(WorkDirectory(sys.argv[1]).path / "run-0").write_text("x")
os.kill(os.getpid(), 9)
"""
CHECKPOINT = {"manifest.json", "states-0"}


class Place:
    """A model with a checkpoint of some of its levels, with files of a killed search in it and next to it."""

    def __init__(self, path: Path) -> None:
        self.checkpoint, self.work = path / "save", path / "work"
        (path / "grid.m").write_text(GRID)
        self.model = outcrop.load(path / "grid.m")
        self.search(checkpoint=str(self.checkpoint), depth=10)
        assert self.names() == CHECKPOINT
        subprocess.run([sys.executable, "-c", KILLED, self.work], check=False)
        for name in ("manifest.new", "manifest.previous.new", "states-1", "states-7", "reserve"):
            (self.checkpoint / name).write_text("left")
        for part in ("0-of-3", "2-of-3"):
            (self.checkpoint / part).mkdir()
            (self.checkpoint / part / "states-0").write_text("left")
            (self.checkpoint / part / "manifest.new").write_text("left")

    def search(self, **options: object) -> Result:
        return self.model.check(strategy="ram", deadlock="off", workdir=str(self.work), threads=1, **options)

    def names(self) -> set[str]:
        return {each.name for each in self.checkpoint.iterdir()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_nothing_is_left_once_a_search_has_come_to_its_end(place: Place) -> None:
    assert place.search(resume=str(place.checkpoint)).states == STATES
    assert place.names() == set()
    assert not list(place.work.iterdir())


def test_only_the_checkpoint_is_left_by_one_that_is_stopped(place: Place) -> None:
    assert place.search(resume=str(place.checkpoint), depth=20).kind == "depth bound reached"
    assert place.names() == {*CHECKPOINT, "manifest.previous.json"}
    assert not list(place.work.iterdir())
    assert place.search(resume=str(place.checkpoint)).states == STATES


def test_a_new_checkpoint_in_a_place_where_one_was_begun(place: Place) -> None:
    (place.checkpoint / "manifest.json").unlink()
    assert place.search(checkpoint=str(place.checkpoint), depth=20).kind == "depth bound reached"
    assert place.names() == CHECKPOINT


def test_what_a_damaged_manifest_may_name_is_kept(place: Place) -> None:
    """It is not yet known whether the previous checkpoint is complete."""
    whole = (place.checkpoint / "manifest.json").read_bytes()
    (place.checkpoint / "manifest.previous.json").write_bytes(whole)
    (place.checkpoint / "manifest.json").write_bytes(whole[:100])
    assert place.search(resume=str(place.checkpoint), depth=10).kind == "depth bound reached"
    assert {*CHECKPOINT, "states-1", "states-7"} <= place.names()


def test_a_checkpoint_that_is_only_read_stays_as_it_is(place: Place, tmp_path: Path) -> None:
    before = place.names()
    assert place.search(resume=str(place.checkpoint), checkpoint=str(tmp_path / "other")).states == STATES
    assert place.names() == before


def test_the_files_of_the_living_stay(place: Place) -> None:
    part = os.open(place.checkpoint / "2-of-3", os.O_RDONLY)
    fcntl.flock(part, fcntl.LOCK_EX)
    with WorkDirectory(place.work) as directory:
        (directory.path / "run-0").write_text("mine")
        assert place.search(resume=str(place.checkpoint)).states == STATES
        assert [each.name for each in place.work.iterdir()] == [directory.path.name]
        assert (directory.path / "run-0").exists()
    os.close(part)
    assert place.names() == {"2-of-3"}
    assert (place.checkpoint / "2-of-3" / "states-0").exists()
