"""The report on the layers of a layered search: one row for each, and totals."""

from __future__ import annotations

from typing import Any

from outcrop.outcome import LayerReport, LayerRow


def layers_document(layers: LayerReport | None, generated: list[int | None]) -> dict[str, Any] | None:
    """Returns the part of the JSON document about layers; None if none were on disk. ``generated``: see Outcome."""
    if layers is None:
        return None
    rows = [_row(row, layers, generated) for row in layers.rows]
    return {
        "asked": layers.layers,
        "forget": layers.forget,
        "kept": "all" if layers.kept is None else layers.kept,
        "longest_back_edge": layers.longest_back_edge,
        "states_estimate": layers.states_estimate,
        "duplicates_ram": _total(rows, "duplicates_ram"),
        "duplicates_delayed": _total(rows, "duplicates_delayed"),
        "missed": _total(rows, "missed"),
        "rows": rows,
    }


def _row(row: LayerRow, layers: LayerReport, generated: list[int | None]) -> dict[str, Any]:
    count = generated[row.level] if row.level < len(generated) else None
    return {
        "level": row.level,
        "states": row.states,
        "duplicates_ram": None if count is None else max(0, count - row.candidates),
        "duplicates_delayed": row.candidates - row.states,
        "missed": None if layers.forget else 0,
        "longest_back_edge": row.longest_back_edge,
        "kept": "all" if row.kept is None else row.kept,
        "layer_bytes": row.layer_bytes,
        "disk_bytes": row.disk_bytes,
    }


def _total(rows: list[dict[str, Any]], name: str) -> int | None:
    values = [row[name] for row in rows]
    return None if None in values else sum(values)


def layers_lines(layers: LayerReport | None, generated: list[int | None]) -> list[tuple[str, str]]:
    """Returns names and texts for the figures of the text report."""
    document = layers_document(layers, generated)
    if document is None:
        return []
    kept, rows = document["kept"], document["rows"]
    older = "forgotten" if document["forget"] else "packed"
    which = "all unpacked" if kept == "all" else f"the last {kept:,} unpacked, older ones {older}"
    first = f"from level {rows[0]['level']:,} on" if rows else "none"
    lines = [("layers", f"on disk {first}; {which}; longest back edge {document['longest_back_edge']:,}")]
    in_ram, delayed = document["duplicates_ram"], document["duplicates_delayed"]
    if in_ram is not None and in_ram + delayed:
        share = in_ram / (in_ram + delayed)
        lines.append(
            ("duplicates", f"{in_ram:,} found in RAM ({share:.1%}), {delayed:,} by delayed duplicate detection")
        )
    if document["states_estimate"] is not None:
        lines.append(("different", f"about {document['states_estimate']:,} states"))
    return lines
