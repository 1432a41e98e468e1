"""Access reviews: asked of the authorizer, answered in the status, refused when malformed."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from apimachinery.errors import BadRequest, Invalid
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupVersionResource
from apis.authorization import v1
from apis.authorization.install import authorization_group
from apis.authorization.reviews import reviewed_user
from apiserver import Decision, RequestContext, RequestInfo, User
from apiserver.auth.authorization import Rule, Rules
from tests.apis.validating import decoded

ALICE = User("alice", groups=("admins",))
CONTEXT = RequestContext(
    ALICE, "create", GroupVersionResource("authorization.k8s.io", "v1", "reviews")
)
RESOURCE = {"verb": "get", "resource": "pods", "namespace": "shop"}


@dataclass
class Admins:
    """Lets administrators do everything, and remembers what was asked."""

    asked: list[tuple[str, RequestInfo]] = field(default_factory=list)

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        self.asked.append((user.name, attributes))
        if "admins" in user.groups:
            return Decision(True, "is an administrator")
        return Decision(False, "is none", denied="banned" in user.groups)

    async def rules(self, user: User, namespace: str) -> Rules:
        everything = Rule(("*",), groups=("*",), resources=("*",), names=("a",))
        path = Rule(("get",), paths=("/x",))
        return Rules((everything, path), error=f"only guessed for {namespace}")


async def ask(resource: str, review: Any, authorizer: Admins | None = None) -> Any:
    group = authorization_group(authorizer or Admins())
    found = next(each for each in group.resources if each.name == resource)
    assert found.answer is not None
    assert found.verbs == ("create",)
    return await found.answer(CONTEXT, review)


def self_review(**spec: Any) -> v1.SelfSubjectAccessReview:
    return decoded(v1.SelfSubjectAccessReview, {"spec": spec})


def review(**spec: Any) -> v1.SubjectAccessReview:
    return decoded(v1.SubjectAccessReview, {"spec": spec})


async def test_what_may_i() -> None:
    admins = Admins()

    answer = await ask("selfsubjectaccessreviews", self_review(resourceAttributes=RESOURCE), admins)

    assert answer.status == v1.SubjectAccessReviewStatus(allowed=True, reason="is an administrator")
    assert admins.asked == [
        (
            "alice",
            RequestInfo(
                "", "get", is_resource=True, resource="pods", namespace="shop", version="*"
            ),
        )
    ]


async def test_may_somebody_else() -> None:
    asked = review(
        user="bob", groups=["banned"], nonResourceAttributes={"path": "/x", "verb": "get"}
    )
    admins = Admins()

    answer = await ask("subjectaccessreviews", asked, admins)

    assert (answer.status.allowed, answer.status.denied) == (False, True)
    assert admins.asked == [("bob", RequestInfo("/x", "get"))]


async def test_no_opinion_is_neither_allowed_nor_denied() -> None:
    answer = await ask("subjectaccessreviews", review(user="bob", resourceAttributes=RESOURCE))

    assert answer.status.model_dump(by_alias=True) == {"allowed": False, "reason": "is none"}


async def test_keys_of_extra_are_lower_case() -> None:
    asked = review(user="bob", uid="7", groups=["a"], extra={"Scopes": ["x"]})

    assert reviewed_user(asked.spec) == User("bob", "7", ("a",), {"scopes": ("x",)})


async def test_rules_in_a_namespace() -> None:
    asked = v1.SelfSubjectRulesReview(spec=v1.SelfSubjectRulesReviewSpec(namespace="shop"))

    answer = await ask("selfsubjectrulesreviews", asked)

    assert answer.status == v1.SubjectRulesReviewStatus(
        resource_rules=[
            v1.ResourceRule(verbs=["*"], api_groups=["*"], resources=["*"], resource_names=["a"])
        ],
        non_resource_rules=[v1.NonResourceRule(verbs=["get"], non_resource_urls=["/x"])],
        evaluation_error="only guessed for shop",
    )


async def test_rules_need_a_namespace() -> None:
    with pytest.raises(BadRequest, match=r"^no namespace on request$"):
        await ask("selfsubjectrulesreviews", v1.SelfSubjectRulesReview())


REVIEW = '.authorization.k8s.io "" is invalid: '
SELECTOR = "spec.resourceAttributes.fieldSelector"


@pytest.mark.parametrize(
    ("resource", "asked", "message"),
    [
        (
            "selfsubjectaccessreviews",
            self_review(),
            REVIEW + "spec.resourceAttributes: Invalid value: null: exactly one of "
            "nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            "selfsubjectaccessreviews",
            self_review(resourceAttributes=RESOURCE, nonResourceAttributes={"path": "/x"}),
            REVIEW + 'spec.nonResourceAttributes: Invalid value: {"path":"/x"}: '
            "cannot be specified in combination with resourceAttributes",
        ),
        (
            "subjectaccessreviews",
            review(resourceAttributes=RESOURCE),
            REVIEW
            + 'spec.user: Invalid value: "": at least one of user or group must be specified',
        ),
        (
            "selfsubjectaccessreviews",
            self_review(resourceAttributes={**RESOURCE, "fieldSelector": {}}),
            REVIEW + f"{SELECTOR}.requirements: Required value: when {SELECTOR} is specified, "
            "requirements or rawSelector is required",
        ),
        (
            "selfsubjectaccessreviews",
            self_review(
                resourceAttributes={
                    **RESOURCE,
                    "fieldSelector": {
                        "rawSelector": "a=b",
                        "requirements": [{"key": "", "operator": "In"}],
                    },
                }
            ),
            REVIEW + f'[{SELECTOR}.rawSelector: Invalid value: "a=b": '
            "may not specified at the same time as requirements, "
            f"{SELECTOR}.requirements[0].key: Required value: must be specified, "
            f"{SELECTOR}.requirements[0].values: Required value: "
            "must be specified when `operator` is 'In' or 'NotIn']",
        ),
        (
            "selfsubjectaccessreviews",
            self_review(
                resourceAttributes={
                    **RESOURCE,
                    "labelSelector": {
                        "requirements": [{"key": "a", "operator": "Exists", "values": ["b"]}]
                    },
                }
            ),
            REVIEW + "spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: "
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
    ],
)
async def test_questions_that_cannot_be_answered(resource: str, asked: Any, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        await ask(resource, asked)

    assert str(refused.value) == message


async def test_a_review_has_no_metadata() -> None:
    asked = self_review(resourceAttributes=RESOURCE)
    asked.metadata = ObjectMeta(name="a")

    with pytest.raises(Invalid, match=r'metadata: Invalid value: .*"name":"a".*: must be empty$'):
        await ask("selfsubjectaccessreviews", asked)


async def test_a_local_review_is_about_its_namespace() -> None:
    spec = v1.SubjectAccessReviewSpec(
        user="bob", resource_attributes=v1.ResourceAttributes(namespace="office")
    )
    asked = v1.LocalSubjectAccessReview(metadata=ObjectMeta(namespace="shop"), spec=spec)

    with pytest.raises(Invalid) as refused:
        await ask("localsubjectaccessreviews", asked)

    assert str(refused.value).endswith(
        'spec.resourceAttributes.namespace: Invalid value: "office": must match metadata.namespace'
    )


async def test_a_local_review_knows_no_paths() -> None:
    spec = v1.SubjectAccessReviewSpec(
        user="bob", non_resource_attributes=v1.NonResourceAttributes(path="/x")
    )

    with pytest.raises(Invalid, match="disallowed on this kind of request"):
        await ask("localsubjectaccessreviews", v1.LocalSubjectAccessReview(spec=spec))


async def test_a_local_review_is_answered() -> None:
    spec = v1.SubjectAccessReviewSpec(
        groups=["admins"], resource_attributes=v1.ResourceAttributes(namespace="shop")
    )
    asked = v1.LocalSubjectAccessReview(metadata=ObjectMeta(namespace="shop"), spec=spec)

    assert (await ask("localsubjectaccessreviews", asked)).status.allowed
