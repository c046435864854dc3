"""The server for agents, by the client of the official package over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

mcp = pytest.importorskip("mcp")

BAD = 'var x: 0..99; startstate x := 0; end; rule "up" x < 99 ==> x := x + 1; end; invariant "low" x < 30;'
VACUOUS = BAD.replace("x < 30", "x > 99 -> false").replace("x < 99 ==>", "x < 9 ==>")
ENDLESS = """
var a: array [0..40] of 0..3;
startstate begin for i: 0..40 do a[i] := 0; end; end;
ruleset i: 0..40 do rule "turn" begin a[i] := (a[i] + 1) % 4; end; end;
"""
BUDGET = {"time_limit_seconds": 20, "memory": "500M"}


def session(root: Path, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Runs a conversation with a server that was started for it."""
    words = ["-m", "outcrop", "mcp", "--root", str(root)]
    server = mcp.StdioServerParameters(
        command=sys.executable, args=words, env={**os.environ, "OUTCROP_ENGINE": "interpreter"}
    )

    async def converse() -> None:
        async with mcp.Client(server) as client:
            await talk(client)

    asyncio.run(asyncio.wait_for(converse(), 100))


async def ask(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    document: dict[str, Any] = answer.structured_content
    return document.get("result", document) if set(document) == {"result"} else document


def test_a_violation_is_found_explained_and_replayed(tmp_path: Path) -> None:
    (tmp_path / "bad.m").write_text(BAD)

    async def talk(client: Any) -> None:
        tools = {each.name for each in (await client.list_tools()).tools}
        assert tools == {
            *("validate_model", "check", "explain_violation", "replay", "explore", "simulate", "search_docs"),
        }
        assert "unknown" in client.instructions
        valid = await ask(client, "validate_model", model="bad.m")
        assert valid["valid"] and valid["rules"] == ["up"]
        wrong = await ask(client, "validate_model", model="new.m", text="var x: 0..nowhere;")
        assert not wrong["valid"] and wrong["diagnostics"][0]["position"]["line"] == 1
        checked = await ask(client, "check", model="bad.m", **BUDGET)
        assert (checked["verdict"], checked["violations"][0]["steps"]) == ("violated", 30)
        first = await ask(client, "explain_violation", result=checked["result"])
        assert (len(first["steps"]), first["total"], first["next_page"]) == (20, 31, 1)
        last = await ask(client, "explain_violation", result=checked["result"], page=1)
        assert last["steps"][-1]["changes"] == {"x": 30} and last["next_page"] is None
        states = await ask(client, "replay", result=checked["result"], page=6)
        assert [each["state"] for each in states["states"]] == [{"x": 30}]
        stepped = await ask(client, "explore", model="bad.m", choices=[1, 1])
        assert any("x: 2" in line for line in stepped["lines"])
        found = await ask(client, "search_docs", query="deadlock stuttering")
        assert found["sections"] and found["total"] > 1

    session(tmp_path, talk)


def test_budgets_are_required_and_limits_are_respected(tmp_path: Path) -> None:
    async def talk(client: Any) -> None:
        idle = VACUOUS + 'rule "idle" false ==> end;'
        checked = await ask(client, "check", model="new.m", text=idle, deadlock="off", **BUDGET)
        assert checked["never_fired"] == ["idle"]
        vacuous = await ask(client, "check", model="new.m", text=VACUOUS, deadlock="off", **BUDGET)
        assert vacuous["verdict"] == "holds" and "vacuously" in vacuous["warnings"][0]
        bounded = await ask(client, "check", model="new.m", text=BAD, max_depth=2, **BUDGET)
        assert (bounded["verdict"], bounded["violations"]) == ("unknown", [])
        for arguments in (
            {"model": "new.m", "text": BAD},
            {"model": "../../etc/passwd", **BUDGET},
            {"model": "new.txt", "text": BAD, **BUDGET},
            {"model": "none.m", **BUDGET},
        ):
            assert (await client.call_tool("check", arguments)).is_error
        assert (await client.call_tool("replay", {"result": 99})).is_error
        program = {"model": "new.py", "text": "raise SystemExit", "choices": []}
        assert (await client.call_tool("explore", program)).is_error

    session(tmp_path, talk)


def test_a_cancelled_request_ends_its_search(tmp_path: Path) -> None:
    (tmp_path / "endless.m").write_text(ENDLESS)
    marker = str(tmp_path / "endless.m")

    def searches() -> list[int]:
        lines = {path: path.joinpath("cmdline").read_bytes() for path in Path("/proc").glob("[0-9]*") if readable(path)}
        return [int(path.name) for path, line in lines.items() if marker.encode() in line]

    async def talk(client: Any) -> None:
        budget = {"time_limit_seconds": 300, "memory": "1G"}
        task = asyncio.create_task(client.call_tool("check", {"model": "endless.m", **budget}))
        await until(lambda: bool(searches()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not searches())
        assert (await ask(client, "validate_model", model="endless.m"))["valid"], "the server goes on"

    session(tmp_path, talk)


def readable(path: Path) -> bool:
    try:
        return bool(path.joinpath("cmdline").read_bytes())
    except OSError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)


def test_the_skill_is_printed(cli: Callable[..., Run]) -> None:
    run = cli("mcp", "--skill")
    assert run.code == 0 and run.out.startswith("---\nname: outcrop\n")
    assert cli("mcp", "--root", "/no/such/directory").code == 2
