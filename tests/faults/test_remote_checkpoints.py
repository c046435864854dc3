"""Checkpoints in remote places: copied while the search continues, verified, resumed, and removed after a verdict."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import outcrop
from outcrop.check.remote import check_remotely
from outcrop.errors import Undecided, UsageError
from outcrop.options import CheckOptions
from outcrop.outcome import EventKind
from outcrop.result import Result
from outcrop.store.remote import Remote

pytest.importorskip("fsspec")

GRID = """
var a: array [0..1] of 0..149;
startstate begin for i: 0..1 do a[i] := 0; end; end;
ruleset i: 0..1 do rule "next" a[i] < 149 ==> begin a[i] := a[i] + 1; end; end;
"""
STATES = 150 * 150


def check(**options: object) -> Result:
    return outcrop.loads(GRID).check(deadlock="off", threads=1, **options)


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser()))
    place = f"memory://{tmp_path.name}/far" if request.param == "memory" else f"file://{tmp_path}/far"
    yield place
    remote = Remote(place)
    remote.remove(remote.names())


def test_a_search_is_resumed_from_far_away(url: str) -> None:
    first = check(checkpoint=url, depth=100)
    (saved,) = [each for each in first.events if each.kind is EventKind.CHECKPOINT]
    assert saved.text.endswith(f"--resume {url}")
    names = Remote(url).names()
    assert any(name.startswith("index-") for name in names)
    second = check(resume=url, depth=200)
    assert str(second.verdict) == "unknown"
    (event,) = [each for each in second.events if each.kind is EventKind.RESUMED]
    assert event.text.startswith(f"resumed from '{url}'")
    third = check(resume=url)
    assert (str(third.verdict), third.states, third.levels) == ("holds", STATES, check().levels)
    assert Remote(url).names() == [], "a verdict removes the checkpoint"


def test_ranks_copy_their_parts_and_one_process_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    (tmp_path / "grid.m").write_text(GRID)
    place = f"file://{tmp_path}/far"
    command = [sys.executable, "-m", "outcrop", "check", str(tmp_path / "grid.m"), "--deadlock", "off"]
    ranks = [*command, "--ranks", "2", "--checkpoint", place, "--depth", "100"]
    done = subprocess.run(ranks, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 3 and done.stdout.count(f"--resume {place}") == 2, done
    done = subprocess.run([*command, "--resume", place, "--json"], capture_output=True, check=True, timeout=100)
    assert json.loads(done.stdout)["states"] == STATES
    assert not [path for path in (tmp_path / "far").rglob("*") if path.is_file()]


def test_only_new_states_are_copied_and_two_checkpoints_are_kept(url: str) -> None:
    check(checkpoint=url, depth=50)
    before = set(Remote(url).names())
    check(resume=url, depth=100)
    after = set(Remote(url).names())
    segments = {name for name in before if name.startswith("states-")}
    assert segments < after, "the segments of the first checkpoint are still in use"
    assert len([name for name in after if name.startswith("index-")]) == 2


def test_damage_is_noticed_and_the_previous_checkpoint_used(url: str) -> None:
    check(checkpoint=url, depth=50)
    check(resume=url, depth=100)
    remote = Remote(url)
    old = json.loads(remote.read("index-000000001.json"))["segments"]
    new = json.loads(remote.read("index-000000002.json"))["segments"]
    added = next(each["name"] for each in new if each not in old)
    remote._files.pipe_file(remote.path(added), b"damaged")
    resumed = check(resume=url, depth=60)
    (event,) = [each for each in resumed.events if each.kind is EventKind.RESUMED]
    assert "level 50" in event.text
    for name in Remote(url).names():
        remote._files.pipe_file(remote.path(name), b"damaged")
    with pytest.raises(Undecided, match="can be read"):
        check(resume=url)


def test_refusals(url: str) -> None:
    with pytest.raises(UsageError, match="no checkpoint"):
        check(resume=url)
    check(checkpoint=url, depth=5)
    with pytest.raises(UsageError, match="already"):
        check(checkpoint=url, depth=5)
    with pytest.raises(UsageError, match=r"outcrop\[remote\]"):
        check(checkpoint="nosuch://place")


def test_a_place_that_refuses_leaves_the_checkpoint_here(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    result = check(checkpoint=f"file://{tmp_path}/file/below", depth=50)
    warned = next(each.text for each in result.events if each.kind is EventKind.NOT_COPIED)
    kept = re.search(r"kept in '([^']*)'", warned)
    assert kept is not None
    try:
        assert check(resume=kept[1]).states == STATES
    finally:
        shutil.rmtree(kept[1], ignore_errors=True)


@pytest.mark.parametrize("ranks", [1, 2])
def test_quiet_checks_tell_where_a_checkpoint_is_kept(ranks: int, tmp_path: Path) -> None:
    if ranks > 1:
        pytest.importorskip("mpi4py")
    (tmp_path / "file").write_text("no directory")
    (tmp_path / "grid.m").write_text(GRID)
    command = [sys.executable, "-m", "outcrop", "check", str(tmp_path / "grid.m"), "--deadlock", "off", "-q"]
    command += ["--ranks", str(ranks), "--depth", "50", "--checkpoint", f"file://{tmp_path}/file/below"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, env=environment)
    assert done.returncode == 3 and "depth bound reached" in done.stdout
    kept = re.findall(r"kept in '([^']*)'", done.stderr)
    assert len(set(kept)) == ranks, done.stderr
    assert all(list(Path(each).rglob("manifest.json")) for each in kept)


def test_an_error_tells_where_a_checkpoint_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    options = CheckOptions(checkpoint=f"file://{tmp_path}/file/below", workdir=str(tmp_path))

    def fail(local: CheckOptions) -> Result:
        assert local.checkpoint is not None
        place = Path(local.checkpoint)
        (place / "states-0").write_bytes(b"12")
        (place / "manifest.json").write_text('{"states": {"file": "states-0", "bytes": 2}}')
        raise Undecided("the disk failed")

    with pytest.raises(Undecided, match="disk failed") as raised:
        check_remotely(options, fail)
    kept = re.search(r"kept in '([^']*)'", raised.value.__notes__[0])
    assert kept is not None
    assert (Path(kept[1]) / "states-0").read_bytes() == b"12"
    shutil.rmtree(kept[1])


def test_sigterm_saves_far_away_within_seconds(tmp_path: Path) -> None:
    model = tmp_path / "large.m"
    model.write_text(GRID.replace("149", "9999"))
    place = f"file://{tmp_path}/far"
    command = [sys.executable, "-m", "outcrop", "check", str(model), "--deadlock", "off", "--checkpoint", place]
    process = subprocess.Popen([*command, "--checkpoint-every", "0s", "--engine", "native"], stdout=subprocess.PIPE)
    while not list(tmp_path.glob("far/index-*")):  # copied while the search continues
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and f"--resume {place}".encode() in out
    resumed = outcrop.load(model).check(deadlock="off", resume=place, states=1)
    assert any(each.kind is EventKind.RESUMED for each in resumed.events)


def test_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    server = server_module.ThreadedMotoServer(port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        Remote("s3://bucket")._files.mkdir("bucket")
        test_a_search_is_resumed_from_far_away("s3://bucket/grid")
    finally:
        server.stop()


@pytest.mark.parametrize("option", ["checkpoint", "resume"])
def test_a_place_that_does_not_answer_is_named(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Object stores raise errors of their own, which are no OSError."""

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no such endpoint")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.find", refuse)
    with pytest.raises(UsageError, match=r"cannot reach 'memory://away'.*no such endpoint.*credentials"):
        check(**{option: "memory://away"})
