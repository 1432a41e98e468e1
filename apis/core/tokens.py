"""TokenRequest: the token subresource of service accounts, which issues tokens.

Nothing is stored. A token can be bound to a Secret, and becomes invalid when the Secret is deleted.
The other objects that Kubernetes binds tokens to (pods, nodes, webhooks) do not exist here.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from apimachinery.errors import BadRequest, Conflict, Invalid, NotFound
from apimachinery.fieldpath import Path, invalid
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupKind, GroupResource, GroupVersionKind, InvalidGroupVersion
from apis.authentication.v1 import BoundObjectReference, TokenRequest, TokenRequestStatus
from apis.authentication.validation import validate_token_request
from apis.core import GROUP
from apis.core.v1 import ServiceAccount
from apiserver import RequestContext
from apiserver.auth.service_account_tokens import Reference, ServiceAccountTokens

KIND: Final = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")


class TokenRequests:
    """Handles a POST to the token subresource."""

    def __init__(
        self, tokens: ServiceAccountTokens, *, now: Callable[[], datetime] = present
    ) -> None:
        self._tokens = tokens
        self._now = now

    async def __call__(
        self, context: RequestContext, account: ServiceAccount, request: TokenRequest
    ) -> TokenRequest:
        """Fill in the status of *request* with a token of *account*, and return it.

        Raises Invalid, BadRequest, Conflict or NotFound for a request that cannot be granted.
        """
        _check_identity(request, account)
        meta, spec = account.metadata, request.spec
        request.metadata.name, request.metadata.namespace = meta.name, meta.namespace
        request.metadata.uid = meta.uid
        # Read the clock before signing: the reported expiration must not be after the signed one.
        began = request.metadata.creation_timestamp = self._now()
        spec.audiences = spec.audiences or list(self._tokens.audiences)
        errors = list(validate_token_request(request))
        if errors:
            raise Invalid.of(KIND.group_kind, "", errors)
        bound = spec.bound_object_ref
        secret = await self._secret(bound, meta.namespace) if bound else None
        seconds = spec.expiration_seconds or 0
        token = self._tokens.issue(
            Reference(meta.name, meta.uid),
            namespace=meta.namespace,
            audiences=spec.audiences,
            seconds=seconds,
            secret=secret,
        )
        request.status = TokenRequestStatus(
            token=token, expiration_timestamp=began + timedelta(seconds=seconds)
        )
        return request

    async def _secret(self, bound: BoundObjectReference, namespace: str) -> Reference:
        """Return the existing Secret that a token is to be bound to."""
        kind = _kind(bound)
        if kind.group_kind != GroupKind(GROUP, "Secret"):
            raise BadRequest(f"cannot bind token to object of type {kind}")
        uid = await self._tokens.secret_uid(namespace, bound.name) if bound.name else None
        if uid is None:
            raise NotFound.of(GroupResource(GROUP, "secrets"), bound.name)
        if bound.uid not in ("", uid):
            raise Conflict.of(
                GroupResource(kind.group, kind.kind),
                bound.name,
                f"the UID in the bound object reference ({bound.uid}) does not match the UID in"
                " record. The object might have been deleted and then recreated",
            )
        return Reference(bound.name, uid)


def _check_identity(request: TokenRequest, account: ServiceAccount) -> None:
    """Raise Invalid or Conflict if the metadata of a request names another account than its URL."""
    requested, actual = request.metadata, account.metadata
    if requested.name not in ("", actual.name):
        rule = "must match the service account name if specified"
        error = invalid(Path("metadata", "name"), requested.name, rule)
        raise Invalid.of(KIND.group_kind, actual.name, [error])
    if requested.uid not in ("", actual.uid):
        raise Conflict.of(
            GroupResource(KIND.group, KIND.kind),
            actual.name,
            f"the UID in the token request ({requested.uid}) does not match the UID of the service"
            f" account ({actual.uid})",
        )


def _kind(bound: BoundObjectReference) -> GroupVersionKind:
    try:
        return GroupVersionKind.from_api_version(bound.api_version, bound.kind)
    except InvalidGroupVersion:
        return GroupVersionKind("", "", bound.kind)
