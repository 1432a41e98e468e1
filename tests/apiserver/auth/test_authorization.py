"""May they: groups, what everyone may, the words of a refusal, and impersonation."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import BadRequest, Forbidden
from apiserver.auth.authorization import (
    forbidden,
    forbidden_message,
    require,
)
from apiserver.auth.impersonation import impersonate
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED, User
from apiserver.http.request_info import RequestInfo, parse_query, request_info
from tests.roles import standard_authorizer

ADMIN = User("admin", groups=(MASTERS, AUTHENTICATED))
ANN = User("ann", groups=(AUTHENTICATED,))


def asks(method: str, url: str) -> RequestInfo:
    path, _, query = url.partition("?")
    return request_info(method, path, parse_query(query.encode()))


async def allowed(user: User, method: str, url: str) -> bool:
    return (await standard_authorizer().authorize(user, asks(method, url))).allowed


@pytest.mark.parametrize("url", ["/api/v1/pods", "/metrics", "/api/v1/namespaces/a/pods/b/exec"])
async def test_masters_may_do_everything(url: str) -> None:
    assert await allowed(ADMIN, "DELETE", url)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/"])
async def test_everyone_may_see_health_and_version(path: str) -> None:
    assert await allowed(ANONYMOUS, "GET", path)
    assert await allowed(ANN, "GET", path)
    assert not await allowed(ANONYMOUS, "POST", path)


@pytest.mark.parametrize(
    "path", ["/api", "/apis", "/apis/apps/v1", "/openapi/v3", "/openapi/v3/apis/apps/v1"]
)
async def test_only_who_is_known_may_discover(path: str) -> None:
    assert await allowed(ANN, "GET", path)
    assert not await allowed(ANONYMOUS, "GET", path)


@pytest.mark.parametrize("path", ["/", "/metrics", "/healthz/ping", "/versions", "/logs"])
async def test_other_paths_are_for_masters(path: str) -> None:
    assert not await allowed(ANN, "GET", path)
    assert not await allowed(ANONYMOUS, "GET", path)


@pytest.mark.parametrize(
    "review",
    [
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    ],
)
async def test_who_is_known_may_ask_about_themselves(review: str) -> None:
    assert await allowed(ANN, "POST", review)
    assert not await allowed(ANN, "GET", review)
    assert not await allowed(ANONYMOUS, "POST", review)


async def test_others_may_do_nothing_with_resources() -> None:
    assert not await allowed(ANN, "GET", "/api/v1/namespaces/default/configmaps/a")
    assert not await allowed(ANN, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews")


@pytest.mark.parametrize("user", [ADMIN, ANN, ANONYMOUS])
async def test_the_rules_of_a_user_say_what_is_decided(user: User) -> None:
    rules = (await standard_authorizer().rules(user, "default")).granted

    for rule in rules:
        for path in rule.paths:
            assert await allowed(user, "GET", path.replace("*", "x"))
        for group, resource in product(rule.groups, rule.resources):
            assert await allowed(user, "POST", f"/apis/{group}/v1/{resource}")
    assert any(rule.verbs == ("*",) for rule in rules) == (user is ADMIN)


@pytest.mark.parametrize(
    ("method", "url", "message"),
    [
        (
            "GET",
            "/api/v1/namespaces/ns/pods",
            'pods is forbidden: User "ann" cannot list resource "pods" in API group "" '
            'in the namespace "ns"',
        ),
        (
            "GET",
            "/apis/apps/v1/deployments?watch",
            'deployments.apps is forbidden: User "ann" cannot watch resource "deployments" '
            'in API group "apps" at the cluster scope',
        ),
        (
            "PUT",
            "/apis/apps/v1/namespaces/ns/deployments/d/scale",
            'deployments.apps "d" is forbidden: User "ann" cannot update resource '
            '"deployments/scale" in API group "apps" in the namespace "ns"',
        ),
        ("GET", "/x", 'forbidden: User "ann" cannot get path "/x"'),
        (
            "GET",
            "/<a>&b",
            'forbidden: User "ann" cannot get path "/&lt;a&gt;&amp;b"',
        ),
    ],
)
async def test_a_refusal_has_kubernetes_words(method: str, url: str, message: str) -> None:
    with pytest.raises(Forbidden) as caught:
        await require(standard_authorizer(), ANN, asks(method, url))

    assert caught.value.message == message


def test_a_refusal_ends_with_the_reason_of_the_authorizer() -> None:
    assert forbidden(ANN, asks("GET", "/x"), "not today").message.endswith('"/x": not today')


@given(st.text(), st.text())
def test_no_name_brings_markup_into_a_refusal(user: str, path: str) -> None:
    message = forbidden_message(User(user), RequestInfo(path, "get"))

    assert not set("<>") & set(message)


async def act(user: User, *headers: tuple[str, str]) -> User:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    return await impersonate(user, raw, standard_authorizer())


async def test_without_headers_one_is_oneself() -> None:
    assert await act(ANN, ("Accept", "*/*"), ("Impersonate-User", "")) is ANN


async def test_masters_may_act_as_anybody() -> None:
    user = await act(
        ADMIN,
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "a,b"),
        ("Impersonate-Group", "c"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-example.com%2Fscope", "x"),
        ("Impersonate-Extra-example.com%2Fscope", "y"),
    )

    assert user == User("bob", "7", ("a,b", "c", AUTHENTICATED), {"example.com/scope": ("x", "y")})


@pytest.mark.parametrize(
    ("name", "groups", "expected"),
    [
        ("bob", [], (AUTHENTICATED,)),
        ("bob", [UNAUTHENTICATED], (UNAUTHENTICATED,)),
        ("system:anonymous", [], (UNAUTHENTICATED,)),
        (
            "system:serviceaccount:ns:sa",
            [],
            ("system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED),
        ),
        ("system:serviceaccount:ns:sa", ["a"], ("a", AUTHENTICATED)),
    ],
)
async def test_who_is_impersonate_gets_the_groups_of_such_a_user(
    name: str, groups: list[str], expected: tuple[str, ...]
) -> None:
    headers = [("Impersonate-Group", group) for group in groups]

    assert (await act(ADMIN, ("Impersonate-User", name), *headers)).groups == expected


@pytest.mark.parametrize("header", ["Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-a"])
async def test_the_rest_without_a_user_is_a_bad_request(header: str) -> None:
    with pytest.raises(BadRequest, match="without impersonating a user"):
        await act(ADMIN, (header, "x"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "bob",
            'users "bob" is forbidden: User "ann" cannot impersonate resource "users" '
            'in API group "" at the cluster scope',
        ),
        (
            "system:serviceaccount:ns:sa",
            'serviceaccounts "sa" is forbidden: User "ann" cannot impersonate resource '
            '"serviceaccounts" in API group "" in the namespace "ns"',
        ),
    ],
)
async def test_others_may_not(name: str, message: str) -> None:
    with pytest.raises(Forbidden) as caught:
        await act(ANN, ("Impersonate-User", name))

    assert caught.value.message == message
