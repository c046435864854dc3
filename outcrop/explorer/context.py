"""What a search is given beside a model and options: its listeners, its tuning, and the snapshot that it continues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outcrop.explorer.printing import TakePut
from outcrop.explorer.tuning import Tuning, current_tuning
from outcrop.outcome import Progress

if TYPE_CHECKING:
    from outcrop.explorer.snapshot import Snapshot

#: Takes a snapshot of the progress of a search, now and then.
ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Context:
    """Listeners, tuning, and where a search begins if not at the start states."""

    progress: ShowProgress | None = None
    put: TakePut | None = None
    tuning: Tuning = field(default_factory=current_tuning)
    snapshot: Snapshot | None = None  #: a search to continue
    seconds: float = 0.0  #: time that was spent before, which counts against the limit


#: A search that nobody listens to.
DEFAULT_CONTEXT = Context()
