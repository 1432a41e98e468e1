"""The mistakes that people make most are answered with Kubernetes' words, all of them at once."""

from collections import Counter
from typing import Any

import pytest

from apimachinery.patch import json_patch, merge_patch
from tests.apis.kinds.kind_files import InvalidCase, Manifest, invalid_cases, manifests
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


LENIENT = {
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    *("ValidatingWebhookConfiguration", "CustomResourceDefinition", "APIService", "Lease", "Event"),
    *("RuntimeClass", "PodDisruptionBudget"),
}
"""Kinds that take finalizers without a domain."""


@pytest.mark.parametrize("manifest", manifests("minimal"), ids=lambda manifest: manifest.name)
async def test_a_finalizer_has_a_domain(kinds: KindServer, manifest: Manifest) -> None:
    for document in manifest.needed:
        await kinds.create(document)
    document = patched(manifest.document, {"metadata": {"finalizers": ["mine"]}})

    answer = await kinds.driver.post(f"{kinds.collection(document)}?dryRun=All", document)

    if document["kind"] in LENIENT:
        assert answer.code in (201, 409)  # 409 if another test has created it
    else:
        assert answer.json["message"].endswith(
            'is invalid: metadata.finalizers[0]: Invalid value: "mine": name is neither a standard'
            " finalizer name nor is it fully qualified"
        )


async def test_every_kind_has_ten_mistakes() -> None:
    counts = Counter(case.minimal.name for case in invalid_cases())

    assert {name for name, count in counts.items() if count < 10} == set()


async def sent(kinds: KindServer, case: InvalidCase) -> Answer:
    """Send the request of a case as a dry run."""
    for document in case.minimal.needed:
        await kinds.create(document)
    begun = patched(case.minimal.document, case.fields.get("from", {}))
    for form, part in (("update", ""), ("status", "/status")):
        if form in case.fields:
            await kinds.create(begun)
            path = f"{kinds.path(begun)}{part}?dryRun=All"
            while True:
                current = (await kinds.read(begun)).json
                answer = await kinds.driver.put(path, patched(current, case.fields[form]))
                # A controller of the server may report in the status at the same time.
                if answer.json.get("reason") != "Conflict" or "Conflict" in str(case.fields):
                    return answer
    document = case.fields.get("manifest") or patched(begun, case.fields["patch"])
    return await kinds.driver.post(f"{kinds.collection(begun)}?dryRun=All", document)


def patched(document: Any, change: Any) -> Any:
    """Apply a JSON merge patch, or a JSON patch if it is a list."""
    if isinstance(change, list):
        return json_patch.apply(document, change)
    return merge_patch.apply(document, change)
