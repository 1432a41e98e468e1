"""What clients and servers need to know of the group.

kubectl before 1.28 asks who it is in v1beta1, where the review was already what it is in v1.
"""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.authentication import GROUP, v1
from apis.authentication.v1 import defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"),
        v1.SelfSubjectReview,
        v1.TokenRequest,
        v1.TokenReview,
        internal=True,
    )
    scheme.add(GroupVersion(GROUP, "v1beta1"), v1.SelfSubjectReview)
    scheme.add_defaults(defaults.set_token_request_defaults)
