"""AccessReviewer: answers access reviews by the authorizer that decides over requests.

Reviews have words of their own for who asks and for what, since the group that defines them does
not know the server.
"""

from typing import Any

from apis.authorization.authorizer import Attributes, Rules, Subject
from apis.authorization.v1 import NonResourceRule, ResourceRule
from apiserver.auth.authorization import Authorizer, Decision
from apiserver.auth.user import User
from apiserver.http.request_info import RequestInfo


class AccessReviewer:
    """Answers access reviews by the server's own authorizer."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def authorize(self, subject: Subject, attributes: Attributes) -> Decision:
        info = RequestInfo(
            path=attributes.path,
            verb=attributes.verb,
            is_resource=attributes.is_resource,
            group=attributes.group,
            version=attributes.version,
            resource=attributes.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        return await self._authorizer.authorize(_user(subject), info)

    async def rules(self, subject: Subject, namespace: str) -> Rules:
        rules = await self._authorizer.rules(_user(subject), namespace)
        return Rules(
            resources=[
                ResourceRule(
                    verbs=list(rule.verbs),
                    api_groups=list(rule.groups),
                    resources=list(rule.resources),
                    resource_names=list(rule.names),
                )
                for rule in rules.granted
                if rule.resources
            ],
            paths=[
                NonResourceRule(verbs=list(rule.verbs), non_resource_urls=list(rule.paths))
                for rule in rules.granted
                if rule.paths
            ],
            error=rules.error,
        )


def _user(subject: Subject) -> User:
    extra: dict[str, Any] = {key: tuple(values) for key, values in subject.extra.items()}
    return User(subject.name, subject.uid, tuple(subject.groups), extra)
