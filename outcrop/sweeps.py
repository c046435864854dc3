"""Sweeps in a program: one model checked for every combination of some constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import Any

from outcrop.result import Result, frame


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep, each with its constants."""

    results: tuple[tuple[dict[str, object], Result], ...]

    def __iter__(self) -> Iterator[tuple[dict[str, object], Result]]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each check: its constants and its figures."""
        return [
            {
                **place,
                "verdict": str(result.verdict),
                "states": result.states,
                "rules_fired": result.rules_fired,
                "diameter": result.diameter,
                "seconds": result.seconds,
                "peak_rss_bytes": result.peak_rss_bytes,
            }
            for place, result in self.results
        ]

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas DataFrame."""
        return frame("pandas", self.to_rows())

    def to_polars(self) -> Any:
        """Returns the rows as a polars DataFrame."""
        return frame("polars", self.to_rows())

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.results)} checks>"


def sweep(reload: Callable[[Mapping[str, object]], Any], axes: Mapping[str, Iterable[object]], options: Any) -> Sweep:
    """Checks a model for each combination of values, the last axis varying fastest."""
    places = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return Sweep(tuple((place, reload(place).check(**options)) for place in places))


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: the nearest one, or where the names are listed.

    >>> nearest("stratgy", ["strategy", "threads"])
    '; did you mean strategy?'
    """
    close = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else "; help(outcrop.CheckOptions) lists them"
