"""The mistakes that people make most are answered with Kubernetes' words, all of them at once."""

from typing import Any

import pytest

from apimachinery.patch import json_patch, merge_patch
from tests.apis.kinds.kind_files import InvalidCase, invalid_cases
from tests.apis.kinds.kind_server import KindServer
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEYS = {"name", "manifest", "from", "patch", "update", "status", "code", "message", "causes"}


@pytest.mark.parametrize("case", list(invalid_cases()), ids=lambda case: case.name)
async def test_it_is_refused(kinds: KindServer, case: InvalidCase) -> None:
    assert case.fields.keys() <= KEYS

    answer = await sent(kinds, case)

    status = answer.json
    assert (answer.code, status.get("message", "").rstrip("\n")) == (
        case.fields.get("code", 422),
        case.fields["message"].rstrip("\n"),
    )
    if "causes" in case.fields:
        causes = status["details"]["causes"]
        assert [f"{c['reason']} {c['field']}: {c['message']}" for c in causes] == case.fields[
            "causes"
        ]


async def sent(kinds: KindServer, case: InvalidCase) -> Answer:
    """Send the request of a case as a dry run."""
    for document in case.minimal.needed:
        await kinds.create(document)
    begun = patched(case.minimal.document, case.fields.get("from", {}))
    for form, part in (("update", ""), ("status", "/status")):
        if form in case.fields:
            await kinds.create(begun)
            current = (await kinds.read(begun)).json
            changed = patched(current, case.fields[form])
            return await kinds.driver.put(f"{kinds.path(begun)}{part}?dryRun=All", changed)
    document = case.fields.get("manifest") or patched(begun, case.fields["patch"])
    return await kinds.driver.post(f"{kinds.collection(begun)}?dryRun=All", document)


def patched(document: Any, change: Any) -> Any:
    """Apply a JSON merge patch, or a JSON patch if it is a list."""
    if isinstance(change, list):
        return json_patch.apply(document, change)
    return merge_patch.apply(document, change)
