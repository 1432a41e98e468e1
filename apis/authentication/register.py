"""Registration of authentication.k8s.io, for clients and servers.

`kubectl auth whoami` before 1.28 uses v1beta1, whose SelfSubjectReview is the same as that of v1.
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
