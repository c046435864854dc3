"""Checks whose checkpoints are in an object store: a local directory takes their place, and is copied there."""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from outcrop.dist.transport import transport_of
from outcrop.errors import OutcropError, UsageError
from outcrop.options import CheckOptions, is_remote
from outcrop.outcome import Event, EventKind
from outcrop.result import Result
from outcrop.scratch import ScratchDirectory
from outcrop.store.remote import COPIED, Mirror, Remote
from outcrop.store.workdir import work_place


class LocalCheckpoints:
    """The options with local directories in place of remote ones. ``report`` corrects the names in a result."""

    def __init__(self, options: CheckOptions, home: Path) -> None:
        self._places = {url: str(home / str(number)) for number, url in enumerate(_urls(options))}
        self.options = dataclasses.replace(
            options,
            checkpoint=self._places.get(options.checkpoint or "", options.checkpoint),
            resume=self._places.get(options.resume or "", options.resume),
        )
        self._part = transport_of(options.ranks).part_name
        self.failure = ""  #: why the last checkpoint is not in the remote place, and where it is
        self._mirror = self._opened(options)

    def _opened(self, options: CheckOptions) -> Mirror | None:
        goal, known = options.checkpoint or options.resume, {}
        if options.resume in self._places:
            known = Remote(options.resume).fetch(Path(self._places[options.resume]))
            if not known:
                raise UsageError(f"there is no checkpoint in '{options.resume}'; name the place given to --checkpoint")
        if goal is None or goal not in self._places:
            return None
        remote, local = Remote(goal), Path(self._places[goal])
        local.mkdir(parents=True, exist_ok=True)
        if goal != options.resume and remote.indexes():
            raise UsageError(f"there is a checkpoint in '{goal}' already; resume it with --resume, or remove it")
        is_first = transport_of(options.ranks).rank == 0
        return Mirror(remote, local, self._part, known if goal == options.resume else {}, is_first)

    def close(self) -> None:
        """Copies the last checkpoint. If that fails, keeps the local directory, which ``report`` names."""
        if self._mirror is None:
            return
        try:
            self._mirror.close()
        except OutcropError as error:
            kept = tempfile.mkdtemp(prefix="outcrop-checkpoint-")
            local = self.options.checkpoint or self.options.resume
            assert local is not None
            shutil.copytree(local, kept, dirs_exist_ok=True)
            self.failure = f"{error}; it is kept in '{kept}'"

    def report(self, result: Result) -> None:
        """Writes the remote places into the events of a result, and adds what could not be copied."""
        for number, event in enumerate(result.events):
            text = event.text
            for url, local in self._places.items():
                # Other ranks have directories of their own.
                text = re.sub(rf"[^'\s]*/{COPIED}\w+/{Path(local).name}\b", url.replace("\\", r"\\"), text)
            result.events[number] = dataclasses.replace(event, text=text)
        if self.failure:
            result.events.append(Event(EventKind.NOT_COPIED, self.failure))


def _urls(options: CheckOptions) -> list[str]:
    return [each for each in dict.fromkeys((options.checkpoint, options.resume)) if each and is_remote(each)]


@contextmanager
def local_checkpoints(options: CheckOptions) -> Iterator[LocalCheckpoints]:
    """Yields local places for the checkpoints of a check. On leaving, copies the last checkpoint. An error of the check
    that leaves a checkpoint here carries a note on it."""
    home = work_place(options.workdir)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ScratchDirectory(home, COPIED) as scratch:
        local = LocalCheckpoints(options, scratch.path)
        try:
            yield local
        except BaseException as error:
            local.close()
            if local.failure:
                error.add_note(local.failure)
            raise
        local.close()


def check_remotely(options: CheckOptions, check: Callable[[CheckOptions], Result]) -> Result:
    """Returns the result of a check that keeps its checkpoints in a remote place."""
    with local_checkpoints(options) as local:
        result = check(local.options)
    local.report(result)
    return result
