"""Figures of `docs/reliability.md`: what a run of the fault suites and benchmarks has measured.

    make torture FIGURES=docs/reliability.json
    FIGURES=docs/reliability.json .venv/bin/python -m tests.benchmarks abuse
    .venv/bin/python -m tests.faults.figures

A suite records its figures in the file that `FIGURES` names. The last command writes the tables of
the page from that file; a test compares them.
"""

import fcntl
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent.parent
PAGE: Final = ROOT / "docs/reliability.md"
FILE: Final = ROOT / "docs/reliability.json"
VARIABLE: Final = "FIGURES"
MARK: Final = re.compile(r"(<!-- figures: ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

Row = tuple[str, ...]


def record_figures(table: str, row: str, **figures: float | str) -> None:
    """Keep the figures of one row of a table, if a file for them is named.

    Rows that differ only in what follows a "#" are added up in the table.
    """
    print(f"\n{table}: {row}: {json.dumps(figures)}", flush=True)
    name = os.environ.get(VARIABLE)
    if not name:
        return
    with Path(name).open("a+") as file:
        # Several processes of one run may record at once.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}")
        known.setdefault(table, {})[row] = figures
        file.truncate(0)
        file.write(json.dumps(known, indent=1, sort_keys=True) + "\n")


def render(table: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """One table of the page."""
    columns, cells = TABLES[table]
    lines = [columns, tuple("---" if not position else "--:" for position in range(len(columns)))]
    lines += [cells(row, figures) for row, figures in _added_up(rows).items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _added_up(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    sums: dict[str, dict[str, Any]] = {}
    for row, figures in rows.items():
        name, _, numbered = row.partition(" #")
        total = sums.setdefault(name, {} if numbered else dict(figures))
        if numbered:
            total.update({key: total.get(key, 0) + value for key, value in figures.items()})
    return sums


def rendered(page: str, figures: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The page with the tables of these figures."""
    return MARK.sub(lambda found: found[1] + render(found[2], figures[found[2]]) + found[4], page)


def _suite(row: str, figures: Mapping[str, Any]) -> Row:
    return (
        row,
        *(_number(figures.get(name)) for name in ("rounds", "writes", "events", "reads")),
        str(figures.get("wrong", 0)),
    )


def _abuse(row: str, figures: Mapping[str, Any]) -> Row:
    times = (f"{figures[name]:,.0f} ms" for name in ("p50", "p99", "max", "pause"))
    return row, _number(figures["requests"]), *times, f"{figures['memory']:,.0f} MiB"


def _campaign(row: str, figures: Mapping[str, Any]) -> Row:
    memory = f"{figures['memory_warm']:,.0f} → {figures['memory_end']:,.0f} MiB"
    counts = (_number(figures[name]) for name in ("requests", "accepted", "refused", "bugs"))
    return row, *counts, _number(figures["rate"]), memory


def _pause(row: str, figures: Mapping[str, Any]) -> Row:
    return row, _number(figures["requests"]), f"{figures['longest']:.0f} ms", str(figures["which"])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


TABLES: Final[dict[str, tuple[Row, Callable[[str, Mapping[str, Any]], Row]]]] = {
    "fault suites": (
        ("suite", "rounds", "acknowledged writes", "events", "reads", "lost, doubled or stale"),
        _suite,
    ),
    "abuses": (
        ("next to", "requests", "p50", "p99", "longest", "longest pause", "memory of the workers"),
        _abuse,
    ),
    "fuzz campaign": (
        ("seed", "requests", "accepted", "refused", "5xx", "requests/s", "memory"),
        _campaign,
    ),
    "pauses": (("requests at the limits of", "requests", "longest pause", "in"), _pause),
}


def main() -> None:
    PAGE.write_text(rendered(PAGE.read_text(), json.loads(FILE.read_text())))
    print(f"wrote the tables of {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
