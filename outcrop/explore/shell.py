"""The prompt of `outcrop explore`, for terminals and for piped commands."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from outcrop.errors import ModelError, UsageError
from outcrop.explore.saved import read
from outcrop.explore.session import Session
from outcrop.trace.itf import trace_document
from outcrop.trace.render import TraceStyle, fired, printed, render

#: Largest number of choices that are listed after a step.
_MOST_CHOICES = 30

_HELP = """\
  NUMBER, TEXT    take the choice with that number, or the only one whose label contains the text
  random [N [S]]  take N choices at random, as the seed S decides (default: 1 and 0)
  list [TEXT]     list all choices, or those whose labels contain the text
  state [TEXT]    show the whole state, or the variables whose names contain the text
  diff            show what the last step changed
  print EXPR      evaluate an expression of the model's language in this state (also: = EXPR)
  trace [STYLE]   show the trace so far: diff, full, or in SPIN's words (spin)
  back [N]        undo a step, or N steps
  forward [N]     redo undone steps
  jump N          go to step N of the trace; the start state is 0
  start           go back to the choice of a start state
  load FILE       load a saved trace; then jump to any step and continue from there
  save FILE       save the trace so far
  help, quit"""

#: Function that evaluates an expression in the current state of a session.
Evaluate = Callable[[Session, str], str]


@dataclass
class Shell:
    """Command interpreter that returns the lines to print."""

    session: Session
    evaluate: Evaluate
    write: Callable[[str, dict[str, Any]], None]  #: writes a document to a file
    has_ended: bool = False

    def greet(self) -> Iterator[str]:
        self.session.restart()
        yield f"{self.session.system.name}: 'help' lists commands"
        yield from self._where()

    def run(self, line: str) -> Iterator[str]:
        """Yields the output of one line of input."""
        try:
            yield from self._command(line.strip())
        except (UsageError, ModelError) as error:
            yield str(error)

    def _command(self, line: str) -> Iterator[str]:
        if line.startswith("="):
            line = f"print {line[1:]}"
        word, _, rest = line.partition(" ")
        command = _COMMANDS.get(_full(word.lower())) if word else None
        if command is not None:
            yield from command(self, rest.strip())
        elif line:
            self.session.take(self.session.find(line))
            yield from self._where()

    # --- Commands ----------------------------------------------------------------------------------------------

    def _help(self, rest: str) -> Iterator[str]:
        yield _HELP

    def _quit(self, rest: str) -> Iterator[str]:
        self.has_ended = True
        return iter(())

    def _random(self, rest: str) -> Iterator[str]:
        steps, _, seed = rest.partition(" ")
        chance = random.Random(_number(seed.strip(), 0))
        choice = None
        for _ in range(_number(steps, 1)):
            choices = self.session.choices()
            choice = chance.choice(choices) if choices else None
            if choice is None or choice.failure or self.session.wrong():
                break
            self.session.take(choice)
        yield from self._where()
        if choice is not None and choice.failure:
            yield f"stopped before {choice.label}, which fails"

    def _list(self, rest: str) -> Iterator[str]:
        yield from self._choices(rest, None)

    def _state(self, rest: str) -> Iterator[str]:
        if self.session.state is None:
            raise UsageError("there is no state yet; choose a start state")
        lines = list(self.session.values(rest))
        if not lines:
            raise UsageError(f"no variable has '{rest}' in its name")
        yield from (f"  {line}" for line in lines)

    def _diff(self, rest: str) -> Iterator[str]:
        if len(self.session.steps) < 2:
            raise UsageError("no rule has fired yet")
        yield from (f"  {line}" for line in list(self.session.differences()) or ["(nothing changes)"])

    def _print(self, rest: str) -> Iterator[str]:
        if not rest:
            raise UsageError("the expression is missing; write it as in: print x + 1")
        yield from (f"  {line}" for line in self.evaluate(self.session, rest).split("\n"))

    def _trace(self, rest: str) -> Iterator[str]:
        styles = {"": TraceStyle.DIFF, **{str(each): each for each in TraceStyle if each is not TraceStyle.OFF}}
        if rest not in styles:
            raise UsageError(f"'{rest}' is not a style; write 'trace', 'trace full' or 'trace spin'")
        yield from render(self.session.trace(), styles[rest])

    def _back(self, rest: str) -> Iterator[str]:
        if len(self.session.steps) < 2 and len(self.session.choices()) == 0:
            raise UsageError("there is no step to undo")
        if not self.session.back(_number(rest, 1)):
            raise UsageError("there is no step to undo")
        yield from self._where()

    def _forward(self, rest: str) -> Iterator[str]:
        if not self.session.forward(_number(rest, 1)):
            raise UsageError("there is no undone step")
        yield from self._where()

    def _jump(self, rest: str) -> Iterator[str]:
        self.session.jump(_number(rest, None))
        yield from self._where()

    def _start(self, rest: str) -> Iterator[str]:
        self.session.restart()
        yield from self._where()

    def _load(self, rest: str) -> Iterator[str]:
        yield from self.load(_file(rest))

    def load(self, path: str) -> Iterator[str]:
        """Loads a saved trace and shows its last state. Raises UsageError if the file is not a trace."""
        count = self.session.load(read(path))
        yield f"{count:,} states; this is the last one, and 'jump 0' goes to the first"
        yield from self._where()

    def _save(self, rest: str) -> Iterator[str]:
        if not self.session.steps:
            raise UsageError("there is nothing to save yet")
        self.write(_file(rest), trace_document(self.session.trace()))
        yield f"written to {_file(rest)}"

    # --- Output after every step -------------------------------------------------------------------------------

    def _where(self) -> Iterator[str]:
        session = self.session
        if session.steps:
            number, step = len(session.steps) - 1, session.steps[-1]
            yield f"Step {number}: {fired('Startstate' if number == 0 else 'Rule', step.label)}"
            shown = list(session.differences()) if number else list(session.values())
            if len(shown) > 2 * _MOST_CHOICES:
                shown = [*shown[: 2 * _MOST_CHOICES], f"... and {len(shown) - 2 * _MOST_CHOICES:,} more: 'state'"]
            yield from (f"    {line}" for line in [*(shown or ["(nothing changes)"]), *printed(step.printed)])
            wrong = session.wrong()
            if wrong:
                yield f"  VIOLATION: {wrong}"
        yield from self._choices("", _MOST_CHOICES)

    def _choices(self, part: str, most: int | None) -> Iterator[str]:
        choices = self.session.choices()
        wanted = [
            (number, each) for number, each in enumerate(choices, 1) if not part or part.lower() in each.label.lower()
        ]
        if not choices:
            yield "  no rule is enabled" if self.session.steps else "  there is no start state"
        margin = len(str(len(choices)))
        for number, each in wanted[:most]:
            loops = "  (changes nothing)" if each.firing.successor == self.session.state else ""
            fails = f"  FAILS: {each.failure}" if each.failure else ""
            yield f"  {number:>{margin}}  {each.label}{loops}{fails}"
        if most is not None and len(wanted) > most:
            yield f"  ... and {len(wanted) - most:,} more: 'list' shows all, 'list TEXT' some"


def _number(text: str, default: int | None) -> int:
    if not text and default is not None:
        return default
    if not text.isdigit():
        raise UsageError(f"'{text}' is not a number" if text else "the number of a step is missing")
    return int(text)


def _file(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        words = [text]
    if len(words) != 1:
        raise UsageError("give the name of one file")
    return words[0]


_COMMANDS: dict[str, Callable[[Shell, str], Iterator[str]]] = {
    "help": Shell._help,
    "quit": Shell._quit,
    "random": Shell._random,
    "list": Shell._list,
    "state": Shell._state,
    "diff": Shell._diff,
    "print": Shell._print,
    "trace": Shell._trace,
    "back": Shell._back,
    "forward": Shell._forward,
    "jump": Shell._jump,
    "start": Shell._start,
    "load": Shell._load,
    "save": Shell._save,
}
_SHORT = {"h": "help", "?": "help", "q": "quit", "exit": "quit", "l": "list", "s": "state", "d": "diff", "p": "print"}
_SHORT |= {"t": "trace", "b": "back", "f": "forward", "j": "jump", "r": "start", "restart": "start"}


def _full(word: str) -> str:
    return _SHORT.get(word, word)
