"""Every group there is, as a server installs it, for tests that look at all of them."""

from collections.abc import Sequence

from apimachinery.scale import Scale
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.apiextensions.install import APIEXTENSIONS
from apis.authentication.install import authentication_group
from apis.authorization.authorizer import Attributes, Authorizer, Decision, Rules, Subject
from apis.authorization.install import authorization_group
from apis.coordination.install import COORDINATION
from apis.core.install import CORE
from apis.events.install import EVENTS
from apis.gadgets.install import GADGETS
from apis.rbac.install import rbac_group
from apis.rbac.policy import Policy
from apis.rbac.policy import User as Somebody
from apiserver.auth.authorization import NO_OPINION
from apiserver.auth.token_review import ReviewedToken
from apiserver.group import Group


class NobodyMay(Authorizer):
    """Has no opinion on anything."""

    async def authorize(self, subject: Subject, attributes: Attributes) -> Decision:
        return NO_OPINION

    async def rules(self, subject: Subject, namespace: str) -> Rules:
        return Rules()


class NoAuthority:
    """Lets nobody escalate, and knows no roles."""

    async def may(
        self, user: Somebody, verb: str, resource: str, *, namespace: str, name: str
    ) -> bool:
        return False

    async def policy(self) -> Policy:
        return Policy()


class NoTokens:
    """Knows nobody."""

    async def review(self, token: str, audiences: Sequence[str]) -> ReviewedToken:
        return ReviewedToken()


GROUPS: tuple[Group, ...] = (
    CORE,
    COORDINATION,
    EVENTS,
    APIEXTENSIONS,
    GADGETS,
    authorization_group(NobodyMay()),
    authentication_group(NoTokens()),
    rbac_group(NoAuthority()),
)


def full_scheme() -> Scheme:
    """A scheme that knows every kind."""
    scheme = Scheme("tests")
    for group in GROUPS:
        group.add_to_scheme(scheme)
    scheme.add(GroupVersion("autoscaling", "v1"), Scale, internal=True)
    return scheme
