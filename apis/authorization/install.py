"""The group authorization.k8s.io, built for the authorizer that answers its reviews."""

from apis.authorization import GROUP, v1
from apis.authorization.register import add_to_scheme
from apis.authorization.reviews import AccessReviews
from apiserver import Authorizer, Group, Resource


def authorization_group(authorizer: Authorizer) -> Group:
    """Return the group for a server with this authorizer."""
    reviews = AccessReviews(authorizer)
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
