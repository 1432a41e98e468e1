"""The plots and tables of `docs/scale.md`, written from the figures in `docs/scale.json`.

`python -m tests.benchmarks._scale_page` writes them; a test compares them.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks._plots import log_plot
from tests.benchmarks._scale_model import Constants, Installation, checks, constants

DOCS: Final = Path(__file__).parents[2] / "docs"
FILE: Final = DOCS / "scale.json"
PAGE: Final = DOCS / "scale.md"
MARK: Final = re.compile(r"(<!-- scale: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
NAMES: Final = {
    "get": "get",
    "page": "page of 500",
    "write": "merge patch",
    "follow": "write of another server",
}
FUTURE: Final = Installation(
    servers=100, workers=8, objects=10_000_000, watchers=1_000_000, writes=1_000, matching=10
)
"""What the last part of the page is about."""

Figures = dict[str, Any]


def plots(figures: Figures) -> dict[str, str]:
    """Return the plots by their file."""
    objects = {
        f"{title}, {store}": _line(rows, name)
        for store, rows in figures["objects"].items()
        for name, title in NAMES.items()
    }
    memory = {
        f"cache, {store}": _line(rows, "memory") for store, rows in figures["objects"].items()
    }
    watchers = {kind: _line(rows, "event") for kind, rows in figures["watchers"].items()}
    return {
        "scale-objects.svg": log_plot(
            "Cost of a request by the number of objects", "objects of 1 KB", "µs of CPU", objects
        ),
        "scale-memory.svg": log_plot(
            "Memory of a worker by the number of objects", "objects of 1 KB", "bytes", memory
        ),
        "scale-watchers.svg": log_plot(
            "Cost of a write with its event by the number of watchers",
            "watchers",
            "µs of CPU",
            watchers,
        ),
    }


def rendered(page: str, figures: Figures) -> str:
    """Return the page with the tables of these figures."""
    tables = {
        "objects": _objects(figures),
        "watchers": _watchers(figures),
        "constants": _constants(figures),
        "checks": _checks(figures),
        "future": _future(_measured(figures)),
    }
    return MARK.sub(lambda found: found[1] + tables[found[2]] + found[4], page)


def write() -> None:
    figures = json.loads(FILE.read_text())
    for name, plot in plots(figures).items():
        (DOCS / name).write_text(plot)
    PAGE.write_text(rendered(PAGE.read_text(), figures))


def _line(rows: dict[str, dict[str, float]], name: str) -> dict[int, float]:
    return {int(size): row[name] for size, row in rows.items()}


def _objects(figures: Figures) -> str:
    rows = []
    for store, sizes in figures["objects"].items():
        for size, row in sizes.items():
            costs = (f"{row[name]:,.0f} µs" for name in NAMES)
            memory = f"{row['memory'] / 1e6:,.0f} MB"
            rows.append((store, f"{int(size):,}", *costs, memory))
    return _table(("store", "objects", *NAMES.values(), "memory"), rows)


def _watchers(figures: Figures) -> str:
    sizes = list(figures["watchers"]["everything"])
    rows = [
        (kind, *(f"{found[size]['event']:,.0f} µs" for size in sizes))
        for kind, found in figures["watchers"].items()
    ]
    return _table(("they watch", *(f"{int(size):,} watchers" for size in sizes)), rows)


def _measured(figures: Figures) -> Constants:
    objects = max(map(int, figures["objects"]["sqlite"]))
    return constants(
        figures, objects=objects, watchers=max(map(int, figures["watchers"]["everything"]))
    )


def _constants(figures: Figures) -> str:
    of = _measured(figures)
    rows = [
        ("get", f"{of.get:,.0f} µs"),
        ("page of 500", f"{of.page:,.0f} µs"),
        ("write", f"{of.write:,.0f} µs"),
        ("following a write, each worker", f"{of.follow:,.0f} µs"),
        ("delivering an event to one watcher", f"{of.deliver:,.1f} µs"),
        ("an object at the start of a worker", f"{of.start:,.0f} µs"),
        ("an object in the memory of a worker", f"{of.object_bytes:,.0f} bytes"),
        ("a watcher in the memory of its worker", f"{of.watcher_bytes / 1e3:,.0f} kB"),
    ]
    return _table(("constant", "measured"), rows)


def _checks(figures: Figures) -> str:
    rows = [
        (name, f"{predicted:,.3g}", f"{measured:,.3g}", f"{measured / predicted:.2f}")
        for name, (predicted, measured) in checks(figures).items()
    ]
    return _table(("", "predicted", "measured", "ratio"), rows)


def _future(of: Constants) -> str:
    it = FUTURE
    everybody = Installation(
        it.servers, it.workers, it.objects, it.watchers, it.writes, it.watchers
    )
    rows = [
        ("memory of a worker", f"{it.worker_bytes(of) / 1e9:,.1f} GB"),
        ("memory of a server", f"{it.worker_bytes(of) * it.workers / 1e9:,.0f} GB"),
        ("start of a worker, processor time", f"{it.start_seconds(of):,.0f} s"),
        ("cores that answer the writes", f"{it.writing_cores(of):,.2f}"),
        ("cores that follow the writes", f"{it.following_cores(of):,.0f}"),
        ("cores that deliver, 10 watchers for each event", f"{it.delivering_cores(of):,.2f}"),
        ("cores that deliver, all watchers for each", f"{everybody.delivering_cores(of):,.0f}"),
        ("stored", f"{it.stored_bytes() / 1e9:,.0f} GB"),
        ("sent by etcd to its feeds", f"{it.feed_bytes() / 1e9:,.2f} GB/s"),
    ]
    return _table(("", "needed"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    rule = tuple("---" if not position else "--:" for position in range(len(head)))
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


if __name__ == "__main__":
    write()
