"""Values of wrong types are refused in the words of kube-apiserver, whatever the request."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.apis.kinds.kind_server import APPLY, KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
KINDS: dict[str, Any] = yaml.load(
    (Path(__file__).parent / "wrong_types.yaml").read_text(), yaml.CSafeLoader
)


def with_value(document: Any, path: str, value: Any) -> Any:
    """Return a copy of a document with another value at *path*."""
    copy = orjson.loads(orjson.dumps(document))
    *parents, last = path.split(".")
    place = copy
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
    place[int(last) if isinstance(place, list) else last] = value
    return copy


def patch_of(document: Any, path: str, value: Any) -> Any:
    """Return the patch that sets the value; a list is in it as a whole."""
    if any(step.isdigit() for step in path.split(".")):
        top = path.partition(".")[0]
        return {top: with_value(document, path, value)[top]}
    return with_value({}, path, value)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_document_with_a_wrong_type_is_not_created(kinds: KindServer, kind: str) -> None:
    entry = KINDS[kind]
    version = entry["document"]["apiVersion"].rpartition("/")[2]
    prefix = f'{kind} in version "{version}" cannot be handled as a {kind}: '

    for case in entry["cases"]:
        document = with_value(entry["document"], case["set"], case["to"])
        answer = await kinds.driver.post(f"{entry['path']}?dryRun=All", document)
        assert (answer.code, answer.json["message"]) == (400, prefix + case["create"]), case


@pytest.mark.parametrize("kind", KINDS)
async def test_a_patch_with_a_wrong_type_is_refused(kinds: KindServer, kind: str) -> None:
    entry = KINDS[kind]
    await kinds.create(entry["document"])
    path = f"{kinds.path(entry['document'])}?dryRun=All"

    for case in (case for case in entry["cases"] if "patch" in case):
        body = orjson.dumps(patch_of(entry["document"], case["set"], case["to"]))
        answer = await kinds.driver.send("PATCH", path, body=body, headers=STRATEGIC)
        assert answer.code == 422, case
        assert answer.json["message"].endswith(f'": {case["patch"]}'), case


@pytest.mark.parametrize("kind", KINDS)
async def test_a_configuration_with_a_wrong_type_is_not_applied(
    kinds: KindServer, kind: str
) -> None:
    entry = KINDS[kind]
    path = f"{kinds.path(entry['document'])}?dryRun=All&fieldManager=m&force=true"

    for case in (case for case in entry["cases"] if "apply" in case):
        body = orjson.dumps(with_value(entry["document"], case["set"], case["to"]))
        answer = await kinds.driver.send("PATCH", path, body=body, headers=APPLY)
        assert (answer.code, answer.json["message"]) == (400, case["apply"]), case


async def test_a_wrong_type_is_reported_before_a_conflict(kinds: KindServer) -> None:
    entry = KINDS["ConfigMap"]
    await kinds.create(entry["document"])
    body = orjson.dumps(with_value(entry["document"], "data", {"a": 1}))

    path = f"{kinds.path(entry['document'])}?fieldManager=m"
    answer = await kinds.driver.send("PATCH", path, body=body, headers=APPLY)

    assert answer.code == 400
    assert ".data.a: expected string, got" in answer.json["message"]


async def test_a_merge_patch_of_the_kind_names_what_cannot_be_read(kinds: KindServer) -> None:
    entry = KINDS["ConfigMap"]
    await kinds.create(entry["document"])

    answer = await kinds.driver.patch(kinds.path(entry["document"]), {"kind": 5})

    assert answer.json["message"].endswith(
        "\": couldn't get version/kind; json parse error: json: cannot unmarshal number"
        " into Go struct field .kind of type string"
    )


async def test_an_applied_item_without_its_key_has_the_zero_value_as_key(kinds: KindServer) -> None:
    pod = {**KINDS["Pod"]["document"], "metadata": {"name": "nameless"}}
    pod["spec"] = {"containers": [{"image": "i"}]}

    path = f"{kinds.path(pod)}?fieldManager=m"
    answer = await kinds.driver.send("PATCH", path, body=orjson.dumps(pod), headers=APPLY)

    assert (answer.code, answer.json["message"]) == (
        422,
        'Pod "nameless" is invalid: spec.containers[0].name: Required value',
    )


@pytest.mark.parametrize("part", ["pods/none/eviction", "serviceaccounts/none/token"])
async def test_a_document_of_another_kind_is_not_converted(kinds: KindServer, part: str) -> None:
    sent = {"apiVersion": "apps/v1", "kind": "Deployment"}

    answer = await kinds.driver.post(f"/api/v1/namespaces/default/{part}", sent)

    kind = {"eviction": "policy.Eviction", "token": "authentication.TokenRequest"}
    expected = kind[part.rpartition("/")[2]]
    assert (answer.code, answer.json["message"]) == (
        400,
        f'Deployment in version "v1" cannot be handled as a {expected.partition(".")[2]}:'
        f" converting (v1.Deployment) to ({expected}): unknown conversion",
    )


async def test_the_message_about_an_unknown_kind_lists_no_others(kinds: KindServer) -> None:
    path = "/api/v1/namespaces/default/pods/none/eviction"

    answer = await kinds.driver.post(path, {"apiVersion": "v1"})

    assert answer.json["message"] == (
        'Eviction in version "v1" cannot be handled as a Eviction: no kind "Eviction" is registered'
        ' for version "v1" in scheme "apimachinery"'
    )


@pytest.mark.parametrize(
    ("media_type", "reason"),
    [
        ("strategic-merge-patch", "unrecognized type: int32"),
        (
            "merge-patch",
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type"
            " int32",
        ),
    ],
)
async def test_a_patch_of_a_scale_with_a_wrong_type_is_invalid(
    kinds: KindServer, media_type: str, reason: str
) -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/deployments"
    await kinds.driver.post(path, {"metadata": {"name": "mistyped"}, "spec": spec})

    answer = await kinds.driver.send(
        "PATCH",
        f"{path}/mistyped/scale",
        body=b'{"spec": {"replicas": "x"}}',
        headers={"content-type": f"application/{media_type}+json"},
    )

    assert (answer.code, answer.json["details"]["causes"][0]["field"]) == (422, "patch")
    assert answer.json["message"].endswith(reason)
