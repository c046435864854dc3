"""The states of a finished search, kept in a directory (``--keep-states``).

The directory holds a checkpoint of all levels, and ``kept.json``: the model, its options, and what the search promises
about the states.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from outcrop.errors import DamagedFile, UsageError
from outcrop.ir.system import System
from outcrop.options import CheckOptions, LoadOptions, Reduce
from outcrop.store.checkpoint import manifest_digest

_FILE = "kept.json"


@dataclass(frozen=True)
class Kept:
    """The description of kept states."""

    name: str  #: name of the model, as it was given
    model: str  #: name of its file, absolute
    constants: dict[str, str]
    language: dict[str, Any]  #: options of the model's language
    invariants: list[str]  #: those given in addition to the model's own
    symmetry: bool
    deadlock: str
    is_complete: bool  #: whether these are all reachable states
    guarantee: str  #: "exact", or the omission bound in words
    kind: str  #: why the search ended before it was complete
    manifest: str  #: SHA-256 of the manifest of its last checkpoint; empty if it ended before the first


def keeping(options: CheckOptions) -> CheckOptions:
    """Returns the options of a search that keeps its states: as a checkpoint, which is then not removed."""
    if options.keep_states is None:
        return options
    if options.checkpoint is not None or options.resume is not None:
        raise UsageError("--keep-states cannot be used with --checkpoint or --resume; leave one of them out")
    if options.reduce is not Reduce.OFF:
        raise UsageError("a reduced search does not visit all states; leave out --reduce or --keep-states")
    if (options.ranks or 1) > 1:
        raise UsageError("several ranks cannot keep their states; leave out --ranks or --keep-states")
    return replace(options, checkpoint=options.keep_states)


def write_kept(
    system: System, load: LoadOptions, options: CheckOptions, is_complete: bool, guarantee: str, kind: str
) -> None:
    """Writes a description of the kept states next to them."""
    assert options.keep_states is not None
    source = system.source
    place = source.name.removesuffix(f":{source.part}") if source.part else source.name
    kept = Kept(
        name=system.name,
        model=f"{Path(place).resolve()}:{source.part}" if source.part else str(Path(place).resolve()),
        constants=dict(load.constants),
        language={name: value for name, (value, default) in load.language_options().items() if value != default},
        invariants=[each.text for each in load.invariants],
        symmetry=options.symmetry,
        deadlock=str(options.deadlock),
        is_complete=is_complete,
        guarantee=guarantee,
        kind=kind,
        manifest=manifest_digest(options.keep_states),
    )
    try:
        (Path(options.keep_states) / _FILE).write_text(json.dumps(asdict(kept), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot keep the states in '{options.keep_states}': {error.strerror}; name another directory"
        ) from None


def read_kept(directory: str) -> Kept:
    """Returns what is known about the states in a directory."""
    path = Path(directory) / _FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        kept = Kept(**{each.name: document[each.name] for each in fields(Kept)})
    except OSError:
        raise UsageError(
            f"there are no kept states in '{directory}'; keep some with 'outcrop check MODEL --keep-states DIR'"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"'{path}' is damaged; keep the states again with 'outcrop check --keep-states'") from None
    if not kept.manifest:
        raise UsageError(
            f"the search ended before it kept any states in '{directory}' ({kept.kind}); keep those of a longer search"
        )
    if manifest_digest(directory) != kept.manifest:
        # The previous checkpoint would do for resuming. It lacks states that this search has visited.
        raise DamagedFile(Path(directory), "its last checkpoint is not the one that the search wrote")
    return kept
