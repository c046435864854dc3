"""``outcrop mcp``: the tools, bound to the Model Context Protocol by its official package.

Budgets are arguments without defaults, so that no search runs without a bound. Results of checks are kept until the
server ends, and are named by number; long parts of them are read in pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from outcrop import __version__
from outcrop.agents.answers import explanation, paged, search_manual, summary, whole_states
from outcrop.agents.commands import model_file, refuse_untrusted, run
from outcrop.agents.skill import skill
from outcrop.errors import UsageError

Document = dict[str, Any]
#: Largest number of results that are kept; the oldest ones are forgotten.
_MOST_RESULTS = 50


def serve(root: Path) -> None:
    """Answers requests on standard input and output until the client leaves."""
    build(root).run("stdio")


def build(root: Path) -> MCPServer[Any]:
    """Returns the server. Tools read models under ``root`` only."""
    server: MCPServer[Any] = MCPServer("outcrop", instructions=skill(), version=__version__)
    tools = Tools(root)
    every: tuple[Callable[..., Any], ...] = (
        *(tools.validate_model, tools.check, tools.explain_violation, tools.replay),
        *(tools.explore, tools.simulate, tools.search_docs),
    )
    for each in every:
        server.tool()(each)
    return server


class Tools:
    """The tools. Their names, arguments and docstrings are what an agent sees."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._results = _Results()

    async def validate_model(
        self, model: str, text: str | None = None, constants: Mapping[str, Any] | None = None
    ) -> Document:
        """Parses and type-checks a model: a path, or a file name such as ring.m if `text` holds the model."""
        async with model_file(model, text, self._root) as path:
            done = await run(["lint", path, "--json", "--sandbox", *_constants(constants)], self._root)
        document: Document = done.document()["models"][0]
        return document

    async def check(
        self,
        model: str,
        time_limit_seconds: float,
        memory: str,
        text: str | None = None,
        constants: Mapping[str, Any] | None = None,
        properties: list[str] | None = None,
        invariants: list[str] | None = None,
        ltl: list[str] | None = None,
        deadlock: str = "stuttering",
        max_depth: int | None = None,
        sandbox: bool = True,
    ) -> Document:
        """Checks a model exhaustively within budgets (memory such as 1G). `unknown` proves nothing; read `warnings`."""
        words = [f"--time-limit={time_limit_seconds}s", f"--memory={memory}", f"--deadlock={deadlock}"]
        words += [f"--property={each}" for each in properties or ()]
        words += [f"--invariant={each}" for each in invariants or ()]
        words += [f"--ltl={each}" for each in ltl or ()]
        words += [] if max_depth is None else [f"--depth={max_depth}"]
        words += ["--sandbox"] if sandbox else []
        async with model_file(model, text, self._root) as path:
            done = await run(["check", path, "--json", *_constants(constants), *words], self._root)
        document = done.document()
        return summary(document, self._results.add(document))

    def explain_violation(self, result: int, violation: int = 0, page: int = 0) -> Document:
        """Explains a violation of an earlier check: the reason, and its steps as changes, a page at a time."""
        return explanation(self._results.of(result), violation, page)

    def replay(self, result: int, violation: int = 0, page: int = 0) -> Document:
        """Shows the whole states of the trace of a violation, a page at a time."""
        return whole_states(self._results.of(result), violation, page)

    async def explore(
        self,
        model: str,
        choices: list[int],
        text: str | None = None,
        constants: Mapping[str, Any] | None = None,
        page: int = 0,
        sandbox: bool = True,
    ) -> Document:
        """Steps through a model: takes numbered choices one after the other, and lists what is enabled then."""
        async with model_file(model, text, self._root) as path:
            refuse_untrusted(path, sandbox)
            words = [word for each in choices for word in ("-c", str(each))]
            done = await run(["explore", path, *_constants(constants), *words, "-c", "state", "-c", "list"], self._root)
        if done.code:
            raise UsageError(done.err.strip())
        return paged(done.out.splitlines(), page, "lines", 100)

    async def simulate(
        self,
        model: str,
        time_limit_seconds: float,
        text: str | None = None,
        constants: Mapping[str, Any] | None = None,
        seed: int = 0,
        sandbox: bool = True,
    ) -> Document:
        """Takes random walks, which find violations fast and prove nothing."""
        async with model_file(model, text, self._root) as path:
            refuse_untrusted(path, sandbox)
            limits = [f"--time-limit={time_limit_seconds}s", f"--seed={seed}", "--json"]
            document = (await run(["simulate", path, *_constants(constants), *limits], self._root)).document()
        violation = document.get("violation")
        if violation is not None:
            document["violation"] = {key: violation[key] for key in ("kind", "message", "property") if key in violation}
            document["result"] = self._results.add({"violations": [violation]})
        document.pop("coverage", None)
        return document

    def search_docs(self, query: str, page: int = 0) -> Document:
        """Searches the manual: languages, options, patterns, meaning of verdicts."""
        return search_manual(query, page)


class _Results:
    """The documents of earlier checks, by number."""

    def __init__(self) -> None:
        self._documents: dict[int, Document] = {}
        self._count = 0

    def add(self, document: Document) -> int:
        self._count += 1
        self._documents[self._count] = document
        while len(self._documents) > _MOST_RESULTS:
            del self._documents[next(iter(self._documents))]
        return self._count

    def of(self, number: int) -> Document:
        if number not in self._documents:
            raise UsageError(f"there is no result {number}; check the model again")
        return self._documents[number]


def _constants(constants: Mapping[str, Any] | None) -> list[str]:
    texts = {
        name: str(value).lower() if isinstance(value, bool) else value for name, value in (constants or {}).items()
    }
    return [word for name, value in texts.items() for word in ("-D", f"{name}={value}")]
