"""Inspection: read every stored object of a kind with today's code, and count what becomes of it.

Nothing is written, and servers may run meanwhile. An object counts once, where it is worst off.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import Object
from apimachinery.storage_codec import shape_in
from apiserver.evolution.danger import object_name
from apiserver.evolution.endangered import undeclared_values
from apiserver.evolution.judgement import Judgement
from apiserver.storage.interface import Backend, Record
from apiserver.storage.record_reading import read_record
from apiserver.storage.stored_resources import prefix_of, records_below

EXAMPLES: Final = 3
"""The number of objects that are named for each finding."""

Outcome = Literal["fine", "upgraded", "newer", "refused", "losing", "unreadable"]
Rules = Callable[[Object, bytes], Iterable[FieldError]]
"""Yields what today's rules refuse in an object and its stored bytes.

An exception means that clients cannot read the object in some version.
"""


@dataclass(frozen=True, slots=True)
class Example:
    object: str
    """`namespace/name`, or the name."""
    message: str = ""


@dataclass(slots=True)
class Finding:
    """What is wrong at one path, in how many objects."""

    path: str
    objects: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, example: Example) -> None:
        self.objects += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)


@dataclass(slots=True)
class KindReport:
    """What today's code makes of the stored objects of one kind."""

    resource: str
    counts: dict[Outcome, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("fine", "upgraded", "newer", "refused", "losing", "unreadable"), 0
        )
    )
    findings: dict[Outcome, dict[str, Finding]] = field(default_factory=dict)
    """Outcome -> path -> finding."""

    @property
    def objects(self) -> int:
        return sum(self.counts.values())

    def add(self, outcome: Outcome, details: Iterable[tuple[str, Example]] = ()) -> None:
        """Count one object; *details* are the paths at which something is wrong."""
        self.counts[outcome] += 1
        found = self.findings.setdefault(outcome, {})
        for path, example in dict(details).items():
            found.setdefault(path, Finding(path)).add(example)


async def inspect(
    backend: Backend, judgement: Judgement, rules: Rules, progress: Callable[[], None]
) -> KindReport:
    """Read all objects of a kind; *progress* is called after each. Raises StorageError."""
    kind = judgement.kind
    kind.codec.know(judgement.shapes)
    report = KindReport(kind.name)
    heads = kind.codec.verbatim_heads(kind.cls)
    async for record in records_below(backend, prefix_of(kind.resource)):
        _inspect_record(record, judgement, rules, report, heads)
        progress()
    return report


def _inspect_record(
    record: Record,
    judgement: Judgement,
    rules: Rules,
    report: KindReport,
    heads: tuple[bytes, ...],
) -> None:
    kind, name = judgement.kind, object_name(record)
    stored = read_record(kind.codec, kind.cls, record)
    if stored.problem:
        report.add("unreadable", [("", Example(name, stored.problem))])
        return
    lost = set(stored.lost or undeclared_values(record, judgement))
    if shape_in(record.value)[1] in judgement.shapes.newer:
        report.add("newer", [(path, Example(name)) for path in lost])
        return
    if lost:
        report.add("losing", [(path, Example(name)) for path in lost])
        return
    try:
        errors = list(rules(stored.object, record.value))
    except Exception as error:  # a conversion or a rule of the group: the failure of this object
        report.add("unreadable", [("", Example(name, f"{type(error).__name__}: {error}"))])
        return
    if errors:
        details = [(kind.tree.declared(each.field), Example(name, str(each))) for each in errors]
        report.add("refused", details)
    else:
        report.add("fine" if record.value.startswith(heads) else "upgraded")
