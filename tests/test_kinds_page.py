"""The counts on the page about kinds are those of the groups, next to Kubernetes' list.

`KINDS_PAGE=update pytest tests/test_kinds_page.py` writes them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from apiserver.auth.token_review import TokenReviewer
from apiserver.controlplane.standard_server import standard_groups
from apiserver.group import Group
from tests.apis.groups import GROUPS
from tests.apis.kinds.kind_files import STREAMED, facts

PAGE = Path(__file__).parent.parent / "docs" / "kinds.md"
BEGIN, END = "<!-- counts -->\n", "<!-- end of counts -->"


def counts() -> str:
    """The table: each group with its resources in the small set, in all, and in Kubernetes."""
    small, every = named(standard_groups(reviewer=TokenReviewer([]))), named(GROUPS)
    rows = ["| group | small | all | Kubernetes | not here |", "|---|--:|--:|--:|---|"]
    totals = [0, 0, 0]
    for name, group in facts().items():
        sets = [small.get(name, set()), every.get(name, set()), set(expected(group))]
        totals = [total + len(found) for total, found in zip(totals, sets, strict=True)]
        lacking = ", ".join(f"`{resource}`" for resource in sorted(sets[2] - sets[1]))
        shown = " | ".join(str(len(found)) for found in sets)
        rows.append(f"| {f'`{name}`' if name else 'core'} | {shown} | {lacking} |")
    total = " | ".join(f"**{count}**" for count in totals)
    return "\n".join([*rows, f"| **all** | {total} | |", ""])


def named(groups: tuple[Group, ...]) -> dict[str, set[str]]:
    return {group.name: {resource.name for resource in group.resources} for group in groups}


def expected(group: dict[str, dict[str, object]]) -> Iterator[str]:
    yield from group["resources"]


def test_the_page_has_the_counts() -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    written, after = rest.split(END)
    if os.environ.get("KINDS_PAGE") == "update":
        PAGE.write_text(f"{before}{BEGIN}{counts()}{END}{after}")
        return

    assert written == counts()
    assert all(name in before + after for name in STREAMED)
