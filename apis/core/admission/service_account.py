"""ServiceAccount: every pod runs as a service account of its namespace, and can read its token.

The kubelet owns mirror pods, which show what runs on a node without the server: they cannot be
completed, and must not refer to accounts and secrets.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from apimachinery.names import generate_name
from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.admission.secret_references import (
    secret_names,
    unlisted_secret,
    unlisted_variable,
)
from apis.core.admission.token_volume import mount_token
from apis.core.v1.pod import Pod
from apis.core.v1.references import LocalObjectReference
from apis.core.v1.service_account import ServiceAccount
from apis.core.validation.pod.annotations import MIRROR_POD
from apiserver import Attributes, CachedObjects, ServerParts
from apiserver.registry.identifiers import PooledRandom

ACCOUNTS: Final = GroupResource(GROUP, "serviceaccounts")
DEFAULT: Final = "default"
ENFORCE_MOUNTABLE_SECRETS: Final = "kubernetes.io/enforce-mountable-secrets"

DEFAULT_ATTEMPTS: Final = 10
"""How often the default account is looked for, which the server creates in a new namespace."""
PAUSE: Final = 0.15

_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")


async def _pause() -> None:
    await asyncio.sleep(PAUSE)


class ServiceAccountAdmission:
    """Completes and checks new pods by their service account."""

    def __init__(
        self,
        parts: ServerParts,
        *,
        random: Random | None = None,
        pause: Callable[[], Awaitable[None]] = _pause,
    ) -> None:
        self._accounts = CachedObjects(parts.find_store, ACCOUNTS, ServiceAccount)
        self._random = random or PooledRandom()
        self._pause = pause

    async def mutate(self, attributes: Attributes) -> None:
        """Set the account of a new pod, its token volume and its secrets for images."""
        pod = attributes.object
        if attributes.subresource or attributes.old_object is not None or not isinstance(pod, Pod):
            return
        if MIRROR_POD in pod.metadata.annotations:
            _check_mirror_pod(attributes, pod)
            return
        spec = pod.spec
        if not spec.service_account_name:
            spec.service_account_name = spec.service_account = DEFAULT
        account = await self._account_of(attributes, pod)
        if _mounts_token(pod, account):
            mount_token(spec, self._new_name)
        if not spec.image_pull_secrets:
            spec.image_pull_secrets = [
                LocalObjectReference(name=secret.name) for secret in account.image_pull_secrets
            ]
        _check_secrets(attributes, pod, account)

    async def validate(self, attributes: Attributes) -> None:
        """Check a pod as other admission has left it, and new ephemeral containers."""
        pod = attributes.object
        if not isinstance(pod, Pod):
            return
        if attributes.old_object is not None:
            if attributes.subresource == "ephemeralcontainers":
                await self._check_ephemeral_containers(attributes, pod)
        elif attributes.subresource:
            return
        elif MIRROR_POD in pod.metadata.annotations:
            _check_mirror_pod(attributes, pod)
        else:
            _check_secrets(attributes, pod, await self._account_of(attributes, pod))

    async def _check_ephemeral_containers(self, attributes: Attributes, pod: Pod) -> None:
        account = await self._account_of(attributes, pod)
        if not _enforces_secrets(account):
            return
        containers = pod.spec.ephemeral_containers
        if refusal := unlisted_variable("ephemeral container", containers, account):
            raise attributes.forbidden(refusal)

    async def _account_of(self, attributes: Attributes, pod: Pod) -> ServiceAccount:
        namespace, name = attributes.namespace, pod.spec.service_account_name
        if not name:
            raise attributes.forbidden(
                f"no service account specified for pod {namespace}/{pod.metadata.name}"
            )
        account = await self._accounts.find(name, namespace=namespace)
        attempts = DEFAULT_ATTEMPTS if name == DEFAULT else 1
        while account is None and attempts > 1:
            await self._pause()
            account = await self._accounts.newest(name, namespace=namespace)
            attempts -= 1
        if account is None:
            raise attributes.forbidden(
                f"error looking up service account {namespace}/{name}: serviceaccount"
                f' "{name}" not found'
            )
        return account

    def _new_name(self, prefix: str) -> str:
        return generate_name(prefix, random=self._random)


def _mounts_token(pod: Pod, account: ServiceAccount) -> bool:
    for choice in (
        pod.spec.automount_service_account_token,
        account.automount_service_account_token,
    ):
        if choice is not None:
            return choice
    return True


def _enforces_secrets(account: ServiceAccount) -> bool:
    return account.metadata.annotations.get(ENFORCE_MOUNTABLE_SECRETS) in _TRUE


def _check_secrets(attributes: Attributes, pod: Pod, account: ServiceAccount) -> None:
    if _enforces_secrets(account) and (refusal := unlisted_secret(pod.spec, account)):
        raise attributes.forbidden(refusal)


def _check_mirror_pod(attributes: Attributes, pod: Pod) -> None:
    if pod.spec.service_account_name:
        raise attributes.forbidden("a mirror pod may not reference service accounts")
    if any(secret_names(pod.spec)):
        raise attributes.forbidden("a mirror pod may not reference secrets")
    for volume in pod.spec.volumes:
        sources = volume.projected.sources if volume.projected is not None else []
        if any(source.service_account_token is not None for source in sources):
            raise attributes.forbidden(
                "a mirror pod may not use ServiceAccountToken volume projections"
            )
