"""Checkpoints under interruption and damage: searches that are interrupted or killed at any time, and files that are
truncated, flipped or missing. The result is that of an undisturbed search, or a refusal, and never another one."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from matrices import each_strategy

import outcrop
from outcrop import strategies as registry
from outcrop.codegen.c import emit
from outcrop.codegen.compiler import compile_model
from outcrop.codegen.identity import identity
from outcrop.errors import DamagedFile, UsageError
from outcrop.explorer.arena import Arena
from outcrop.explorer.blocks import BlockFrontier
from outcrop.explorer.context import Context
from outcrop.explorer.explorer import Explorer
from outcrop.explorer.ram_then_disk import RamThenDisk
from outcrop.explorer.tuning import Tuning
from outcrop.kernels import Native
from outcrop.options import CheckOptions, Keep
from outcrop.outcome import EventKind, Outcome, Stop
from outcrop.search import ram
from outcrop.store.blockfile import BlockFile
from outcrop.store.checkpoint import CheckpointDirectory
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskFull
from outcrop.strategies import names

#: 1,728 states in 34 levels, with back edges, a cover that is counted and undefined reads.
GRID = """
const N : 11;
type Count : 0 .. N;
var a : array [0 .. 2] of Count; wide : array [0 .. 39] of boolean; nothing : Count;
startstate begin for i : 0 .. 2 do a[i] := 0; end; for i : 0 .. 39 do wide[i] := false; end; end;
ruleset i : 0 .. 2 do
  rule "up" a[i] < N ==> begin a[i] := a[i] + 1; wide[i] := a[i] % 2 = 1; end;
  rule "reset" a[i] % 7 = 6 ==> begin a[i] := 0; wide[i] := false; end;
end;
rule "back" a[0] = N & a[1] = N & a[2] = N ==> begin a[0] := 0; wide[0] := false; end;
rule "copy" a[0] = 5 ==> var x : Count; begin x := nothing; end;
cover "far" a[0] = N & a[1] = N;
"""
MODELS = {
    "grid": GRID,
    "violated": GRID + 'invariant "sum" a[0] + a[1] + a[2] < 25;\n',
    "stuck": """
var x, y : 0 .. 30;
ruleset i : 0 .. 3 do startstate begin x := i; y := 0; end; end;
rule x < 30 & x + y < 40 ==> begin x := x + 1; end;
rule y < 30 & x + y < 40 ==> begin y := y + 1; end;
""",
    "orbits": """
type P : scalarset (4);
var at : array [P] of 0 .. 5; last : P;
startstate begin for p : P do at[p] := 0; end; undefine last; end;
ruleset p : P do
  rule at[p] < 5 ==> begin at[p] := at[p] + 1; last := p; end;
  rule at[p] = 5 ==> begin at[p] := 0; end;
end;
""",
    "chain": """
var x : 0 .. 150; y : 0 .. 99;
startstate begin x := 0; y := 0; end;
rule x < 150 ==> begin x := x + 1; y := (y + 7) % 100; end;
rule x = 150 ==> begin end;
""",
}

#: Options with which strategies reach their limits on small models.
SETTINGS: dict[str, dict[str, Any]] = {
    "layered": {"state_memory": 9_000, "layers": 3},
    "compact": {"bits": 60},
    "disk": {"keep": Keep.STATES, "state_memory": 20_000, "block_size": 50, "block_states": 64},
    "cached": {"state_memory": 20_000},
    "locality": {"keep": Keep.STATES, "state_memory": 20_000, "block_size": 50, "cloud": 0.5},
    "serial": {"keep": Keep.STATES, "state_memory": 9_000, "block_size": 50, "block_states": 64},
}
PAST_RAM: dict[str, dict[str, Any]] = {"auto past RAM": {"state_memory": 9_000}}
STRATEGIES = {**each_strategy(SETTINGS, {}, checkpoints=True, finds_cycles=False), **PAST_RAM}
#: Strategies that visit no state twice.
EXACT = (*names(checkpoints=True, finds_cycles=False, exact=True, revisits=False), *PAST_RAM)
#: Strategies of these that hold all states in one place, so that levels are right even after revisits.
WHOLE = ("ram", "auto", *PAST_RAM)


@cache
def compiled(name: str) -> Native:
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model.m")
        path.write_text(MODELS[name])
        model = outcrop.load(path)
    emitted = emit(model.system, True)
    native = compile_model(emitted.source, notes=emitted.notes)
    native.identity = identity(model.system, model.options, CheckOptions())
    return native


#: Tuning with which searches of small models take checkpoints too.
FEW_LEVELS_AT_A_TIME = Context(tuning=Tuning(levels_a_checkpoint=2))


def search(native: Native, strategy: str, **changes: Any) -> Outcome:
    name = strategy.split()[0]
    chosen = CheckOptions(**{"strategy": name, "threads": 1, **STRATEGIES[strategy], **changes})
    outcome: Outcome = registry.STRATEGIES[name].function()(native, chosen, FEW_LEVELS_AT_A_TIME)
    return outcome


def comparable(outcome: Outcome) -> Outcome:
    return dataclasses.replace(outcome, seconds=0.0, peak_disk_bytes=0, events=[], omission_bound=0.0)


@cache
def expected(name: str) -> Outcome:
    return comparable(search(compiled(name), "ram"))


class Crash(Exception):
    """Raised where the simulated process ends."""


class Trap:
    """A trap for a search: when something happens for the n-th time, the search crashes or is interrupted. A block that
    is being written during a crash is written in part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self.crashes = True
        self.explorer: Explorer | None = None
        for owner, name in (
            (Explorer, "begin"),
            (Explorer, "level_done"),
            (Explorer, "check_stop"),
            (Arena, "restore"),
            (BlockFrontier, "restore"),
            (RamThenDisk, "restore"),
            (RowFile, "append"),
            (RowFile, "cut"),
            (BlockFile, "_write"),
            (BlockFile, "sync"),
            (CheckpointDirectory, "_replace"),
            (CheckpointDirectory, "_remove"),
        ):
            monkeypatch.setattr(owner, name, self._sprung(name, getattr(owner, name)))

    def _sprung(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(this: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(this, Explorer):
                self.explorer = this
            self.left -= 1
            if self.left == 0 and self.crashes:
                if name == "_write":
                    original(this, [piece[: len(piece) // 2] for piece in arguments[0]])
                raise Crash
            if self.left == 0 and self.explorer is not None:
                self.explorer.watch.ask_to_stop(Stop.INTERRUPTED)
            return original(this, *arguments, **named)

        return call


@pytest.mark.parametrize("seed", range(50))
def test_interrupted_anywhere_and_resumed_with_anything(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = random.Random(seed)
    model = choose.choice([*MODELS])
    native, wanted = compiled(model), expected(model)
    trap = Trap(monkeypatch)
    directory, strategies, outcome = tmp_path / "checkpoint", [], None
    choices = [*STRATEGIES] if seed % 2 else [*EXACT]
    for patience in range(12):
        strategies.append(choose.choice(choices))
        has_checkpoint = (directory / "manifest.json").exists()
        options = {
            "threads": choose.choice((1, 1, 2)),
            "workdir": str(tmp_path),
            "checkpoint": None if has_checkpoint else str(directory),
            "resume": str(directory) if has_checkpoint else None,
            "checkpoint_every": choose.choice((0, 0.02, 600)),
        }
        trap.left = choose.randrange(1, 60 * 2**patience) if patience < 9 else -1
        trap.crashes, trap.explorer = choose.random() < 0.5, None
        try:
            outcome = search(native, strategies[-1], **options)
        except Crash:
            continue
        if outcome.stop.is_conclusive:
            break
        assert outcome.stop in (Stop.INTERRUPTED, Stop.COLLISIONS), strategies
    assert outcome is not None
    if strategies[-1] != "cached":  # it may give up
        assert outcome.stop is wanted.stop, strategies
        assert [finding.kind for finding in outcome.findings] == [finding.kind for finding in wanted.findings]
        assert [len(finding.path) for finding in outcome.findings] == [len(finding.path) for finding in wanted.findings]
        assert outcome.noted == wanted.noted
    if set(strategies) <= {*EXACT, "compact"}:
        assert comparable(outcome) == wanted, strategies
    elif strategies[-1] in WHOLE:
        found = dataclasses.replace(
            comparable(outcome), fired=wanted.fired, covered=wanted.covered, generated=wanted.generated
        )
        assert found == wanted, strategies


@pytest.mark.parametrize("second", STRATEGIES)
@pytest.mark.parametrize("first", STRATEGIES)
def test_every_strategy_goes_on_from_every_other(first: str, second: str, tmp_path: Path) -> None:
    native, place = compiled("grid"), str(tmp_path / "checkpoint")
    outcome = search(native, first, checkpoint=place, depth=15, workdir=str(tmp_path))
    assert outcome.stop is Stop.DEPTH
    assert (outcome.events[-1].kind, outcome.events[-1].data["level"]) == (EventKind.CHECKPOINT, 15)
    again = search(native, second, resume=place, workdir=str(tmp_path))
    assert again.stop is Stop.COMPLETE
    assert [event.data["level"] for event in again.events if event.kind is EventKind.RESUMED] == [15]
    if {first, second} <= {*EXACT, "compact"}:
        assert comparable(again) == expected("grid")
        assert bool(again.omission_bound) == ("compact" in (first, second))
    elif second in WHOLE:
        assert again.levels == expected("grid").levels
    else:
        assert again.revisits or again.levels == expected("grid").levels


@pytest.mark.parametrize("strategy", EXACT)
def test_what_was_found_before_a_checkpoint_is_found_after_it(strategy: str, tmp_path: Path) -> None:
    native, place = compiled("violated"), str(tmp_path / "checkpoint")
    wanted = search(native, "ram", max_errors=None).findings
    options = {"max_errors": None, "workdir": str(tmp_path)}
    before = search(native, strategy, checkpoint=place, depth=27, **options)
    assert before.stop is Stop.DEPTH
    assert 0 < len(before.findings) < len(wanted)
    assert search(native, strategy, resume=place, **options).findings == wanted


def test_a_checkpoint_elsewhere_leaves_the_first_as_it_was(tmp_path: Path) -> None:
    native, first, second = compiled("grid"), tmp_path / "first", tmp_path / "second"
    search(native, "ram", checkpoint=str(first), depth=10)
    before = {path.name: path.read_bytes() for path in first.iterdir()}
    for strategy in STRATEGIES:
        outcome = search(native, strategy, resume=str(first), checkpoint=str(second), depth=20, workdir=str(tmp_path))
        assert outcome.stop is Stop.DEPTH
        assert {path.name: path.read_bytes() for path in first.iterdir()} == before
        again = search(native, "ram", resume=str(second))
        assert again.levels == expected("grid").levels
        shutil.rmtree(second)


def test_a_manifest_is_never_changed_in_its_place(tmp_path: Path) -> None:
    """A process that dies in the middle leaves the old manifest: a reader that has it open still reads all of it."""
    native, place = compiled("grid"), tmp_path / "checkpoint"
    search(native, "ram", checkpoint=str(place), depth=10)
    with (place / "manifest.json").open("rb") as file:
        before = file.read()
        search(native, "ram", resume=str(place), depth=20)
        file.seek(0)
        assert file.read() == before
    assert (place / "manifest.json").read_bytes() != before


def test_later_checkpoints_write_only_what_is_new(tmp_path: Path) -> None:
    native, place = compiled("grid"), tmp_path / "checkpoint"
    search(native, "ram", checkpoint=str(place), depth=20)
    before = (place / "states-0").read_bytes()
    search(native, "auto past RAM", resume=str(place), depth=25, workdir=str(tmp_path))
    after = (place / "states-0").read_bytes()
    assert len(after) > len(before)
    assert after.startswith(before)
    assert {path.name for path in place.iterdir()} == {"manifest.json", "manifest.previous.json", "states-0"}


# --- Damage ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a checkpoint that has a previous one."""
    place = tmp_path_factory.mktemp("saved")
    search(compiled("violated"), "ram", checkpoint=str(place), depth=8)
    search(compiled("violated"), "cached", resume=str(place), depth=14, state_memory=None)
    return place


def resumed(place: Path, strategy: str = "ram") -> str:
    """Resumes a damaged checkpoint. Returns what happened."""
    try:
        outcome = search(compiled("violated"), strategy, resume=str(place))
    except DamagedFile as error:
        assert str(place) in str(error)
        return "refused"
    assert comparable(outcome) == expected("violated")
    kinds = [event.kind for event in outcome.events]
    level = outcome.events[kinds.index(EventKind.RESUMED)].data["level"]
    assert (kinds[0] is EventKind.WARNED) is (level == 8)
    return "previous" if level == 8 else "last"


@pytest.fixture
def damaged(saved: Path, tmp_path: Path) -> Callable[[str, Callable[[bytes], bytes | None]], str]:
    def damage(name: str, change: Callable[[bytes], bytes | None]) -> str:
        place = tmp_path / "damaged"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(saved, place)
        content = change((place / name).read_bytes())
        if content is None:
            (place / name).unlink()
        else:
            (place / name).write_bytes(content)
        return resumed(place, random.Random(name).choice(EXACT))

    return damage


def test_truncated_anywhere(damaged: Callable[..., str], saved: Path) -> None:
    last, previous = (
        json.loads((saved / name).read_text())["states"] for name in ("manifest.json", "manifest.previous.json")
    )
    content = (saved / "states-0").read_bytes()
    assert last["bytes"] == len(content) > previous["bytes"]
    starts = [at for at in range(len(content)) if content[at : at + 4] == b"OCB2"]
    choose = random.Random(1)
    ends = {*starts, *(start + 24 for start in starts), *(choose.randrange(len(content)) for _ in range(20))}
    for end in sorted(ends - {len(content)}):
        assert damaged("states-0", lambda data, end=end: data[:end]) == (
            "previous" if end >= previous["bytes"] else "refused"
        )
    assert damaged("states-0", lambda data: data + b"more") == "last"
    assert damaged("states-0", lambda data: None) == "refused"


def test_flipped_anywhere(damaged: Callable[..., str], saved: Path) -> None:
    previous = json.loads((saved / "manifest.previous.json").read_text())["states"]["bytes"]
    choose = random.Random(2)
    for name in ("states-0", "manifest.json", "manifest.previous.json"):
        size = (saved / name).stat().st_size
        for _ in range(25):
            at, bit = choose.randrange(size), choose.randrange(8)

            def flip(data: bytes, at: int = at, bit: int = bit) -> bytes:
                return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]

            became = damaged(name, flip)
            if name == "states-0":
                assert became == ("previous" if at >= previous else "refused")
            else:
                assert became in (("previous", "last") if name == "manifest.json" else ("last",))


def test_a_missing_or_cut_manifest(damaged: Callable[..., str]) -> None:
    assert damaged("manifest.json", lambda data: data[:100]) == "previous"
    assert damaged("manifest.json", lambda data: b"") == "previous"
    assert damaged("manifest.previous.json", lambda data: None) == "last"


def test_a_damaged_checkpoint_is_not_kept_as_the_previous_one(saved: Path, tmp_path: Path) -> None:
    place = tmp_path / "damaged"
    shutil.copytree(saved, place)
    good = (place / "manifest.previous.json").read_bytes()
    (place / "manifest.json").write_bytes(b"{")
    search(compiled("violated"), "ram", resume=str(place), depth=12)
    assert (place / "manifest.previous.json").read_bytes() == good
    assert resumed(place) == "last"


def test_a_state_file_of_another_search_is_refused(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    search(compiled("grid"), "ram", checkpoint=str(other), depth=20)
    shutil.copy(saved / "manifest.json", other)
    assert resumed(other) == "refused"


# --- Refusals ----------------------------------------------------------------------------------------------------


def test_another_search_is_refused_with_what_differs(cli: Callable[..., Any], tmp_path: Path) -> None:
    model, place = tmp_path / "grid.m", tmp_path / "checkpoint"
    model.write_text(GRID)
    check = ("check", model, "--deadlock", "off")
    assert cli(*check, "--checkpoint", place, "--depth", "5").code == 3
    for options, difference in (
        (("-D", "N=12"), "constant N was 11 and is 12"),
        (("--undefined", "error"), "--undefined was permit and is error"),
        (("--deadlock", "stuck"), "--deadlock was off and is stuck"),
        (("--while-limit", "7"), "--while-limit was 1000000 and is 7"),
    ):
        refused = cli(*check, *options, "--resume", place)
        assert refused.code == 2
        assert difference in refused.err
    model.write_text(GRID + "-- changed\n")
    assert "the text of the model differs" in cli(*check, "--resume", place).err
    model.write_text(GRID)
    assert "there is a checkpoint in" in cli(*check, "--checkpoint", place).err
    assert "there is no checkpoint in" in cli(*check, "--resume", tmp_path / "nowhere").err
    assert "writes no checkpoints" in cli(*check, "--engine", "interpreter", "--resume", place).err
    assert cli(*check, "--resume", place).code == 0
    assert not [*place.iterdir()]


def test_a_file_that_a_model_includes_is_part_of_it(tmp_path: Path) -> None:
    model, body, place = tmp_path / "model.pml", tmp_path / "body.h", str(tmp_path / "checkpoint")
    model.write_text('#include "body.h"')
    body.write_text("byte x; active proctype A() { end: do :: x < 5 -> x++ od }")
    outcrop.load(model).check(depth=3, checkpoint=place)
    body.write_text("byte x; active proctype A() { end: do :: x < 5 -> assert(x > 0); x++ od }")
    with pytest.raises(UsageError, match="an included file differs"):
        outcrop.load(model).check(resume=place)


def test_two_searches_cannot_share_a_checkpoint(tmp_path: Path) -> None:
    native, place = compiled("grid"), str(tmp_path / "checkpoint")
    search(native, "ram", checkpoint=place, depth=5)

    def again(progress: object) -> None:
        with pytest.raises(UsageError, match="another search keeps its checkpoint"):
            search(native, "ram", resume=place)

    ram.search(native, CheckOptions(resume=place, depth=7), Context(progress=again))


# --- Full disks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto past RAM", "cached", "disk", "locality", "serial"])
def test_a_disk_budget_that_ends(strategy: str, tmp_path: Path) -> None:
    native, place = compiled("grid"), str(tmp_path / "checkpoint")
    disk = 40_000 if strategy in ("cached", "serial") else 85_000
    outcome = search(native, strategy, checkpoint=place, workdir=str(tmp_path), disk=disk, block_states=64)
    assert outcome.stop is Stop.DISK
    again = search(native, "ram", resume=place)
    assert again.levels == expected("grid").levels


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_disk_budget_below_the_checkpoint(strategy: str, tmp_path: Path) -> None:
    native, place = compiled("grid"), str(tmp_path / "checkpoint")
    search(native, "ram", checkpoint=place, depth=20)
    with pytest.raises(UsageError, match="no disk space for the checkpoint itself"):
        search(native, strategy, resume=place, workdir=str(tmp_path), disk=1_000)
    assert comparable(search(native, "ram", resume=place)) == expected("grid")


def test_a_disk_that_is_full(process: Callable[..., Any], tmp_path: Path) -> None:
    """Keeps everything on a small file system, then resumes elsewhere."""
    model, script = tmp_path / "grid.m", tmp_path / "run"
    model.write_text(GRID.replace("N : 11", "N : 59"))
    script.write_text(
        'set -e\nmount -t tmpfs -o size=2m none "$1"\nshift\ncode=0\n"$@" || code=$?\n'
        'cp -r "$0.small/." "$0.saved"\nexit $code\n'
    )
    (tmp_path / "run.small").mkdir()
    small = str(tmp_path / "run.small")
    wanted = json.loads(process("check", model, "--json", "--deadlock", "off").out)
    for strategy in ("auto", "cached"):
        shutil.rmtree(tmp_path / "run.saved", ignore_errors=True)
        (tmp_path / "run.saved").mkdir()
        command = ["unshare", "-rm", "sh", script, small, sys.executable, "-m", "outcrop", "check", model, "--json"]
        command += ["--deadlock", "off", "--strategy", strategy, "--state-memory", "400K"]
        command += ["--workdir", f"{small}/work", "--checkpoint", f"{small}/checkpoint"]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if run.returncode not in (0, 3):
            pytest.skip(f"cannot mount a small file system: {run.stderr}")
        assert json.loads(run.stdout)["kind"] == "out of disk"
        again = process("check", model, "--json", "--deadlock", "off", "--resume", tmp_path / "run.saved/checkpoint")
        result = json.loads(again.out)
        assert (result["verdict"], result["levels"]) == (wanted["verdict"], wanted["levels"])


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native, place = compiled("grid"), str(tmp_path / "checkpoint")
    search(native, "ram", checkpoint=place, depth=10)

    def full(*arguments: object) -> None:
        raise DiskFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(BlockFile, "_write", full)
        outcome = search(native, "ram", resume=place, depth=20)
    assert EventKind.DISK_FULL in [event.kind for event in outcome.events]
    assert (outcome.events[-1].kind, outcome.events[-1].data["level"]) == (EventKind.CHECKPOINT, 10)
    assert comparable(search(native, "ram", resume=place)) == expected("grid")
