"""Charts as SVG, without a library: each is one file that fetches nothing.

A chart shows series of points as lines or bars, on linear or logarithmic axes. Its colours follow the reader's
preference for light or dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 66, 56
_COLORS = ("#2b6cb0", "#c05621", "#2f855a", "#97266d", "#6b46c1", "#975a16", "#0987a0", "#9b2c2c", "#4a5568", "#276749")
_MOST_TICKS = 7
#: Largest number of characters in a title.
_LONGEST_TITLE = 72

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1a202c }
.title { font-size: 16px; font-weight: 600 }
.axis { stroke: #4a5568 } .grid { stroke: #e2e8f0 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1a202c } text { fill: #e2e8f0 } .axis { stroke: #a0aec0 } .grid { stroke: #2d3748 }
}"""

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """A named sequence of points, drawn as a line or as bars."""

    name: str
    points: Sequence[Point]
    bars: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart. ``log_x`` and ``log_y`` leave out points that are not positive on that axis."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False
    x_names: Sequence[str] = field(default=())  #: names of the points 0, 1, 2, ..., if they are not numbers

    def to_svg(self) -> str:
        """Returns the SVG document."""
        drawn = [Series(each.name, self._visible(each.points), each.bars) for each in self.series]
        points = [point for each in drawn for point in each.points]
        x_axis = _Axis([x for x, _ in points], self.log_x, _LEFT, _WIDTH - _RIGHT, has_bars=any(s.bars for s in drawn))
        y_axis = _Axis([y for _, y in points], self.log_y, _HEIGHT - _BOTTOM, _TOP, from_zero=not self.log_y)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style>",
            f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
            _text(24, 28, _shortened(self.title), "start", "title"),
            *self._frame(x_axis, y_axis),
        ]
        for number, each in enumerate(drawn):
            parts += _draw(each, _COLORS[number % len(_COLORS)], x_axis.at, y_axis.at)
        if any(each.name != self.y_label for each in drawn):
            parts += _legend(drawn)
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _visible(self, points: Sequence[Point]) -> list[Point]:
        return [(x, y) for x, y in points if (x > 0 or not self.log_x) and (y > 0 or not self.log_y)]

    def _frame(self, x_axis: _Axis, y_axis: _Axis) -> list[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = []
        for tick in y_axis.ticks():
            at = y_axis.at(tick)
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
            parts.append(_text(_LEFT - 8, at + 4, _number(tick), "end"))
        if self.x_names:
            ticks = [(float(number), name) for number, name in enumerate(self.x_names)]
        else:
            ticks = [(tick, _number(tick)) for tick in x_axis.ticks()]
        parts += [_text(x_axis.at(tick), bottom + 20, name, "middle") for tick, name in ticks]
        parts.append(f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>')
        parts.append(_text((_LEFT + right) / 2, _HEIGHT - 12, self.x_label, "middle"))
        parts.append(_text(24, _TOP - 14, self.y_label, "start"))
        return parts


class _Axis:
    """Map from values to positions on the drawing."""

    def __init__(
        self,
        values: list[float],
        logarithmic: bool,
        begin: float,
        end: float,
        from_zero: bool = False,
        has_bars: bool = False,
    ) -> None:
        self._logarithmic = logarithmic
        self._begin, self._end = begin, end
        low, high = (min(values), max(values)) if values else (1.0 if logarithmic else 0.0, 1.0)
        if logarithmic:
            low, high = 10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high))
            high = high if high > low else low * 10
        elif from_zero:
            low = min(0.0, low)
        if has_bars:
            low, high = low - 0.5, high + 0.5
        self.low, self.high = low, high if high > low else low + 1.0

    def at(self, value: float) -> float:
        if self._logarithmic:
            part = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low)) if value > 0 else 0.0
        else:
            part = (value - self.low) / (self.high - self.low)
        return self._begin + part * (self._end - self._begin)

    def ticks(self) -> list[float]:
        if self._logarithmic:
            first, last = round(log10(self.low)), round(log10(self.high))
            step = max(1, ceil((last - first) / _MOST_TICKS))
            return [10.0**power for power in range(first, last + 1, step)]
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10.0 ** floor(log10(rough))
        width = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        return [number * width for number in range(ceil(self.low / width), floor(self.high / width) + 1)]


def _draw(series: Series, color: str, x_at: Callable[[float], float], y_at: Callable[[float], float]) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    places = [(x_at(x), y_at(y)) for x, y in series.points]
    titles = [f"<title>{escape(series.name)} {_number(x)}: {_number(y)}</title>" for x, y in series.points]
    if series.bars:
        width = max(1.0, abs(x_at(1) - x_at(0)) * 0.8)
        return [
            f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(0.5, bottom - y):.1f}" '
            f'fill="{color}">{title}</rect>'
            for (x, y), title in zip(places, titles, strict=True)
        ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [
        f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{line}"/>',
        *(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}">{title}</circle>'
            for (x, y), title in zip(places, titles, strict=True)
        ),
    ]


def _legend(series: Sequence[Series]) -> list[str]:
    parts = []
    for number, each in enumerate(series):
        y = _TOP + 14 + 18 * number
        color = _COLORS[number % len(_COLORS)]
        parts.append(f'<rect x="{_WIDTH - _RIGHT - 12}" y="{y - 9}" width="10" height="10" fill="{color}"/>')
        parts.append(_text(_WIDTH - _RIGHT - 18, y, each.name, "end"))
    return parts


def _text(x: float, y: float, text: str, anchor: str, style: str = "") -> str:
    extra = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def _number(value: float) -> str:
    """Returns a short number with separated thousands.

    >>> _number(1250000.0), _number(0.25), _number(1e-07)
    ('1,250,000', '0.25', '1e-07')
    """
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.4g}"
