"""The context of a search, besides model and options: its listeners, its tuning, and the snapshot that it continues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outcrop.explorer.printing import TakePut
from outcrop.explorer.tuning import Tuning, current_tuning
from outcrop.outcome import Progress

if TYPE_CHECKING:
    from outcrop.explorer.snapshot import Snapshot

#: Called with the progress of a search, at intervals.
ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Context:
    """Listeners, tuning, and the snapshot that the search continues, if any."""

    progress: ShowProgress | None = None
    put: TakePut | None = None
    tuning: Tuning = field(default_factory=current_tuning)
    snapshot: Snapshot | None = None  #: a search to continue
    seconds: float = 0.0  #: seconds spent before, which count against the time limit


#: The context of a search without listeners.
DEFAULT_CONTEXT = Context()
