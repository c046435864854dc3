"""Copies of a checkpoint in an object store, or in any other file system that fsspec knows.

A search writes its checkpoint into a local directory. A thread copies each new checkpoint to the remote place while the
search continues. Objects are never changed: the state file goes there in segments, of which a later checkpoint adds new
ones only, and a numbered index names the segments with their digests. Each object is read back and compared before the
index is written, and the index comes last. The last two checkpoints are kept.

fsspec, which knows ``s3://``, ``gs://``, ``file://`` and others, is optional, and imported when such a name is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from outcrop.errors import OutcropError, Undecided, UsageError

#: Prefix of the directories that hold the local copies of checkpoints.
COPIED = "checkpoint-"

_MANIFEST = "manifest.json"
_INDEX = "index-"
#: Largest segment, in bytes.
_SEGMENT = 32 << 20
#: Seconds between two looks for a new checkpoint.
_PAUSE = 0.5
#: Attempts of the last copy.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Segment:
    """A part of a state file, as an object of its own."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Index:
    """A checkpoint in the remote place: its manifest, and the segments of its state file."""

    number: int
    manifest: str
    file: str
    segments: list[Segment] = field(default_factory=list)

    @property
    def length(self) -> int:
        return sum(each.bytes for each in self.segments)


class Remote:
    """A remote directory. Raises UsageError if fsspec, or its part for this kind of place, is missing."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            # Optional: for checkpoints in object stores.
            self._files, self._base = import_module("fsspec.core").url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"cannot use '{url}': {error}; pip install 'outcrop[remote]'") from None

    def path(self, *names: str) -> str:
        return "/".join([self._base.rstrip("/"), *(each for each in names if each)])

    def names(self, part: str = "") -> list[str]:
        """Returns all names below a part, relative to the base."""
        self._files.invalidate_cache()
        try:
            found = self._files.find(self.path(part))
        except FileNotFoundError:
            return []
        return [str(each)[len(self.path()) :].lstrip("/") for each in found]

    def read(self, name: str) -> bytes:
        content: bytes = self._files.cat_file(self.path(name))
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes an object, and reads it back. Raises OSError if it differs."""
        self._files.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(self.path(name), content)
        if self.read(name) != content:
            raise OSError(f"'{name}' differs from what was written")

    def remove(self, names: list[str]) -> None:
        for each in names:
            with suppress(FileNotFoundError):
                self._files.rm_file(self.path(each))

    def indexes(self) -> dict[str, list[str]]:
        """Returns the names of all indexes by part, newest first. Raises UsageError if the place does not answer."""
        found: dict[str, list[str]] = {}
        try:
            names = self.names()
        except Exception as error:  # the errors of object stores have no base in common
            advice = "check its name, the network and the credentials"
            raise UsageError(f"cannot reach '{self.url}': {error}; {advice}") from None
        for name in sorted(names, reverse=True):
            part, _, file = name.rpartition("/")
            if file.startswith(_INDEX):
                found.setdefault(part, []).append(name)
        return found

    def fetch(self, local: Path) -> dict[str, Index]:
        """Copies the newest checkpoint of every part that is undamaged to a local directory; returns their indexes."""
        fetched = {}
        for part, names in self.indexes().items():
            damage: Exception | None = None
            for name in names:
                try:
                    fetched[part] = self._fetch(part, name, local / part)
                    break
                except (OSError, ValueError, KeyError, TypeError) as error:
                    damage = error
            else:
                raise Undecided(f"no checkpoint in '{self.url}' can be read: {damage}")
        return fetched

    def _fetch(self, part: str, name: str, local: Path) -> Index:
        read: dict[str, Any] = json.loads(self.read(name))
        index = Index(**{**read, "segments": [Segment(**each) for each in read["segments"]]})
        if Path(index.file).name != index.file:
            raise ValueError(f"'{name}' names a file elsewhere")
        local.mkdir(parents=True, exist_ok=True)
        with (local / index.file).open("wb") as file:
            for each in index.segments:
                content = self.read(f"{part}/{each.name}" if part else each.name)
                if hashlib.sha256(content).hexdigest() != each.sha256:
                    raise ValueError(f"'{each.name}' is damaged")
                file.write(content)
        (local / _MANIFEST).write_text(index.manifest, encoding="utf-8")
        return index


class Mirror:
    """The thread that copies one part of a checkpoint. ``known``: the indexes of the parts that the search resumes.
    ``is_first``: whether this is the first rank, which removes all parts after a verdict."""

    def __init__(self, remote: Remote, local: Path, part: str, known: dict[str, Index], is_first: bool) -> None:
        self._remote = remote
        self._base = local
        self._is_first = is_first
        self._has_begun = bool(known)
        self._local = local / part
        self._part = part
        self._newest = known.get(part)
        self._previous: Index | None = None
        self._token = os.urandom(4).hex()  # objects of different searches must have different names
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, name="outcrop checkpoint", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._ends.wait(_PAUSE):
            try:
                self.copy()
            except Exception:  # tried again; the last copy reports what remains
                self._ends.wait(10 * _PAUSE)

    def close(self) -> None:
        """Copies the last checkpoint, or removes the remote one if the search has removed its own. Raises OutcropError
        if that fails."""
        self._ends.set()
        self._thread.join()
        for attempt in range(_ATTEMPTS):
            try:
                if (self._local / _MANIFEST).exists():
                    self.copy()
                elif self._newest is not None:
                    self._remote.remove(self._remote.names(self._part))
                if self._is_first and self._has_begun and not any(self._base.rglob(_MANIFEST)):
                    self._remote.remove(self._remote.names())  # parts of another number of ranks
                return
            except OutcropError:
                raise
            except Exception as error:
                if attempt == _ATTEMPTS - 1:
                    raise Undecided(f"the checkpoint could not be copied to '{self._remote.url}': {error}") from None

    def copy(self) -> None:
        """Copies the checkpoint, if it is a new one."""
        try:
            manifest = (self._local / _MANIFEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        newest = self._newest
        if newest is not None and newest.manifest == manifest:
            return
        states = json.loads(manifest)["states"]
        file, length = states["file"], states["bytes"]
        segments = list(newest.segments) if newest is not None and newest.file == file else []
        done = sum(each.bytes for each in segments)
        if done > length:  # another file with the same name
            segments, done = [], 0
        with (self._local / file).open("rb") as opened:
            opened.seek(done)
            while done < length:
                content = opened.read(min(_SEGMENT, length - done))
                if not content:
                    raise OSError(f"'{file}' is shorter than its manifest says")
                name = f"{file}-{self._token}-{done:015d}"
                self._remote.write(self._name(name), content)
                segments.append(Segment(name, len(content), hashlib.sha256(content).hexdigest()))
                done += len(content)
        number = 1 if newest is None else newest.number + 1
        index = Index(number, manifest, file, segments)
        self._remote.write(self._name(f"{_INDEX}{number:09d}.json"), json.dumps(asdict(index)).encode())
        self._previous, self._newest = newest, index
        self._remove_old()

    def _name(self, name: str) -> str:
        return f"{self._part}/{name}" if self._part else name

    def _remove_old(self) -> None:
        kept = set()
        for index in (self._newest, self._previous):
            if index is not None:
                kept |= {f"{_INDEX}{index.number:09d}.json", *(each.name for each in index.segments)}
        names = [each for each in self._remote.names(self._part) if each.rpartition("/")[0] == self._part]
        self._remote.remove([each for each in names if each.rpartition("/")[2] not in kept])
