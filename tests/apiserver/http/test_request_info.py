"""What a URL asks for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import BadRequest
from apiserver.http.request_info import RequestInfo, parse_query, request_info


def info(method: str, url: str) -> RequestInfo:
    path, _, query = url.partition("?")
    return request_info(method, path, parse_query(query.encode()))


@pytest.mark.parametrize(
    ("method", "url", "expected"),
    [
        ("GET", "/api/v1/pods", {"verb": "list", "resource": "pods"}),
        ("GET", "/api/v1/pods?watch", {"verb": "watch"}),
        ("GET", "/api/v1/pods?watch=", {"verb": "watch"}),
        ("GET", "/api/v1/pods?watch=1", {"verb": "watch"}),
        ("GET", "/api/v1/pods?watch=0", {"verb": "list"}),
        ("GET", "/api/v1/pods?watch=False", {"verb": "list"}),
        ("HEAD", "/api/v1/pods", {"verb": "list"}),
        ("POST", "/api/v1/namespaces/ns/pods", {"verb": "create", "namespace": "ns"}),
        ("DELETE", "/api/v1/namespaces/ns/pods", {"verb": "deletecollection"}),
        ("GET", "/api/v1/namespaces/ns/pods/a", {"verb": "get", "name": "a", "namespace": "ns"}),
        ("GET", "/api/v1/namespaces/ns/pods/a?watch=1", {"verb": "get"}),
        ("PUT", "/api/v1/namespaces/ns/pods/a/status", {"verb": "update", "subresource": "status"}),
        ("PATCH", "/apis/apps/v1/namespaces/ns/deployments/a", {"verb": "patch", "group": "apps"}),
        ("DELETE", "/apis/apps/v1/namespaces/ns/deployments/a", {"verb": "delete"}),
        ("GET", "/api/v1/namespaces", {"verb": "list", "resource": "namespaces", "namespace": ""}),
        ("GET", "/api/v1/namespaces/x", {"resource": "namespaces", "name": "x", "namespace": "x"}),
        (
            "PUT",
            "/api/v1/namespaces/x/finalize",
            {"resource": "namespaces", "name": "x", "subresource": "finalize"},
        ),
        ("PUT", "/api/v1/namespaces/x/status", {"resource": "namespaces", "subresource": "status"}),
        ("GET", "/api/v1/namespaces/x/status/y", {"resource": "namespaces", "rest": ("y",)}),
        ("GET", "/api/v1/watch/namespaces/ns/pods", {"verb": "watch", "namespace": "ns"}),
        ("GET", "/api/v1/watch/namespaces/ns/pods/a", {"verb": "watch", "name": "a"}),
        ("GET", "/api/v1/watch/pods", {"verb": "watch", "resource": "pods"}),
        ("OPTIONS", "/api/v1/pods", {"verb": "", "resource": "pods"}),
        ("GET", "/api/v1/pods/", {"verb": "list", "resource": "pods"}),
    ],
)
def test_resources(method: str, url: str, expected: dict[str, Any]) -> None:
    found = info(method, url)

    assert found.is_resource
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("method", "url", "verb"),
    [
        ("GET", "/", "get"),
        ("GET", "/healthz", "get"),
        ("POST", "/version", "post"),
        ("GET", "/api", "get"),
        ("GET", "/api/v1", "get"),
        ("GET", "/apis/apps/v1", "get"),
        ("GET", "/openapi/v3/apis/apps/v1", "get"),
    ],
)
def test_other_paths_have_the_method_as_their_verb(method: str, url: str, verb: str) -> None:
    found = info(method, url)

    assert not found.is_resource
    assert (found.verb, found.path) == (verb, url)


def test_a_field_selector_for_one_name_gives_the_name() -> None:
    found = info("GET", "/api/v1/pods?fieldSelector=metadata.name%3Da,status.phase%3DRunning")

    assert (found.verb, found.name, found.name_in_path) == ("list", "a", False)


@pytest.mark.parametrize(
    "selector", ["metadata.name!=a", "metadata.name=a/b", "metadata.name=..", "=="]
)
def test_other_field_selectors_give_none(selector: str) -> None:
    found = request_info("GET", "/api/v1/pods", {"fieldSelector": [selector]})

    assert found.name == ""


@given(st.text(), st.text())
def test_any_path_and_query_can_be_read(path: str, query: str) -> None:
    found = request_info("GET", "/" + path, parse_query(query.encode("utf-8", "replace")))

    assert found.path == "/" + path


def test_too_many_parameters_are_refused() -> None:
    with pytest.raises(BadRequest, match="1000"):
        parse_query(b"&".join(b"a=%d" % i for i in range(1001)))
