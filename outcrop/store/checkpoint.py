"""The directory of a checkpoint: a state file, and the manifests that describe it.

G. Della Penna et al., "Integrating RAM and disk based verification within the Murphi verifier" (2003), hand a search
over through three files: queue, visited states, administration. Here the state file holds all visited states, level by
level, and its last level is the queue. The manifest is the administrative file. See docs/guides/checkpoints.md.

The state file only grows, so a later checkpoint writes only the new states, and the previous manifest still describes
its part of the file. A manifest is replaced atomically, after everything that it describes is on the disk. However a
process ends, the directory therefore holds the last checkpoint, complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from outcrop import __version__
from outcrop.errors import DamagedFile, DiskFailed, OutcropError, UsageError
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import Directory, DiskBudget, DiskFull, disk_errors

#: Format of manifest and state file. It is raised whenever an older program would misread them.
FORMAT = 4

#: Fields that a manifest may lack.
_OPTIONAL = {"generated", "enabled", "deeper", "owners", "owner_parts"}

_MANIFEST = "manifest.json"
_PREVIOUS = "manifest.previous.json"
_STATES = "states-"
#: Suffix of a manifest until it is moved into place.
_NEW = ".new"
#: File that reserves disk space for the last checkpoint of a search that fills the disk.
_RESERVE = "reserve"
#: Size of the reserve besides one block of states, in bytes.
_RESERVE_BYTES = 1 << 16
#: Files that exist only while a search runs.
_SCRATCH = (*(str(Path(name).with_suffix(_NEW)) for name in (_MANIFEST, _PREVIOUS)), _RESERVE)


@dataclass(frozen=True)
class StatesPart:
    """The part of a state file that a manifest describes."""

    file: str
    bytes: int
    blocks: int
    digest: int


@dataclass(frozen=True)
class Manifest:
    """The position of a search when a level is complete."""

    identity: dict[str, Any]  #: the model and the options that define the search
    strategy: str
    levels: list[int]  #: number of states in each; the last one is the queue
    fired: list[int]
    covered: list[int]
    noted: list[int]
    found: list[list[Any]]  #: kind, state, level and liveness instance of each
    has_failed_start: bool
    revisits: bool  #: whether levels may hold a state more than once
    keys: str  #: keys that distinguish states; empty for the states themselves
    omission_bound: float
    collision_rate: float | None
    seconds: float  #: duration of the search so far
    states: StatesPart
    generated: list[int | None] = field(default_factory=list)  #: successors generated for each level
    enabled: list[int] | None = None  #: per rule, how often it was enabled; None if not counted
    deeper: list[int] | None = None  #: per rule, how often it led one level deeper; None if not counted
    owners: str = ""  #: with several ranks, how ownership is decided
    owner_parts: list[str] = field(default_factory=list)  #: masks whose parities decide ownership; empty for a hash
    outcrop: str = __version__
    format: int = field(default=FORMAT)

    @property
    def rows(self) -> int:
        return sum(self.levels)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def manifest_digest(directory: str) -> str:
    """Returns the SHA-256 of the manifest of the newest checkpoint in a directory; empty if there is none."""
    try:
        return hashlib.sha256((Path(directory) / _MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return ""


class CheckpointDirectory(Directory):
    """A locked directory for the checkpoint of one search. ``identity``: model and options of that search."""

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], width: int, budget: DiskBudget) -> None:
        super().__init__(Path(path), budget)
        self._identity = json.loads(json.dumps(identity))
        self._width = width
        self._good: bytes | None = None  #: the last manifest that was written, or read and verified
        self._reserved = 0  #: size of the reserve, in bytes
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(
                f"cannot keep a checkpoint in '{path}': {error.strerror}; name a directory that you can write to"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            text = f"another search keeps its checkpoint in '{path}'; name another directory, or wait for it to end"
            raise UsageError(text) from None

    def close(self) -> None:
        """Unlocks the directory. The checkpoint is kept."""
        try:
            self._drop_reserve()
        finally:
            os.close(self._lock)

    # --- Reading -----------------------------------------------------------------------------------------------

    @staticmethod
    def holds_checkpoint(path: Path) -> bool:
        return any((path / name).exists() for name in (_MANIFEST, _PREVIOUS))

    def has_checkpoint(self) -> bool:
        return self.holds_checkpoint(self.path)

    def load(self, warn: Callable[[str], None], most_levels: int | None = None) -> Manifest:
        """Returns the last checkpoint, after verifying every byte. If it is damaged, warns and returns the previous
        one. ``most_levels``: ignore checkpoints with more levels."""
        damage: OutcropError | None = None
        for name in (_MANIFEST, _PREVIOUS):
            path = self.path / name
            try:
                content = path.read_bytes()
                manifest = _parse(path, content)
                if most_levels is not None and len(manifest.levels) > most_levels:
                    continue
                self._compare(manifest)
                self._verify(manifest)
            except FileNotFoundError:
                continue
            except OSError as error:
                damage = damage or DamagedFile(path, f"it cannot be read ({error.strerror})")
                continue
            except (DamagedFile, DiskFailed) as error:
                damage = damage or error
                continue
            if damage is not None:
                warn(f"{damage}; using the previous checkpoint, of level {len(manifest.levels) - 1:,}")
            self._good = content
            return manifest
        raise damage or UsageError(f"there is no checkpoint in '{self.path}'; name the directory given to --checkpoint")

    def _compare(self, manifest: Manifest) -> None:
        theirs, ours = manifest.identity, self._identity
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        # What only one of the two has follows from another difference
        names = [name for name in names if name[:2] == "--" or None not in (theirs.get(name), ours.get(name))] or names
        if names:
            differences = "; ".join(_difference(name, theirs.get(name), ours.get(name)) for name in names)
            # The command may lack an option, such as the bound that a check has found to be large enough.
            plain = (0, None, "on", "off")
            lacking = [name for name in names if name[:2] == "--" and ours.get(name) in plain]
            given = " ".join(f"{name} {theirs[name]}" for name in lacking if theirs.get(name) not in plain)
            raise UsageError(
                f"the checkpoint in '{self.path}' is of another search: {differences}; repeat the command that wrote "
                f"it{given and ' with '}{given}, or start a new checkpoint with --checkpoint"
            )

    def _verify(self, manifest: Manifest) -> None:
        with contextlib.closing(self.open_states(manifest)) as states:
            for number in range(len(states.file)):
                states.file.read(number)

    def open_states(self, manifest: Manifest, block_rows: int = 1, budget: DiskBudget | None = None) -> RowFile:
        """Opens the states of a checkpoint, to read them or to append to them."""
        part = manifest.states
        path = self.path / part.file
        try:
            states = RowFile(
                Directory(self.path, budget or DiskBudget()),
                part.file,
                self._width,
                block_rows,
                reopen=True,
                length=part.bytes,
            )
        except FileNotFoundError:
            raise DamagedFile(path, "it is missing") from None
        if (len(states.file), states.file.digest, len(states)) != (part.blocks, part.digest, manifest.rows):
            states.close()
            raise DamagedFile(path, f"it is not the one that '{_MANIFEST}' was written for")
        return states

    # --- Writing -----------------------------------------------------------------------------------------------

    def remove_leftovers(self) -> None:
        """Removes files that a killed search has left: manifests that were not moved into place, and state files that
        no manifest names. If a manifest cannot be read, keeps all state files."""
        self._remove(set(_SCRATCH))
        named = set()
        for name in (_MANIFEST, _PREVIOUS):
            path = self.path / name
            try:
                named.add(_parse(path, path.read_bytes()).states.file)
            except FileNotFoundError:
                continue
            except (OSError, OutcropError):
                return
        self._remove({path.name for path in self.path.glob(_STATES + "*")} - named)

    def go_on_with(self, manifest: Manifest, block_rows: int) -> RowFile:
        """Opens the state file of a checkpoint, to append to it."""
        log = self.open_states(manifest, block_rows, self.budget)
        log.cut(len(log))  # removes also what a killed search has appended
        self._make_reserve(block_rows)
        return log

    def new_log(self, block_rows: int) -> RowFile:
        """Creates an empty state file."""
        taken = {path.name for path in self.path.glob(_STATES + "*")}
        if not self.has_checkpoint():
            self._remove(taken)
            taken = set()
        number = next(number for number in range(len(taken) + 1) if f"{_STATES}{number}" not in taken)
        self._make_reserve(block_rows)
        return RowFile(self, f"{_STATES}{number}", self._width, block_rows)

    def save(
        self,
        log: RowFile,
        describe: Callable[[StatesPart], Manifest],
        agree: Callable[[bool], bool] = lambda is_written: is_written,
    ) -> None:
        """Makes the content of a state file, as described by ``describe``, the checkpoint. Raises DiskFull.

        ``agree`` is called when the state file is written, or cannot be. It returns whether all ranks have written
        theirs."""
        try:
            self._with_reserve(lambda: self._write(log))
        except (DiskFull, DiskFailed):
            agree(False)
            raise
        if not agree(True):
            raise DiskFull("another rank has no disk space for its part of the checkpoint")
        self._with_reserve(lambda: self._announce(log, describe))

    def _with_reserve(self, work: Callable[[], None]) -> None:
        """Does some work, and repeats it without the reserve if the disk is full."""
        try:
            work()
        except DiskFull:
            if not self._drop_reserve():
                raise
            work()

    def _write(self, log: RowFile) -> None:
        log.flush()
        log.file.sync()

    def _announce(self, log: RowFile, describe: Callable[[StatesPart], Manifest]) -> None:
        manifest = describe(StatesPart(log.file.path.name, log.file.bytes, len(log.file), log.file.digest))
        content = _dump(manifest)
        if self._good is not None:
            self._replace(_PREVIOUS, self._good)
        self._replace(_MANIFEST, content)
        referenced = {manifest.states.file}
        if self._good is not None:
            referenced.add(_parse(self.path / _PREVIOUS, self._good).states.file)
        self._good = content
        self._remove({path.name for path in self.path.glob(_STATES + "*")} - referenced)

    def _replace(self, name: str, content: bytes) -> None:
        path = self.path / name
        scratch = path.with_suffix(_NEW)
        with disk_errors():
            try:
                with open(scratch, "wb", opener=_open_private) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                scratch.replace(path)
                os.fsync(self._lock)
            except OSError:
                self._remove({scratch.name})
                raise

    def _remove(self, names: set[str]) -> None:
        """Removes files that are no longer needed, as far as possible."""
        for name in names:
            with contextlib.suppress(OSError):
                (self.path / name).unlink(missing_ok=True)

    # --- The reserve -------------------------------------------------------------------------------------------

    def _make_reserve(self, block_rows: int) -> None:
        size = block_rows * self._width + _RESERVE_BYTES
        if self._reserved:
            return
        with contextlib.suppress(OSError, DiskFull):
            self.claim(size)
            self._reserved = size
            with (self.path / _RESERVE).open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)

    def _drop_reserve(self) -> bool:
        """Frees the reserve. Returns whether there was one."""
        if not self._reserved:
            return False
        self._remove({_RESERVE})
        self.release(self._reserved)
        self._reserved = 0
        return True


def remove_checkpoint(path: Path, with_directory: bool) -> None:
    """Removes every file of a checkpoint. The first rank may be removing the same files, so missing ones are not
    an error."""
    # The manifests first: a manifest without states would be a damaged checkpoint, states without a manifest are none.
    for name in (_MANIFEST, _PREVIOUS, *_SCRATCH):
        (path / name).unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        for each in list(path.glob(_STATES + "*")):
            each.unlink(missing_ok=True)
    if with_directory:
        with contextlib.suppress(OSError):
            path.rmdir()


def is_in_use(path: Path) -> bool:
    """Returns whether a search has the directory of a checkpoint open, or that cannot be determined."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _dump(manifest: Manifest) -> bytes:
    document = asdict(manifest)
    document["checksum"] = _checksum(document)
    rows = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in document.items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def _parse(path: Path, content: bytes) -> Manifest:
    try:
        document = json.loads(content)
        checksum = document.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise DamagedFile(path, "it is not what was written") from None
    if document.get("format") != FORMAT and checksum == _checksum(document):
        raise UsageError(
            f"'{path}' has format {document.get('format')}, written by Outcrop {document.get('outcrop')}; this is "
            f"Outcrop {__version__}, which reads format {FORMAT}: resume with the other version, or start over"
        )
    if checksum != _checksum(document) or _missing(document) - _OPTIONAL:
        raise DamagedFile(path, "it has a wrong checksum")
    return Manifest(**{**document, "states": StatesPart(**document["states"])})


def _missing(document: dict[str, Any]) -> set[str]:
    """Returns the names of fields that a manifest lacks, or has in excess."""
    return set(document) ^ {each.name for each in fields(Manifest)}


def _checksum(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _difference(name: str, theirs: object, ours: object) -> str:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        inner = [each for each in {**theirs, **ours} if theirs.get(each) != ours.get(each)]
        return "; ".join(_difference(f"{name} {each}", theirs.get(each), ours.get(each)) for each in inner)
    if all(isinstance(each, str) and len(each) == 64 for each in (theirs, ours)):  # digests are not readable
        return f"{name} differs"
    return f"{name} was {_text(theirs)} and is {_text(ours)}"


def _text(value: object) -> str:
    return "absent" if value is None else str(value)
