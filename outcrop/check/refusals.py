"""Refusals of options that a check would ignore, before it starts."""

from __future__ import annotations

from outcrop.declared import flag_of, listed
from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.options import CheckOptions, Engine, Keep, LoadOptions
from outcrop.strategies import names, takers


def refuse_unused_options(options: CheckOptions, has_checks: bool, visits_all: bool) -> None:
    """Raises UsageError for an option that no search of this check takes, according to the registry.

    ``has_checks``: formulas are checked. ``visits_all``: the states of the model are searched too.
    """
    searches = [options.strategy] if visits_all else []
    if has_checks:
        from outcrop.check.temporal import cycle_strategy  # few models have formulas

        searches.append(cycle_strategy(options))
    default = CheckOptions().flat()
    for name, value in options.flat().items():
        others = takers(name)
        if not others or value == default.get(name):
            continue
        if options.engine is Engine.INTERPRETER:
            raise UsageError(f"the interpreter has no option {flag_of(name)}; leave it out, or use --engine native")
        if not set(others) & set(searches):
            raise UsageError(
                f"{flag_of(name)} is an option of {listed(others)}, and this check uses {listed(searches)}; "
                f"leave it out, or use --strategy {listed(others, 'or')}"
            )
    whole = options.keep is Keep.STATES or (options.keep is None and {*searches} <= {*names(whole_states=True)})
    if options.bits is not None and whole:
        raise UsageError("--bits is the size of signatures, and this check keeps whole states; use --keep signatures")


def refuse_invariants(system: System, load: LoadOptions, options: CheckOptions) -> None:
    """Raises UsageError if invariants are given and the search would not visit all states."""
    if not load.invariants:
        return
    if system.automaton is not None:
        raise UsageError(
            f"--invariant needs all states, and the property process '{system.automaton.name}' excludes some; "
            "remove the process from the model"
        )
    if options.strategy in names(finds_cycles=True):
        raise UsageError(
            f"--invariant needs all states, and {options.strategy} searches only for runs; leave out --strategy"
        )
