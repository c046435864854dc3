"""``--keep-states`` and ``outcrop recheck``: the answers of a new check, without a search."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
LOCK = "examples/lock_server.m"


def keep(cli: Cli, model: Path, directory: Path, *options: str) -> int:
    return int(cli("check", model, "--keep-states", directory, "-q", *options).code)


def recheck(cli: Cli, directory: Path, *invariants: str) -> tuple[int, dict[str, Any]]:
    given = [word for each in invariants for word in ("--invariant", each)]
    done = cli("recheck", directory, *given, "--json")
    return done.code, json.loads(done.out) if done.out else {"error": done.err}


@pytest.mark.parametrize(
    ("model", "invariant"),
    [
        (LOCK, "forall c: Client do holder = c -> forall d: Client do !waiting[d] end end"),
        ("examples/ticket_lock.dve", "next == 0"),
        ("examples/bounded_buffer.py", "self.put_at < 2"),
    ],
)
@pytest.mark.parametrize("strategy", ["auto", "disk"])
def test_answers_are_those_of_a_check(
    cli: Cli, repository: Path, tmp_path: Path, model: str, invariant: str, strategy: str
) -> None:
    if model.endswith((".dve", ".py")) and strategy == "disk":
        pytest.skip("one strategy past RAM is enough for one language")
    # Traces of the interpreter may name other scalarset values, and it may be the first to answer.
    found = ("--engine", "native", "--trace-order", "found")
    checked = json.loads(cli("check", repository / model, "--invariant", invariant, *found, "--json").out)
    assert keep(cli, repository / model, tmp_path / "kept", "--strategy", strategy) in (0, 1)
    code, document = recheck(cli, tmp_path / "kept", invariant)
    assert (code, document["verdict"]) == (1, checked["verdict"]) == (1, "violated")
    assert len(document["trace"]["states"]) == len(checked["trace"]["states"])
    assert document["violations"][0]["because"] == checked["violations"][0]["because"]


def test_each_invariant_has_its_verdict(cli: Cli, repository: Path, tmp_path: Path) -> None:
    keep(cli, repository / LOCK, tmp_path / "kept")
    code, document = recheck(cli, tmp_path / "kept", "holder = None", "true", "forall c: Client do !waiting[c] end")
    assert code == 1
    assert [each["status"] for each in document["properties"]] == ["violated", "holds", "violated"]
    assert [len(each["trace"]["states"]) for each in document["violations"]] == [2, 3]
    code, document = recheck(cli, tmp_path / "kept", "true")
    assert (code, document["verdict"], document["guarantee"]) == (0, "holds", "exact")


def test_an_incomplete_search_shows_nothing(cli: Cli, repository: Path, tmp_path: Path) -> None:
    assert keep(cli, repository / LOCK, tmp_path / "kept", "--depth", "2") == 3
    assert recheck(cli, tmp_path / "kept", "true")[0] == 3
    violated = ("--invariant", "holder = None")
    assert keep(cli, repository / LOCK, tmp_path / "other", *violated) == 1
    assert recheck(cli, tmp_path / "other", "true")[0] == 3
    assert keep(cli, repository / LOCK, tmp_path / "whole", *violated, "--continue") == 1
    assert recheck(cli, tmp_path / "whole", "true")[0] == 0


def test_kept_states_are_not_offered_for_resuming(cli: Cli, repository: Path, tmp_path: Path) -> None:
    first, second = (
        cli("check", repository / LOCK, "--keep-states", tmp_path / "kept", "--depth", "2") for _ in range(2)
    )
    assert (first.code, second.code) == (3, 2)  # the second time there are states already
    assert "recheck" in first.out and "--resume" not in first.out + second.err


def test_an_omission_bound_is_kept(cli: Cli, repository: Path, tmp_path: Path) -> None:
    keep(cli, repository / LOCK, tmp_path / "kept", "--strategy", "compact")
    code, document = recheck(cli, tmp_path / "kept", "true")
    assert (code, document["verdict"]) == (0, "holds")
    assert "probability" in document["guarantee"]


def test_other_models_and_damage_are_refused(cli: Cli, repository: Path, tmp_path: Path) -> None:
    model = tmp_path / "lock.m"
    shutil.copy(repository / LOCK, model)
    keep(cli, model, tmp_path / "kept")
    model.write_text(model.read_text() + "-- changed\n")
    assert recheck(cli, tmp_path / "kept", "true")[0] == 2
    shutil.copy(repository / LOCK, model)
    states = tmp_path / "kept" / "states-0"
    content = bytearray(states.read_bytes())
    content[-1] ^= 1
    states.write_bytes(content)
    assert recheck(cli, tmp_path / "kept", "true")[0] == 3


@pytest.mark.parametrize("content", [None, "broken"])
def test_an_earlier_checkpoint_is_not_taken_for_all_states(
    cli: Cli, repository: Path, tmp_path: Path, content: str | None
) -> None:
    """A search that is resumed may continue from it. It lacks the states of later levels."""
    keep(cli, repository / LOCK, tmp_path / "kept", "--checkpoint-every", "0s")
    manifest = tmp_path / "kept" / "manifest.json"
    assert manifest.with_name("manifest.previous.json").exists()
    if content is None:
        manifest.unlink()
    else:
        manifest.write_text(content)
    assert recheck(cli, tmp_path / "kept", "true")[0] == 3


def test_a_search_without_a_level_kept_nothing(cli: Cli, repository: Path, tmp_path: Path) -> None:
    code = keep(cli, repository / LOCK, tmp_path / "kept", "--time-limit", "0.000001s")
    if code == 0:
        pytest.skip("the search ended before its clock was read")
    assert code == 3
    code, document = recheck(cli, tmp_path / "kept", "true")
    assert code in (2, 3) and document.get("verdict") != "holds"


def test_usage(cli: Cli, repository: Path, tmp_path: Path) -> None:
    assert recheck(cli, tmp_path, "true")[0] == 2
    assert keep(cli, repository / LOCK, tmp_path / "a", "--checkpoint", str(tmp_path / "b")) == 2
    assert keep(cli, repository / LOCK, tmp_path / "a", "--reduce", "por") == 2
    refused = cli("check", repository / LOCK, "--keep-states", tmp_path / "a", "--strategy", "bitstate")
    assert refused.code == 2 and "--keep-states" in refused.err
    keep(cli, repository / LOCK, tmp_path / "kept")
    assert recheck(cli, tmp_path / "kept")[0] == 2
    assert recheck(cli, tmp_path / "kept", "holdr = None")[0] == 2
