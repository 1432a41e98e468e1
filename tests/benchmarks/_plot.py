"""Line plots as SVG, with logarithmic axes: enough for curves that should be flat."""

import math
from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 720
HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 40, 50
_COLOURS: Final = ("#1b6ca8", "#c8553d", "#3a7d44", "#8d5a97", "#b8860b")

Curve = Mapping[float, float]


def plot(title: str, curves: Mapping[str, Curve], *, across: str, up: str) -> str:
    """Return an SVG document with one line for each curve."""
    across_axis = _Axis([x for curve in curves.values() for x in curve], _LEFT, WIDTH - _RIGHT)
    up_axis = _Axis(
        [y for curve in curves.values() for y in curve.values()], HEIGHT - _BOTTOM, _TOP
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_LEFT, 22, title, size=15),
        _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 12, across, anchor="middle"),
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(up)}</text>",
    ]
    for tick in across_axis.ticks():
        x = across_axis.position(tick)
        parts.append(_line(x, HEIGHT - _BOTTOM, x, _TOP))
        parts.append(_text(x, HEIGHT - _BOTTOM + 16, _number(tick), anchor="middle"))
    for tick in up_axis.ticks():
        y = up_axis.position(tick)
        parts.append(_line(_LEFT, y, WIDTH - _RIGHT, y))
        parts.append(_text(_LEFT - 6, y + 4, _number(tick), anchor="end"))
    for number, (name, curve) in enumerate(curves.items()):
        parts += _curve(name, curve, number, across_axis, up_axis)
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """A logarithmic scale over whole decades."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 1)
        self._start, self._end = start, end

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]

    def position(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)


def _curve(name: str, curve: Curve, number: int, across: _Axis, up: _Axis) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    points = [(across.position(x), up.position(y)) for x, y in sorted(curve.items())]
    path = " ".join(f"{x},{y}" for x, y in points)
    dots = [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
    label = _TOP + 14 + 18 * number
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        f'<rect x="{WIDTH - _RIGHT + 12}" y="{label - 9}" width="10" height="10" fill="{colour}"/>',
        _text(WIDTH - _RIGHT + 28, label, name),
    ]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
