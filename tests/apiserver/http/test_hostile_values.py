"""Values that no field can hold, in every position of a request: never a server error."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import BETA, CONFIG_MAPS, GADGETS

SERVICES = "/api/v1/namespaces/default/services"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
VALUES = (
    *("9223372036854775807", "9223372036854775808", "18446744073709551615"),
    *("18446744073709551616", "-9223372036854775809", "9" * 400, "9" * 10_000),
    *("1e400", "-1e400", "1e-400", "1.5", "0.1e1", "NaN", "-Infinity", "01", "1."),
    *('"\\ud800"', '"\\u0000"', '"\\ud83d\\ude00"', '"9e999999999"', '"%s"' % ("1" * 10_000)),
    *("null", "true", "[]", "{}", '[{"a": 18446744073709551616}]', '{"": 1e400}', '"', "'a'"),
)
BODIES = (
    (CONFIG_MAPS, '{"metadata": {"name": "x"}, "data": {"a": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x"}, "binaryData": {"a": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x"}, "immutable": %s}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x"}, "unknown": %s}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "generation": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "creationTimestamp": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "resourceVersion": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "deletionGracePeriodSeconds": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": %s}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "labels": {"a": %s}}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "managedFields": [{"fieldsV1": %s}]}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "managedFields": [{"fieldsV1": {"v:1": %s}}]}}'),
    (CONFIG_MAPS, '{"metadata": {"name": "x", "managedFields": %s}}'),
    (CONFIG_MAPS, '{"metadata": %s}'),
    (CONFIG_MAPS, "%s"),
    (CONFIG_MAPS, '{"kind": %s, "metadata": {"name": "x"}}'),
    (CONFIG_MAPS, '{"apiVersion": %s, "metadata": {"name": "x"}}'),
    (GADGETS, '{"metadata": {"name": "x"}, "spec": {"model": "m", "replicas": %s}}'),
    (GADGETS, '{"metadata": {"name": "x"}, "spec": %s}'),
    (GADGETS, '{"spec": {"replicas": %s}, "unknown": 1}'),
    (GADGETS, '{"metadata": {"name": "x"}, "spec": {"model": "m", "parts": [{"size": %s}]}}'),
    (GADGETS, '{"metadata": {"name": "x"}, "spec": {"model": "m", "parts": [{"port": %s}]}}'),
    (BETA, '{"metadata": {"name": "x"}, "spec": {"model": "m", "timeout": %s}}'),
    (SERVICES, '{"metadata": {"name": "x"}, "spec": {"ports": [{"port": %s}]}}'),
    (SERVICES, '{"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1, "targetPort": %s}]}}'),
    (LEASES, '{"metadata": {"name": "x"}, "spec": {"leaseDurationSeconds": %s}}'),
    (LEASES, '{"metadata": {"name": "x"}, "spec": {"renewTime": %s}}'),
)


@pytest.mark.parametrize(("path", "body"), BODIES)
async def test_no_value_in_a_body_is_a_server_error(client: Driver, path: str, body: str) -> None:
    for value in VALUES:
        for media_type in ("application/json", "application/yaml"):
            answer = await client.send(
                "POST",
                f"{path}?dryRun=All&fieldValidation=Warn",
                body=(body % value).encode(),
                headers={"content-type": media_type},
            )
            assert answer.code < 500, (media_type, value[:50], answer.body[:300])


@pytest.mark.parametrize(
    "body",
    [
        b'\xff\xfe{"a": 1}',
        b'{"metadata": {"name": "x"}, "data": {"a\x00": "b"}}',
        b"\x00",
        b"",
    ],
)
async def test_bytes_that_are_no_text_are_a_bad_request(client: Driver, body: bytes) -> None:
    for media_type in ("application/json", "application/yaml", "application/merge-patch+json"):
        headers = {"content-type": media_type}
        method = "PATCH" if "patch" in media_type else "POST"
        path = f"{CONFIG_MAPS}/x" if method == "PATCH" else CONFIG_MAPS

        answer = await client.send(method, path, body=body, headers=headers)

        assert answer.code in (400, 404), (media_type, answer.body[:300])


@pytest.mark.parametrize(
    "patch",
    [
        '{"metadata": {"generation": %s}}',
        '{"data": {"a": %s}}',
        '{"spec": {"replicas": %s}}',
        '{"spec": {"parts": %s}}',
        '{"spec": {"$retainKeys": %s}}',
        '{"$patch": %s}',
        "%s",
    ],
)
async def test_no_value_in_a_patch_is_a_server_error(client: Driver, patch: str) -> None:
    gadget = {"metadata": {"name": "lamp"}, "spec": {"model": "m"}}
    assert (await client.post(GADGETS, gadget)).code == 201
    kinds = ("merge-patch+json", "strategic-merge-patch+json", "json-patch+json")
    for value in VALUES:
        for kind in kinds:
            text = patch % value
            if kind == kinds[2]:
                text = f'[{{"op": "add", "path": "/spec/replicas", "value": {text}}}]'
            answer = await client.send(
                "PATCH",
                f"{GADGETS}/lamp?dryRun=All",
                body=text.encode(),
                headers={"content-type": f"application/{kind}"},
            )
            assert answer.code < 500, (kind, value[:50], answer.body[:300])


@pytest.mark.parametrize(
    "parameter",
    [
        *("limit", "timeoutSeconds", "resourceVersion", "continue", "labelSelector"),
        *("fieldSelector", "gracePeriodSeconds", "fieldManager", "timeout", "pretty"),
    ],
)
async def test_no_value_of_a_parameter_is_a_server_error(client: Driver, parameter: str) -> None:
    values: tuple[Any, ...] = (*VALUES, "\x00", "a" * 10_000, "=" * 1000)
    for value in (*map(quote, values), "%ff", "%ed%a0%80", "%"):
        for method, path in (("GET", CONFIG_MAPS), ("DELETE", f"{CONFIG_MAPS}/absent")):
            answer = await client.send(method, f"{path}?{parameter}={value}")

            # A revision of the future is a timeout.
            assert answer.code < 500 or answer.code == 504, (method, value[:50], answer.body[:300])
