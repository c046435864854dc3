"""Random Promela models of processes that are started with channels, and use both ends of them in many ways."""

from __future__ import annotations

from random import Random

_LABELS = 4


class Ring:
    """Processes with two channels each, which they get as parameters."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = random.randint(2, 3)
        self._width = random.choice((1, 1, 2))

    def text(self) -> str:
        random = self._random
        kinds = ", ".join(["byte"] * self._width)
        names = [f"q[{at}]" for at in range(self._count)]
        if random.random() < 0.3:
            names = [f"q{at}" for at in range(self._count)]
        self._queues = names
        size = f"[{self._count}]" if "[" in names[0] else ""
        declared = ["q"] if size else names
        lines = [
            *(f"chan {name}{size} = [{random.randint(1, 2)}] of {{ {kinds} }};" for name in declared),
            "byte shared;",
            "proctype node(chan a, b; byte me) { byte x, y;",
            *(self._location(at) for at in range(_LABELS)),
            f"L{_LABELS}: skip;",
            "}",
        ]
        runs = "; ".join(self._run(each) for each in range(self._count))
        start = f"atomic {{ {runs} }}" if random.random() < 0.6 else runs
        return "\n".join([*lines, f"init {{ {start} }}", ""])

    def _run(self, at: int) -> str:
        a, b = at, (at + 1) % self._count
        if self._random.random() < 0.2:
            a, b = (self._random.randrange(self._count) for _ in range(2))
        return f"run node({self._queues[a]}, {self._queues[b]}, {at + 1})"

    def _location(self, at: int) -> str:
        options = [self._option(at) for _ in range(self._random.choice((1, 1, 2, 3)))]
        if self._random.random() < 0.15:
            options.append(f":: else -> goto L{_LABELS}")
        return f"L{at}: if {' '.join(options)} fi;"

    def _option(self, at: int) -> str:
        target = at + 1 if self._random.random() < 0.75 else self._random.randrange(_LABELS + 1)
        steps = [self._first(), *(self._more() for _ in range(self._random.choice((0, 0, 1, 2))))]
        if is_relay := self._random.random() < 0.2:
            steps = self._relay()
        body = "; ".join(steps)
        if is_relay or self._random.random() < 0.25:
            body = f"atomic {{ {body} }}"
        elif self._random.random() < 0.1 and len(steps) == 1:
            body = f"d_step {{ {body}; y = 0 }}"
        return f":: {body}; goto L{target}"

    def _first(self) -> str:
        tests = (
            "nempty(b)",
            "nfull(a)",
            "full(a)",
            "empty(b)",
            "len(b) == 1",
            "x < 2",
            "shared == 0",
            "x == y",
            "true",
        )
        if self._random.random() < 0.3:
            return f"({self._random.choice(tests)})"
        return self._channel() if self._random.random() < 0.7 else self._local()

    def _relay(self) -> list[str]:
        """Returns steps that receive and send behind one test, or one of these alone."""
        random = self._random
        rest = ", y" * (self._width - 1)
        tests = random.sample(
            ["nempty(b)", "nfull(a)", "x < 2", "len(a) < 2", "nfull(b)", "nempty(a)"], random.randint(1, 3)
        )
        steps = [
            f"b?x{rest}",
            random.choice(("x = (x + 1) % 3", "shared = x", "b = a", "y = x")),
            f"a!x{rest}",
            self._more(),
        ]
        return [f"({' && '.join(tests)})", *(each for each in steps if random.random() < 0.75)]

    def _more(self) -> str:
        return self._channel() if self._random.random() < 0.35 else self._local()

    def _channel(self) -> str:
        random = self._random
        sent = random.choice(("me", "x", "1", "y", "len(a)")) + ", x" * (self._width - 1)
        got = random.choice(("x", "x", "y", "eval(me)", "1"))
        got += random.choice((", y" if got == "x" else ", x", ", _")) * (self._width - 1)
        one = random.choice(("b?{0}", "b?{0}", "b?{0}", "b??{0}", "b?<{0}>", "a!{1}", "a!{1}", "a!{1}", "a!!{1}"))
        return one.format(got, sent)

    def _local(self) -> str:
        return self._random.choice(
            (
                "x = (x + 1) % 3",
                "y = x",
                "shared = me",
                "shared++",
                "x = shared",
                f"assert(x != {self._random.randint(1, 4)})",
                f"assert(shared != {self._random.randint(1, 4)})",
                "assert(len(b) < 2)",
                "a = b" if self._random.random() < 0.3 else "skip",
            )
        )


def generate_ring(random: Random) -> str:
    """Returns a model."""
    return Ring(random).text()
