"""The outcomes of several ranks, merged into one that is the same for all of them."""

from __future__ import annotations

from dataclasses import replace

from outcrop.outcome import Event, LayerReport, LayerRow, Outcome, RankReport


def merged_outcome(own: Outcome, everyone: list[tuple[Outcome, RankReport]]) -> Outcome:
    """Returns the outcome of all ranks."""
    outcomes = [each for each, _ in everyone]
    return replace(
        own,
        fired=_sums([each.fired for each in outcomes]),
        covered=_sums([each.covered for each in outcomes]),
        noted=sorted({note for each in outcomes for note in each.noted}),
        omission_bound=max(each.omission_bound for each in outcomes),
        seconds=max(each.seconds for each in outcomes),
        peak_disk_bytes=sum(each.peak_disk_bytes for each in outcomes),
        events=_events([each.events for each in outcomes]),
        revisits=any(each.revisits for each in outcomes),
        generated=_known_sums([each.generated for each in outcomes]),
        missed=_optional_sums([each.missed for each in outcomes]),
        collision_rate=max((each.collision_rate for each in outcomes if each.collision_rate is not None), default=None),
        enabled=_optional_sums([each.enabled for each in outcomes]),
        deeper=_optional_sums([each.deeper for each in outcomes]),
        ranks=[report for _, report in everyone],
    )


def merged_report(everyone: list[tuple[LayerReport | None, list[int]]]) -> LayerReport | None:
    """Returns the layers of all ranks. Each rank gives its report, if it has one, and the sizes of its levels."""
    reports = [report for report, _ in everyone if report is not None]
    if not reports:
        return None
    levels = sorted({row.level for report in reports for row in report.rows})
    return replace(
        reports[0],
        kept=_most_kept([report.kept for report in reports]),
        longest_back_edge=max(report.longest_back_edge for report in reports),
        rows=[_merged_row(level, everyone) for level in levels],
    )


def _merged_row(level: int, everyone: list[tuple[LayerReport | None, list[int]]]) -> LayerRow:
    """Returns the row of a layer over all ranks. A rank has no row for a layer that it had completely in RAM, where it
    found all duplicates."""
    rows, in_ram = [], 0
    for report, sizes in everyone:
        own = [row for row in report.rows if row.level == level] if report is not None else []
        rows += own
        in_ram += sizes[level] if not own and level < len(sizes) else 0
    return LayerRow(
        level,
        sum(row.states for row in rows) + in_ram,
        sum(row.candidates for row in rows) + in_ram,
        max(row.longest_back_edge for row in rows),
        _most_kept([row.kept for row in rows]),
        sum(row.layer_bytes for row in rows),
        sum(row.disk_bytes for row in rows),
    )


def _most_kept(each: list[int | None]) -> int | None:
    return None if None in each else max(kept for kept in each if kept is not None)


def _sums(rows: list[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _known_sums(rows: list[list[int | None]]) -> list[int | None]:
    """Returns the sum of each column; None where a rank does not know its part."""
    columns = [[each for each in column if each is not None] for column in zip(*rows, strict=True)]
    return [sum(column) if len(column) == len(rows) else None for column in columns]


def _optional_sums(rows: list[list[int] | None]) -> list[int] | None:
    known = [row for row in rows if row is not None]
    return _sums(known) if len(known) == len(rows) else None


def _events(each: list[list[Event]]) -> list[Event]:
    """Returns the events of all ranks. An event that all of them have is listed once."""
    shared = [event for event in each[0] if all(event in events for events in each)]
    return shared + [
        replace(event, text=f"rank {rank}: {event.text}")
        for rank, events in enumerate(each)
        for event in events
        if event not in shared
    ]
