"""WebhookSource: the webhooks of all stored configurations of one kind, compiled.

They are followed through the watch cache, in every worker: a change takes effect as soon as the
cache has it. Which webhooks have rules for a request depends on its target alone, and is computed
once for each target until a configuration or the served resources change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apimachinery.schema import GroupResource
from apis.admissionregistration import GROUP
from apis.admissionregistration.matching.reviewed_write import own_version, target_of
from apis.admissionregistration.matching.rules import Target, find_match, is_exempt
from apis.admissionregistration.webhooks.called_webhook import (
    CalledWebhook,
    Configuration,
    compile_webhooks,
)
from apiserver import Attributes, ServerParts
from apiserver.registry.following import Following
from apiserver.served_versions import ServedVersion

MAX_TARGETS = 10_000
"""Targets whose webhooks are remembered; then all are forgotten."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A webhook that has a rule for a request, and the version in which it sees the object."""

    webhook: CalledWebhook
    version: ServedVersion


class WebhookSource:
    """The webhooks of one kind of configurations."""

    def __init__(self, resource: str, parts: ServerParts) -> None:
        self._resource = GroupResource(GROUP, resource)
        self._parts = parts
        self._following: Following | None = None
        self._configurations: dict[str, tuple[CalledWebhook, ...]] = {}
        self._webhooks: Sequence[CalledWebhook] = ()
        self._matches: dict[Target, tuple[Invocation, ...]] = {}
        self._served = 0

    def may_concern(self) -> bool:
        """Return whether there may be any webhooks, without waiting for anything."""
        following = self._following
        return following is None or not following.is_current or bool(self._webhooks)

    async def catch_up(self, attributes: Attributes) -> bool:
        """Follow the configurations up to now; return whether there are any webhooks.

        Raises Forbidden as long as they have never been read.
        """
        following = self._following
        if following is None:
            following = await self._begin(attributes)
        if not following.is_current and await following.catch_up():
            self._compile()
        return bool(self._webhooks)

    def matching(self, attributes: Attributes) -> tuple[Invocation, ...]:
        """Return the webhooks that have a rule for a request, in the order of calls."""
        target = target_of(attributes)
        served = self._parts.versions.revision
        if served != self._served:
            self._matches.clear()
            self._served = served
        known = self._matches.get(target)
        if known is None:
            if len(self._matches) >= MAX_TARGETS:
                self._matches.clear()
            known = self._matches[target] = self._find(
                target, own_version(attributes, self._parts.versions)
            )
        return known

    def _find(self, target: Target, own: ServedVersion) -> tuple[Invocation, ...]:
        if is_exempt(target.resource):
            return ()

        def equivalents() -> Sequence[ServedVersion]:
            return self._parts.versions.equivalents(target.resource, target.subresource)

        found = ((webhook, _match(webhook, target, own, equivalents)) for webhook in self._webhooks)
        return tuple(Invocation(webhook, version) for webhook, version in found if version)

    async def _begin(self, attributes: Attributes) -> Following:
        store = self._parts.find_store(self._resource)
        following = Following(store, self._put, self._forget, prepare=_prepare)
        filled = store.cached.collection.filled
        if not filled.is_set():
            await following.refresh()
            if not filled.is_set():
                raise attributes.forbidden("not yet ready to handle request")
        await following.begin()
        self._compile()
        self._following = following
        return following

    def _put(self, prepared: tuple[str, tuple[CalledWebhook, ...]]) -> None:
        name, webhooks = prepared
        self._configurations[name] = webhooks

    def _forget(self, namespace: str, name: str) -> None:
        self._configurations.pop(name, None)

    def _compile(self) -> None:
        """Order the webhooks by their configurations, and forget what matched before."""
        by_name = sorted(self._configurations.items())
        self._webhooks = [webhook for _, webhooks in by_name for webhook in webhooks]
        self._matches.clear()


def _prepare(configuration: Configuration) -> tuple[str, tuple[CalledWebhook, ...]]:
    return configuration.metadata.name, compile_webhooks(configuration)


def _match(
    webhook: CalledWebhook,
    target: Target,
    own: ServedVersion,
    equivalents: Callable[[], Sequence[ServedVersion]],
) -> ServedVersion | None:
    return find_match(
        webhook.rules, target, own, match_policy=webhook.match_policy, equivalents=equivalents
    )
