"""Plots: lines over two logarithmic axes as SVG, which every browser and GitHub shows.

Only what the pages of this project need, so that plots need no library and their text can be
compared.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 400
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 40, 50
COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
"""Distinct for readers who do not see all colors."""

Lines = Mapping[str, Mapping[int, float]]
"""Values by size, by the name of the line."""


def log_plot(title: str, x_label: str, y_label: str, lines: Lines) -> str:
    """Return an SVG of *lines* over logarithmic axes."""
    sizes = sorted({size for line in lines.values() for size in line})
    values = [value for line in lines.values() for value in line.values()]
    x = _Axis(log10(sizes[0]), log10(sizes[-1]), LEFT, WIDTH - RIGHT)
    y = _Axis(floor(log10(min(values))), ceil(log10(max(values))), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 22, title, size=15),
        *_grid(x, y, sizes),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, anchor="middle"),
        _text(LEFT, TOP - 6, y_label),
    ]
    for number, (name, line) in enumerate(lines.items()):
        parts += _line(number, name, [(x.at(s), y.at(v)) for s, v in sorted(line.items())])
    return "\n".join([*parts, "</svg>\n"])


class _Axis:
    """Maps values to pixels by their logarithm."""

    def __init__(self, first: float, last: float, start: float, end: float) -> None:
        self.first, self.last = first, max(last, first + 1)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        part = (log10(value) - self.first) / (self.last - self.first)
        return round(self._start + part * (self._end - self._start), 1)


def _grid(x: _Axis, y: _Axis, sizes: Sequence[int]) -> list[str]:
    parts = []
    for power in range(int(y.first), int(y.last) + 1):
        at = y.at(10**power)
        parts.append(f'<path d="M{LEFT} {at}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, at + 4, f"{10.0**power:,g}", anchor="end"))
    for size in sizes:
        at = x.at(size)
        parts.append(f'<path d="M{at} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(_text(at, HEIGHT - BOTTOM + 16, f"{size:,}", anchor="middle"))
    return parts


def _line(number: int, name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    color = COLORS[number % len(COLORS)]
    path = "L".join(f"{x} {y}" for x, y in points)
    legend = TOP + 10 + 20 * number
    at = WIDTH - RIGHT + 15
    return [
        f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>',
        *(f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>' for x, y in points),
        f'<path d="M{at} {legend}h20" stroke="{color}" stroke-width="3"/>',
        _text(at + 26, legend + 4, name),
    ]


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'
