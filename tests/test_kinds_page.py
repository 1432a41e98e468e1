"""The counts on the page about kinds are those of the groups, next to Kubernetes' list.

`KINDS_PAGE=update pytest tests/test_kinds_page.py` writes them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from apis.kubernetes import KUBERNETES
from apiserver.group import Group
from client.testing.app_server import InMemoryServer
from tests.apis.kinds.kind_files import STREAMED, facts
from tests.apiserver.http.driver import Driver

PAGE = Path(__file__).parent.parent / "docs" / "kinds.md"
BEGIN, END = "<!-- counts -->\n", "<!-- end of counts -->"


async def counts() -> str:
    """The table: each group with its resources in the small set, in all, and in Kubernetes."""
    small, every = await served(()), await served(KUBERNETES)
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


async def served(groups: tuple[Group, ...]) -> dict[str, set[str]]:
    """Return the resources of a server with *groups*, by group, as its discovery lists them."""
    server = InMemoryServer(groups)
    await server.app.start()
    try:
        driver = Driver(server.app, authorization=f"Bearer {server.token}")
        found = {"": await listed(driver, "/api/v1")}
        for group in (await driver.get("/apis", accept="application/json")).json["groups"]:
            pages = [f"/apis/{version['groupVersion']}" for version in group["versions"]]
            found[group["name"]] = set().union(*[await listed(driver, page) for page in pages])
        return found
    finally:
        await server.app.stop()


async def listed(driver: Driver, page: str) -> set[str]:
    answer = await driver.get(page, accept="application/json")
    names = (resource["name"] for resource in answer.json["resources"])
    return {name for name in names if "/" not in name}


def expected(group: dict[str, dict[str, object]]) -> Iterator[str]:
    yield from group["resources"]


async def test_the_page_has_the_counts() -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    written, after = rest.split(END)
    if os.environ.get("KINDS_PAGE") == "update":
        PAGE.write_text(f"{before}{BEGIN}{await counts()}{END}{after}")
        return

    assert written == await counts()
    assert all(name in before + after for name in STREAMED)
