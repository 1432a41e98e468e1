"""The report of `apiserver check` about a store, as text and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apiserver.commands.text_table import aligned
from apiserver.evolution.inspection import Finding, KindReport, Outcome

_TITLES: Final[Mapping[Outcome, str]] = {
    "fine": "FINE",
    "upgraded": "UPGRADED",
    "newer": "NEWER",
    "refused": "REFUSED",
    "losing": "LOSING",
    "unreadable": "UNREADABLE",
}
_SENTENCES: Final[Mapping[Outcome, str]] = {
    "newer": "stored by a newer release, with fields that these groups do not have",
    "refused": "values that today's rules refuse",
    "losing": "fields that these groups do not have, whose values would be lost",
    "unreadable": "cannot be read",
}
_VERDICTS: Final[Mapping[Outcome, str]] = {
    "losing": "would lose fields",
    "unreadable": "cannot be read",
    "refused": "with values that today's rules refuse",
    "upgraded": "to be upgraded when read",
}


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What a server with the checked groups would make of a store."""

    kinds: Sequence[KindReport]
    """The kinds that have objects."""
    unserved: Mapping[str, int]
    """Resources that nobody serves with these groups -> number of objects."""
    problems: Sequence[str]
    """Why a start would be refused."""
    notes: Sequence[str] = ()

    def count(self, outcome: Outcome) -> int:
        return sum(kind.counts[outcome] for kind in self.kinds)

    @property
    def objects(self) -> int:
        return sum(kind.objects for kind in self.kinds)

    def is_ok(self, *, strict: bool) -> bool:
        """Return whether nothing would be lost or unreadable; if *strict*, nothing refused."""
        worst: list[Outcome] = ["losing", "unreadable"]
        if strict:
            worst.append("refused")
        return not self.problems and not any(self.count(outcome) for outcome in worst)

    def verdict(self, *, strict: bool) -> str:
        """Return the last line of the report."""
        counted = [
            f"{_objects(self.count(outcome))} {words}"
            for outcome, words in _VERDICTS.items()
            if self.count(outcome)
        ]
        reasons = ["a start would be refused"] if self.problems else []
        text = "; ".join([*reasons, *counted])
        if self.is_ok(strict=strict):
            return f"ok: {text}" if text else "ok"
        return f"not ok: {text}"


def as_text(report: StoreReport, *, strict: bool) -> str:
    """Return a table of the kinds, the findings with examples, and a verdict."""
    lines = [_table(report.kinds)] if report.kinds else ["the store has no objects of these groups"]
    for kind in report.kinds:
        lines += _findings(kind)
    if report.unserved:
        lines.append("nobody serves with these groups:")
        lines += [f"  {name}: {_objects(count)}" for name, count in report.unserved.items()]
    if report.problems:
        lines.append("a start would be refused:")
        lines += [f"  {problem}" for problem in report.problems]
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join([*lines, report.verdict(strict=strict)])


def as_json(report: StoreReport, *, strict: bool) -> str:
    """Return the same as one JSON object."""
    document = {
        "ok": report.is_ok(strict=strict),
        "verdict": report.verdict(strict=strict),
        "objects": report.objects,
        "kinds": [_kind_json(kind) for kind in report.kinds],
        "unserved": dict(report.unserved),
        "problems": list(report.problems),
        "notes": list(report.notes),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _table(kinds: Iterable[KindReport]) -> str:
    rows = [
        (kind.resource, str(kind.objects), *(str(kind.counts[outcome]) for outcome in _TITLES))
        for kind in kinds
    ]
    return aligned([("RESOURCE", "OBJECTS", *_TITLES.values()), *rows])


def _findings(kind: KindReport) -> Iterator[str]:
    for outcome, words in _SENTENCES.items():
        found = kind.findings.get(outcome, {})
        if found:
            yield f"{kind.resource}: {words}:"
        for finding in sorted(found.values(), key=lambda finding: finding.path):
            yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[str]:
    names = ", ".join(example.object for example in finding.examples)
    if finding.path:
        more = ", ..." if finding.objects > len(finding.examples) else ""
        yield f"  {finding.path}: {_objects(finding.objects)} ({names}{more})"
    for example in finding.examples:
        if example.message:
            yield f"    {example.object}: {example.message}"


def _kind_json(kind: KindReport) -> dict[str, Any]:
    return {
        "resource": kind.resource,
        "objects": kind.objects,
        "counts": dict(kind.counts),
        "findings": [
            {
                "outcome": outcome,
                "path": finding.path,
                "objects": finding.objects,
                "examples": [
                    {"object": example.object, "message": example.message}
                    for example in finding.examples
                ],
            }
            for outcome, found in kind.findings.items()
            for finding in found.values()
        ],
    }


def _objects(count: int) -> str:
    return "1 object" if count == 1 else f"{count} objects"
