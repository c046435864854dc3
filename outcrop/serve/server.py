"""A server for one reader on this machine: bound to 127.0.0.1, with a secret in the address.

Whoever can open a page in the reader's browser can send requests to 127.0.0.1. Three checks keep such pages out: the
address begins with a secret that they do not know; the Host header must be ours, so that a name that somebody points at
127.0.0.1 is refused; and an Origin header, where the browser sends one, must be ours too.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADDRESS = "127.0.0.1"
#: Largest request, in bytes: a saved trace.
_LARGEST = 50_000_000
_TYPES = {"html": "text/html; charset=utf-8", "json": "application/json; charset=utf-8", "text": "text/plain"}


class Server(ThreadingHTTPServer):
    """Serves one page, and answers its requests."""

    daemon_threads = True

    def __init__(self, port: int, page: str, policy: str, answer: Callable[[Any], dict[str, Any]]) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.secret = secrets.token_urlsafe(24)
        self.page = page
        self.policy = policy
        self.answer = answer

    @property
    def origin(self) -> str:
        """The address without the secret."""
        return f"http://{ADDRESS}:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        return f"{self.origin}/{self.secret}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "outcrop"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Sends the page."""
        if self._is_allowed("/"):
            self._send(HTTPStatus.OK, "html", self.server.page)

    def do_POST(self) -> None:
        """Answers a request of the page."""
        if not self._is_allowed("/do"):
            return
        if self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _LARGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._send(HTTPStatus.OK, "json", json.dumps(self.server.answer(request)))

    def _is_allowed(self, path: str) -> bool:
        """Returns whether a request has our host, no foreign origin and the secret. Refuses it if not."""
        port = self.server.server_address[1]
        hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        is_ours = self.headers.get("Host") in hosts and origin in (None, *(f"http://{each}" for each in hosts))
        if not is_ours:
            self._refuse(HTTPStatus.FORBIDDEN)
            return False
        if not compare_digest(self.path.encode(), f"/{self.server.secret}{path}".encode()):
            self._refuse(HTTPStatus.NOT_FOUND)
            return False
        return True

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(status, "text", f"{status.value} {status.phrase}\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in {
            "Content-Type": _TYPES[kind],
            "Content-Length": str(len(content)),
            "Content-Security-Policy": self.server.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing: the terminal belongs to the reader."""
