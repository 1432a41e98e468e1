"""Every group there is, as a server installs it, for tests that look at all of them."""

from apimachinery.scale import Scale
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.authentication.install import authentication_group
from apis.authorization.install import authorization_group
from apis.gadgets.install import GADGETS
from apis.kubernetes import KUBERNETES
from apis.rbac.install import rbac_group
from apis.rbac.policy import Policy
from apiserver import Decision, Group, RequestInfo, User
from apiserver.auth.authorization import NO_OPINION, Rules
from apiserver.auth.token_review import TokenReviewer


class NobodyMay:
    """Has no opinion on anything."""

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        return NO_OPINION

    async def rules(self, user: User, namespace: str) -> Rules:
        return Rules()


async def no_roles() -> Policy:
    return Policy()


GROUPS: tuple[Group, ...] = (
    *KUBERNETES,
    GADGETS,
    authorization_group(NobodyMay()),
    authentication_group(TokenReviewer([])),
    rbac_group(NobodyMay(), no_roles),
)


def full_scheme() -> Scheme:
    """A scheme that knows every kind."""
    scheme = Scheme("tests")
    for group in GROUPS:
        group.add_to_scheme(scheme)
    scheme.add(GroupVersion("autoscaling", "v1"), Scale, internal=True)
    return scheme
