"""What only a server needs. The reviews need its authorizer, so the group is made for one."""

from apis.authorization import GROUP, v1
from apis.authorization.authorizer import Authorizer
from apis.authorization.register import add_to_scheme
from apis.authorization.reviews import Reviews
from apiserver.group import Group, Resource


def authorization_group(authorizer: Authorizer) -> Group:
    """The group as a server with this authorizer installs it."""
    reviews = Reviews(authorizer)
    return Group(
        name=GROUP,
        versions=("v1",),
        add_to_scheme=add_to_scheme,
        resources=(
            Resource(
                "localsubjectaccessreviews",
                v1.LocalSubjectAccessReview,
                verbs=("create",),
                answer=reviews.local_access,
            ),
            Resource(
                "selfsubjectaccessreviews",
                v1.SelfSubjectAccessReview,
                namespaced=False,
                verbs=("create",),
                answer=reviews.self_access,
            ),
            Resource(
                "selfsubjectrulesreviews",
                v1.SelfSubjectRulesReview,
                namespaced=False,
                verbs=("create",),
                answer=reviews.self_rules,
            ),
            Resource(
                "subjectaccessreviews",
                v1.SubjectAccessReview,
                namespaced=False,
                verbs=("create",),
                answer=reviews.access,
            ),
        ),
    )
