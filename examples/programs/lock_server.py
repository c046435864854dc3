"""A lock server for threads: the program that examples/lock_server.m describes.

Clients call ``acquire`` and ``release`` from threads of their own. The server keeps a queue. Every step is written to a
log by outcrop.tracing, under the lock that protects the step, so that the lines are in the order of the steps.

    python examples/programs/lock_server.py server.jsonl
    outcrop validate examples/lock_server.m server.jsonl

``--bug`` lets a client that finds the queue empty take the lock even if somebody holds it.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections import deque

from outcrop.tracing import Tracer


class LockServer:
    """One lock, and the queue of the clients that wait for it."""

    def __init__(self, tracer: Tracer | None = None, has_bug: bool = False) -> None:
        self.holder: str | None = None
        self.queue: deque[str] = deque()
        self._changed = threading.Condition()
        self._tracer = tracer
        self._has_bug = has_bug

    def acquire(self, client: str) -> None:
        """Waits for the lock."""
        with self._changed:
            self.request(client)
            while not self.may_have(client):
                self._changed.wait()
            self.grant(client)

    def give_back(self, client: str) -> None:
        """Gives the lock back, and wakes the clients that wait."""
        with self._changed:
            self.release(client)
            self._changed.notify_all()

    # --- The steps ---

    def may_have(self, client: str) -> bool:
        if self._has_bug and len(self.queue) == 1:
            return True
        return self.holder is None and self.queue[0] == client

    def request(self, client: str) -> None:
        self.queue.append(client)
        self._log("request", client)

    def grant(self, client: str) -> None:
        self.queue.remove(client)
        self.holder = client
        self._log("grant", client)

    def release(self, client: str) -> None:
        self.holder = None
        self._log("release", client)

    def _log(self, rule: str, client: str) -> None:
        if self._tracer is not None:
            self._tracer.rule(rule, {"c": client}, {"holder": self.holder or "None"})


def work(server: LockServer, client: str, rounds: int, seed: int) -> None:
    """Takes the lock and gives it back, again and again."""
    pauses = random.Random(seed)
    for _ in range(rounds):
        server.acquire(client)
        time.sleep(pauses.random() / 1000)
        server.give_back(client)
        time.sleep(pauses.random() / 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--bug", action="store_true")
    chosen = parser.parse_args()
    with Tracer(chosen.log) as tracer:
        server = LockServer(tracer, chosen.bug)
        clients = [
            threading.Thread(target=work, args=(server, name, chosen.rounds, number))
            for number, name in enumerate(("alice", "bob", "carol"))
        ]
        for each in clients:
            each.start()
        for each in clients:
            each.join()


if __name__ == "__main__":
    main()
