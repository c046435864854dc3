"""The server of the explorer: its answers, and the requests that it refuses."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

import outcrop
from outcrop.api import read_source
from outcrop.explore.goals import starting_from
from outcrop.ir.interpreter import Interpreter
from outcrop.lang import load_open
from outcrop.options import LoadOptions
from outcrop.report.explorer_page import explorer_document, explorer_page
from outcrop.serve.operations import Explorer
from outcrop.serve.server import Server


def explorer_of(path: Path) -> Explorer:
    system, _, lower = load_open(read_source(path), LoadOptions())
    return Explorer(system, lower, LoadOptions(), explorer_document(system), engine="interpreter")


@pytest.fixture
def buffer() -> Explorer:
    return explorer_of(REPOSITORY / "examples" / "bounded_buffer.m")


@pytest.fixture
def server(buffer: Explorer) -> Iterator[Server]:
    page, policy = explorer_page(buffer.document)
    with Server(0, page, policy, buffer.answer) as made:
        thread = threading.Thread(target=lambda: made.serve_forever(poll_interval=0.01))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@dataclass(frozen=True)
class Answer:
    status: int
    policy: str
    text: str


def ask(server: Server, path: str, method: str = "POST", headers: dict[str, str] | None = None) -> Answer:
    """Makes a request as the page does, apart from some headers."""
    port = server.server_address[1]
    sent = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json", **(headers or {})}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(connection):
        connection.request(method, path, json.dumps({"do": "open"}) if method == "POST" else None, sent)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers["Content-Security-Policy"], answer.read().decode())


def test_steps_branches_and_goes_back(buffer: Explorer) -> None:
    first = buffer.answer({"do": "open"})
    assert [each["label"] for each in first["choices"]] == ["produce"]
    second = buffer.answer({"do": "fire", "at": first["at"], "choice": 0})
    labels = [each["label"] for each in second["choices"]]
    branches = [buffer.answer({"do": "fire", "at": second["at"], "choice": each}) for each in range(len(labels))]
    assert len({each["at"] for each in branches}) == len(labels) == 2
    again = buffer.answer({"do": "fire", "at": second["at"], "choice": 0})
    assert again["at"] == branches[0]["at"], "what was taken before is not taken twice"
    assert len(again["history"]) == 4 and again["path"] == [*second["path"], again["at"]]
    assert [each["taken"] for each in buffer.answer({"do": "show", "at": second["at"]})["choices"]] == [True, True]
    assert len(again["graph"]["nodes"]) == len({json.dumps(each["state"]) for each in _states(buffer)})


def _states(explorer: Explorer) -> list[dict[str, Any]]:
    return [{"state": each.step.state} for each in explorer.history.moments if each.step is not None]


def test_searches_from_here_for_a_violation_and_for_an_expression(buffer: Explorer) -> None:
    at = buffer.answer({"do": "fire", "at": buffer.answer({"do": "open"})["at"], "choice": 0})["at"]
    found = buffer.answer({"do": "search", "at": at})
    assert found["wrong"].startswith("invariant") and "Reached in 3 steps" in found["said"]
    assert found["path"][: len(buffer.history.path(at))] == [each.number for each in buffer.history.path(at)]
    goal = buffer.answer({"do": "search", "at": at, "text": "put_at = 2"})
    assert goal["trace"]["states"][-1]["put_at"] == 2 and "Reached in 1 step," in goal["said"]
    never = buffer.answer({"do": "search", "at": goal["at"], "text": "put_at = 1 & put_at = 2"})
    assert "at" not in never and "is true in no state that can be reached from here" in never["said"]
    assert "error" in buffer.answer({"do": "search", "at": at, "text": "no such variable"})


def test_evaluates_walks_and_loads(buffer: Explorer, tmp_path: Path) -> None:
    at = buffer.answer({"do": "open"})["at"]
    assert buffer.answer({"do": "evaluate", "at": at, "text": "put_at + 1"}) == {"value": "1"}
    assert "error" in buffer.answer({"do": "evaluate", "at": at, "text": "put_at +"})
    one, other = (buffer.answer({"do": "walk", "at": at, "steps": 20, "seed": 3}) for _ in range(2))
    assert one["at"] == other["at"] and len(one["path"]) > 1
    document = outcrop.load(REPOSITORY / "examples" / "bounded_buffer.m").check(engine="interpreter").to_dict()
    loaded = buffer.answer({"do": "load", "document": document})
    assert loaded["wrong"] and len(loaded["path"]) == 5
    assert buffer.answer({"do": "open"})["at"] == loaded["at"]
    begun = buffer.answer({"do": "load", "document": document, "step": 1})
    assert begun["path"] == loaded["path"][:2] and buffer.answer({"do": "open"})["at"] == begun["at"]
    assert "no step 5" in buffer.answer({"do": "load", "document": document, "step": 5})["error"]


@pytest.mark.parametrize(
    "request_", [None, [], {}, {"do": "quit"}, {"do": "show", "at": 99}, {"do": "show"}, {"do": "fire", "at": "x"}]
)
def test_bad_requests_have_answers(buffer: Explorer, request_: Any) -> None:
    assert set(buffer.answer(request_)) == {"error"}


@pytest.mark.parametrize("model", sorted((REPOSITORY / "examples").glob("*.m")), ids=lambda path: path.stem)
def test_a_state_is_made_again_by_a_start_state(model: Path) -> None:
    system = outcrop.load(model).system
    interpreter = Interpreter(system, symmetry=False)
    state = next(each.successor for each in interpreter.start_states() if each.successor)
    for number in range(8):
        made = [each.successor for each in Interpreter(starting_from(system, state), symmetry=False).start_states()]
        assert made == [state]
        following = [each.successor for each in interpreter.successors(state) if each.successor]
        if not following:
            break
        state = following[number % len(following)]


def test_serves_the_page_and_answers(server: Server) -> None:
    page = ask(server, f"/{server.secret}/", method="GET")
    assert page.status == 200 and "connect-src 'self'" in page.policy
    assert "explorer" in page.text
    answer = ask(server, f"/{server.secret}/do", headers={"Origin": server.origin})
    assert answer.status == 200 and json.loads(answer.text)["path"] == [1]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 404),
        ("/{secret}", {}, 404),
        ("/wrong/do", {}, 404),
        ("/{secret}/do", {"Host": "evil.example"}, 403),
        ("/{secret}/do", {"Host": "evil.example:80", "Origin": "http://evil.example"}, 403),
        ("/{secret}/do", {"Origin": "http://evil.example"}, 403),
        ("/{secret}/do", {"Origin": "null"}, 403),
        ("/{secret}/do", {"Content-Type": "text/plain"}, 415),
    ],
)
def test_refuses_everybody_else(server: Server, path: str, headers: dict[str, str], status: int) -> None:
    answer = ask(server, path.format(secret=server.secret), headers=headers)
    assert answer.status == status
    assert server.secret not in answer.text


def test_listens_on_this_machine_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.secret) >= 24
