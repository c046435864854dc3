"""A small client of the language server: JSON-RPC over the pipes of a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

SECONDS = 60


class Client:
    """A session with a server. Answers are awaited; notifications of the server are kept."""

    def __init__(self, *arguments: str, encodings: tuple[str, ...] = ()) -> None:
        command = [sys.executable, "-m", "outcrop", "lsp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._messages: Queue[dict[str, Any]] = Queue()
        self._kept: list[dict[str, Any]] = []
        self._number = 0
        Thread(target=self._read, daemon=True).start()
        Thread(target=self.process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
        general = {"positionEncodings": list(encodings)} if encodings else {}
        self.capabilities = self.ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {"general": general}}
        )["capabilities"]
        self.tell("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while line := out.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                line = out.readline()
            self._messages.put(json.loads(out.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _next(self, what: str) -> dict[str, Any]:
        try:
            return self._messages.get(timeout=SECONDS)
        except Empty:
            raise AssertionError(f"the server has not sent {what}") from None

    def tell(self, method: str, parameters: object) -> None:
        self._send({"method": method, "params": parameters})

    def request(self, method: str, parameters: object) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """Returns the whole answer to a request."""
        while True:
            message = self._next(f"answer {number}")
            if message.get("id") == number and "method" not in message:
                return message
            self._kept.append(message)

    def ask(self, method: str, parameters: object) -> Any:
        message = self.answer(self.request(method, parameters))
        assert "error" not in message, message["error"]
        return message["result"]

    def await_notification(self, method: str) -> Any:
        """Returns the parameters of the next notification of a kind."""
        for message in self._kept:
            if message.get("method") == method:
                self._kept.remove(message)
                return message["params"]
        while True:
            message = self._next(method)
            if message.get("method") == method:
                return message["params"]
            self._kept.append(message)

    def diagnostics(self, version: int) -> list[dict[str, Any]]:
        """Returns the diagnostics of a version of a text."""
        while True:
            found = self.await_notification("textDocument/publishDiagnostics")
            if found.get("version") == version:
                return list(found["diagnostics"])


class Document:
    """A text that the client has open."""

    def __init__(self, client: Client, path: Path, text: str, language: str = "murphi") -> None:
        self.client, self.text, self.version = client, text, 1
        self.uri = path.as_uri()
        item = {"uri": self.uri, "languageId": language, "version": 1, "text": text}
        client.tell("textDocument/didOpen", {"textDocument": item})

    def position(self, part: str, offset: int = 0, which: int = 0) -> dict[str, int]:
        """Returns the position of a part of the text, by its number among equal ones."""
        at = -1
        for _ in range(which + 1):
            at = self.text.index(part, at + 1)
        before = self.text[: at + offset]
        return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}

    def change(self, text: str) -> list[dict[str, Any]]:
        """Replaces the text, and returns the diagnostics of the new one."""
        self.text, self.version = text, self.version + 1
        self.client.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [{"text": text}]},
        )
        return self.client.diagnostics(self.version)

    def ask(self, what: str, part: str = "", offset: int = 0, which: int = 0, **more: object) -> Any:
        """Asks a question about the text, or about a part of it."""
        parameters: dict[str, object] = {"textDocument": {"uri": self.uri}, **more}
        if part:
            parameters["position"] = self.position(part, offset, which)
        return self.client.ask(f"textDocument/{what}", parameters)
