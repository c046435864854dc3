"""The declaration of Promela: its files and its options."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.declared import option
from outcrop.lang.language import Language

#: As in SPIN.
MOST_PROCESSES = 255


@dataclass(frozen=True)
class PromelaOptions:
    processes: int | None = option(
        None,
        "processes of a Promela model at a time, where 'run' stands in a loop (default: 8 in addition to the active"
        " ones, and up to 64 where a check finds these too few)",
        least=1,
        most=MOST_PROCESSES,
        convert=int,
        shown="N",
    )
    assertions: bool = option(True, "assertions of a Promela model: checked (on), or ignored (off), as by 'pan -A'")
    claims: bool = option(
        True,
        "formulas, never claims and event traces of a Promela model: checked (on), or ignored (off), as by"
        " 'spin -run -noclaim'",
    )
    process_symmetry: bool = option(
        False, "count states of a Promela model that differ only in the order of identical active processes once"
    )
    progress: bool = option(
        False, "check that no run of a Promela model avoids progress labels from some point on, as 'pan -l' does"
    )
    acceptance: bool = option(
        False, "check that no run of a Promela model visits accept labels again and again, as 'pan -a' does"
    )


LANGUAGE = Language(
    name="Promela",
    suffixes=(".pml", ".pm", ".prm", ".pr", ".prom", ".promela", ".spin"),
    front_end="outcrop.lang.promela.lowering",
    editing="outcrop.lang.promela.editing:EDITING",
    options=(PromelaOptions,),
    mover="process",
)
