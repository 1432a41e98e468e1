"""A server that decides by roles: requests, reviews, impersonation, several workers."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apis.rbac.policy import Policy
from apiserver import create_app
from apiserver.auth.authorization import ALLOWED, NO_OPINION, Decision
from apiserver.auth.user import MASTERS, User
from apiserver.config import ServerConfig
from apiserver.controlplane.role_authorizer import RoleAuthorizer
from apiserver.http.request_info import RequestInfo
from apiserver.process.data_folder import prepare, read_admin_token
from apiserver.registry.following import Following
from tests.apiserver.http.driver import Driver
from tests.pauses import loop_pauses, machine_factor, measures_time

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CONFIGMAPS = "/api/v1/namespaces/{}/configmaps"
GADGETS = "/apis/gadgets.example.io/v1/namespaces/default/gadgets"
REVIEWS = "/apis/authorization.k8s.io/v1"


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    made = ServerConfig(
        data_dir=tmp_path / "data",
        groups=("apis.gadgets.install:GADGETS",),
        storage=f"sqlite:///{tmp_path}/store.sqlite",
    )
    prepare(made, now=datetime.now(UTC))
    return made


async def started(config: ServerConfig) -> Driver:
    app = create_app(config)
    await app.start()
    return Driver(
        app, authorization=f"Bearer {read_admin_token(prepare(config, now=datetime.now(UTC)))}"
    )


@pytest.fixture
async def admin(config: ServerConfig) -> AsyncIterator[Driver]:
    driver = await started(config)
    yield driver
    await driver.app.stop()


def as_user(driver: Driver, name: str) -> Driver:
    return Driver(driver.app, **driver.headers, **{"impersonate-user": name})


def role(name: str, *rules: dict[str, Any], kind: str = "Role") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "rules": list(rules)}


def rule(
    *verbs: str, resources: str = "configmaps", group: str = "", **more: Any
) -> dict[str, Any]:
    return {"verbs": verbs, "apiGroups": [group], "resources": resources.split(), **more}


def binding(name: str, role: str, user: str) -> dict[str, Any]:
    kind, ref = role.split()
    return {
        "metadata": {"name": name},
        "roleRef": {"kind": kind, "name": ref},
        "subjects": [{"kind": "User", "name": user}],
    }


async def made(
    driver: Driver, resource: str, obj: dict[str, Any], namespace: str = "default"
) -> None:
    place = "" if resource.startswith("cluster") else f"/namespaces/{namespace}"
    answer = await driver.post(f"{RBAC}{place}/{resource}", obj)
    assert answer.code == 201, answer.body


@measures_time
async def test_large_roles_and_bindings_do_not_hold_up_others(admin: Driver) -> None:
    """The next request that depends on roles indexes them first."""
    many = binding("many", "Role large", "ann")
    many["subjects"] += [{"kind": "User", "name": f"user-{number}"} for number in range(8_000)]
    rules = [rule("get", resources=f"resource-{number}") for number in range(4_000)]
    await made(admin, "roles", role("large", rule("list"), *rules))
    await made(admin, "rolebindings", many)

    async with loop_pauses(time.thread_time) as pauses:
        answer = await as_user(admin, "ann").get(CONFIGMAPS.format("default"))

    assert answer.code == 200
    assert pauses.longest < 0.05 * machine_factor()


async def test_a_binding_counts_as_soon_as_it_is_made_and_no_longer(admin: Driver) -> None:
    ann = as_user(admin, "ann")
    url = CONFIGMAPS.format("default")
    assert (await ann.get(url)).code == 403
    await made(admin, "roles", role("reader", rule("get", "list")))

    await made(admin, "rolebindings", binding("b", "Role reader", "ann"))

    assert (await ann.get(url)).code == 200
    assert (await ann.get(CONFIGMAPS.format("kube-system"))).code == 403
    assert (await ann.post(url, {"metadata": {"name": "x"}})).code == 403
    assert (await as_user(admin, "bob").get(url)).code == 403
    await admin.delete(f"{RBAC}/namespaces/default/rolebindings/b")
    async with asyncio.timeout(5):
        while (await ann.get(url)).code != 403:
            await asyncio.sleep(0)


async def test_a_refusal_names_roles_that_are_missing(admin: Driver) -> None:
    await made(admin, "rolebindings", binding("b", "Role nope", "ann"))

    answer = await as_user(admin, "ann").get(CONFIGMAPS.format("default"))

    assert answer.json["message"] == (
        'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" '
        'in the namespace "default": RBAC: role.rbac.authorization.k8s.io "nope" not found'
    )
    assert (answer.code, answer.json["reason"]) == (403, "Forbidden")


async def test_names_and_watches_of_one_object(admin: Driver) -> None:
    only_a = rule("get", "list", "watch", resourceNames=["a"])
    await made(admin, "roles", role("reader", only_a))
    await made(admin, "rolebindings", binding("b", "Role reader", "ann"))
    ann, url = as_user(admin, "ann"), CONFIGMAPS.format("default")

    assert (await ann.get(f"{url}/a")).code == 404
    assert (await ann.get(f"{url}/b")).code == 403
    assert (await ann.get(url)).code == 403
    assert (await ann.get(f"{url}?fieldSelector=metadata.name=a")).code == 200


@pytest.mark.parametrize(
    ("standard", "reads", "writes"), [("view", 200, 403), ("edit", 200, 201), ("admin", 200, 201)]
)
async def test_the_roles_of_every_server_include_groups_of_ones_own(
    admin: Driver, standard: str, reads: int, writes: int
) -> None:
    await made(admin, "rolebindings", binding("b", f"ClusterRole {standard}", "ann"))
    ann = as_user(admin, "ann")
    gadget = {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}}

    assert (await ann.get(GADGETS)).code == reads
    assert (await ann.post(GADGETS, gadget)).code == writes


async def test_two_workers_decide_by_the_same_roles(config: ServerConfig, admin: Driver) -> None:
    """What one worker stores counts at the other at once, without anybody waiting for it."""
    other = await started(config)
    try:
        for number in range(5):
            user, url = f"user{number}", CONFIGMAPS.format("default")
            assert (await as_user(other, user).get(url)).code == 403
            await made(admin, "rolebindings", binding(f"b{number}", "ClusterRole view", user))
            assert (await as_user(other, user).get(url)).code == 200
    finally:
        await other.app.stop()


async def test_workers_that_start_together_make_the_roles_once(config: ServerConfig) -> None:
    workers = await asyncio.gather(*(started(config) for _ in range(3)))
    try:
        listed = [(await each.get(f"{RBAC}/clusterroles")).json["items"] for each in workers]
    finally:
        for each in workers:
            await each.app.stop()

    assert listed[0] == listed[1] == listed[2]
    names = [item["metadata"]["name"] for item in listed[0]]
    assert {"admin", "cluster-admin", "edit", "gadgets.example.io:edit", "view"} <= set(names)


async def test_a_start_brings_back_what_is_missing_and_keeps_what_was_added(
    config: ServerConfig,
) -> None:
    url = f"{RBAC}/clusterroles/system:basic-user"
    first = await started(config)
    await first.delete(f"{RBAC}/clusterrolebindings/system:discovery")
    basic = (await first.get(url)).json
    basic["rules"] = [rule("get", resources="extras")]
    assert (await first.put(url, basic)).code == 200
    await first.app.stop()

    second = await started(config)
    try:
        rules = (await second.get(url)).json["rules"]
        discovery = await second.get(f"{RBAC}/clusterrolebindings/system:discovery")
    finally:
        await second.app.stop()

    assert rule("get", resources="extras") in [each | {"verbs": ("get",)} for each in rules]
    assert "selfsubjectreviews" in str(rules)
    assert discovery.code == 200


async def test_whoever_is_known_may_do_everything_where_that_is_wanted(
    config: ServerConfig,
) -> None:
    driver = await started(replace(config, authorization_mode="AlwaysAllow"))
    try:
        assert (await Driver(driver.app).get("/healthz")).code == 401
        nobody = as_user(driver, "nobody")
        assert (await nobody.get(CONFIGMAPS.format("default"))).code == 200
        everything = rule("*", resources="*", group="*")
        answer = await nobody.post(
            f"{RBAC}/clusterroles", role("x", everything, kind="ClusterRole")
        )
        assert answer.code == 201
    finally:
        await driver.app.stop()


# Escalation


async def test_an_admin_of_a_namespace_gives_what_they_have(admin: Driver) -> None:
    await made(admin, "rolebindings", binding("eve", "ClusterRole admin", "eve"))
    eve = as_user(admin, "eve")
    roles, bindings = f"{RBAC}/namespaces/default/roles", f"{RBAC}/namespaces/default/rolebindings"

    assert (await eve.post(roles, role("r", rule("get")))).code == 201
    assert (await eve.post(bindings, binding("b", "ClusterRole edit", "bob"))).code == 201
    more = await eve.post(roles, role("more", rule("escape")))
    higher = await eve.post(bindings, binding("c", "ClusterRole cluster-admin", "bob"))
    put = await eve.put(f"{roles}/new", role("new", rule("escape")))
    wider = await eve.patch(f"{roles}/r", {"rules": [rule("escape")]})
    missing = await eve.post(bindings, binding("d", "Role nope", "bob"))

    assert [answer.code for answer in (more, higher, put, wider, missing)] == [403] * 4 + [404]
    assert more.json["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "eve" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently '
        'held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["escape"]}'
    )


async def test_who_may_bind_a_role_need_not_have_it(admin: Driver) -> None:
    rbac = "rbac.authorization.k8s.io"
    await made(
        admin,
        "roles",
        role(
            "binder",
            rule("create", resources="rolebindings", group=rbac),
            rule("bind", resources="clusterroles", group=rbac, resourceNames=["edit"]),
        ),
    )
    await made(admin, "rolebindings", binding("b", "Role binder", "eve"))
    eve, url = as_user(admin, "eve"), f"{RBAC}/namespaces/default/rolebindings"

    assert (await eve.post(url, binding("x", "ClusterRole edit", "bob"))).code == 201
    assert (await eve.post(url, binding("y", "ClusterRole view", "bob"))).code == 403


async def test_who_may_escalate_may_write_any_role(admin: Driver) -> None:
    escalating = rule("create", "escalate", resources="roles", group="rbac.authorization.k8s.io")
    await made(admin, "roles", role("e", escalating))
    await made(admin, "rolebindings", binding("b", "Role e", "eve"))
    url = f"{RBAC}/namespaces/default/roles"

    answer = await as_user(admin, "eve").post(url, role("all", rule("*", resources="*", group="*")))

    assert answer.code == 201


# Reviews and impersonation


async def test_reviews_say_what_allowed_it(admin: Driver) -> None:
    await made(admin, "rolebindings", binding("b", "ClusterRole view", "ann"))
    asked = {"namespace": "default", "verb": "list", "resource": "configmaps"}
    spec = {"user": "ann", "resourceAttributes": asked}
    local = {**review("LocalSubjectAccessReview", spec), "metadata": {"namespace": "default"}}

    yes = await admin.post(f"{REVIEWS}/subjectaccessreviews", review("SubjectAccessReview", spec))
    also = await admin.post(f"{REVIEWS}/namespaces/default/localsubjectaccessreviews", local)
    own = await as_user(admin, "ann").post(
        f"{REVIEWS}/selfsubjectaccessreviews",
        review("SelfSubjectAccessReview", {"resourceAttributes": asked}),
    )
    asked["verb"] = "delete"
    no = await admin.post(f"{REVIEWS}/subjectaccessreviews", review("SubjectAccessReview", spec))

    reason = 'RBAC: allowed by RoleBinding "b/default" of ClusterRole "view" to User "ann"'
    for answer in (yes, also, own):
        assert answer.json["status"] == {"allowed": True, "reason": reason}
    assert no.json["status"] == {"allowed": False}


async def test_rules_are_listed_with_names_and_with_what_is_missing(admin: Driver) -> None:
    await made(admin, "roles", role("reader", rule("get", resourceNames=["a"])))
    await made(admin, "rolebindings", binding("b", "Role reader", "ann"))
    await made(admin, "rolebindings", binding("c", "Role nope", "ann"))

    answer = await as_user(admin, "ann").post(
        f"{REVIEWS}/selfsubjectrulesreviews",
        review("SelfSubjectRulesReview", {"namespace": "default"}),
    )

    status = answer.json["status"]
    named = {
        "verbs": ["get"],
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": ["a"],
    }
    assert named in status["resourceRules"]
    assert status["incomplete"] is False
    assert status["evaluationError"] == 'role.rbac.authorization.k8s.io "nope" not found'


@pytest.mark.parametrize(
    ("resource", "group", "names", "header"),
    [
        ("users", "", ["bob"], {"impersonate-user": "bob"}),
        ("groups", "", ["devs"], {"impersonate-group": "devs"}),
        ("uids", "authentication.k8s.io", ["7"], {"impersonate-uid": "7"}),
        ("userextras/scope", "authentication.k8s.io", ["x"], {"impersonate-extra-scope": "x"}),
    ],
)
async def test_each_thing_that_is_taken_on_is_allowed_by_itself(
    config: ServerConfig, tmp_path: Path, resource: str, group: str, names: list[str], header: Any
) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("t1,ann,7,\n")
    admin = await started(replace(config, token_auth_file=tokens))
    ann = Driver(admin.app, authorization="Bearer t1", **{"impersonate-user": "bob"} | header)
    users = rule("impersonate", resources="users", resourceNames=["bob"])
    more = rule("impersonate", resources=resource, group=group, resourceNames=names)
    try:
        await made(admin, "clusterroles", role("acting", users, kind="ClusterRole"))
        await made(admin, "clusterrolebindings", binding("acting", "ClusterRole acting", "ann"))
        before = await ann.get("/apis")
        await made(admin, "clusterroles", role("more", more, kind="ClusterRole"))
        await made(admin, "clusterrolebindings", binding("more", "ClusterRole more", "ann"))
        after = await ann.get("/apis")
    finally:
        await admin.app.stop()

    assert (before.code, after.code) == (200 if resource == "users" else 403, 200)


def review(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}


# The authorizer by itself


class OnePermission(Policy):
    """Allows GET, and has a problem with one user."""

    known = True

    def allowed_by(self, user: User, request: RequestInfo) -> str | None:
        return "a binding" if self.known and request.verb == "get" else None

    def rules_of(self, user: User, namespace: str) -> list[Any]:
        return []

    def problems(self, user: User, namespace: str) -> str:
        return "something" if user.name == "unlucky" else ""


class Source(Following):
    """Puts the permission into the policy when it is refreshed, if it is *late*."""

    def __init__(self, policy: OnePermission, *, late: bool = False) -> None:
        self.policy = policy
        self.policy.known = not late
        self.refreshed = 0

    @property
    def is_current(self) -> bool:
        return True

    async def catch_up(self) -> bool:
        return False

    async def refresh(self) -> bool:
        self.refreshed += 1
        changed, self.policy.known = not self.policy.known, True
        return changed


GET, PUT = RequestInfo("/x", "get"), RequestInfo("/x", "put")


async def test_what_is_allowed_asks_nobody() -> None:
    source = Source(OnePermission())
    authorizer = RoleAuthorizer(source.policy)
    authorizer.follow([source])

    assert await authorizer.authorize(User("ann"), GET) == Decision(
        True, "RBAC: allowed by a binding"
    )
    assert await authorizer.authorize(User("root", groups=(MASTERS,)), PUT) == ALLOWED
    assert source.refreshed == 0


async def test_nobody_is_refused_before_everything_is_known() -> None:
    source = Source(OnePermission(), late=True)
    authorizer = RoleAuthorizer(source.policy)
    authorizer.follow([source])

    assert (await authorizer.authorize(User("ann"), GET)).allowed
    assert await authorizer.authorize(User("ann"), PUT) == NO_OPINION
    assert await authorizer.authorize(User("unlucky"), PUT) == Decision(False, "RBAC: something")


async def test_who_follows_nothing_yet_allows_nobody_but_masters() -> None:
    authorizer = RoleAuthorizer(Policy())

    assert await authorizer.authorize(User("ann"), GET) == NO_OPINION
    assert await authorizer.authorize(User("root", groups=(MASTERS,)), GET) == ALLOWED
