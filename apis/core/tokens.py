"""The token subresource of service accounts: a token is made and nothing is stored.

A token can be bound to a secret, with which it ceases to be valid. What else Kubernetes binds
tokens to (pods, nodes, webhooks) does not exist here.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from apimachinery.errors import BadRequest, Conflict, Invalid, NotFound
from apimachinery.fieldpath import FieldError, Path, invalid
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupKind, GroupResource, GroupVersionKind, InvalidGroupVersion
from apis.authentication.v1 import BoundObjectReference, TokenRequest, TokenRequestStatus
from apis.authentication.validation import validate_token_request
from apis.core import GROUP
from apis.core.v1 import ServiceAccount

KIND: Final = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")


class Named(Protocol):
    """An object by its name, and which of those that had the name."""

    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...


class Tokens(Protocol):
    """Makes tokens."""

    @property
    def audiences(self) -> Sequence[str]:
        """Whom a token is meant for that does not say: the server."""

    async def secret_uid(self, namespace: str, name: str) -> str | None:
        """The uid of a secret in its newest state, None if there is none."""

    def issue(
        self,
        account: Any,
        *,
        namespace: str,
        audiences: Sequence[str],
        seconds: int,
        secret: Any = None,
    ) -> str:
        """A token of an account; *account* and *secret* are pairs of a name and a uid."""


class TokenRequests:
    """Answers a POST to the token subresource."""

    def __init__(
        self,
        tokens: Tokens,
        *,
        refer: Callable[[str, str], Any],
        now: Callable[[], datetime] = present,
    ) -> None:
        """*refer* makes what *tokens* takes for an account or a secret."""
        self._tokens = tokens
        self._refer = refer
        self._now = now

    async def __call__(
        self, context: object, account: ServiceAccount, request: TokenRequest
    ) -> TokenRequest:
        """Complete *request*, which nobody else has, with a token of *account*."""
        _check_identity(request, account)
        found, spec = account.metadata, request.spec
        request.metadata.name, request.metadata.namespace = found.name, found.namespace
        request.metadata.uid = found.uid
        # Before the token is made, so that what is told ends no later than what is signed.
        began = request.metadata.creation_timestamp = self._now()
        spec.audiences = spec.audiences or list(self._tokens.audiences)
        errors = list(validate_token_request(request))
        if errors:
            raise Invalid.of(KIND.group_kind, "", errors)
        bound = spec.bound_object_ref
        secret = await self._secret(bound, found.namespace) if bound else None
        seconds = spec.expiration_seconds or 0
        token = self._tokens.issue(
            self._refer(found.name, found.uid),
            namespace=found.namespace,
            audiences=spec.audiences,
            seconds=seconds,
            secret=secret,
        )
        request.status = TokenRequestStatus(
            token=token, expiration_timestamp=began + timedelta(seconds=seconds)
        )
        return request

    async def _secret(self, bound: BoundObjectReference, namespace: str) -> Any:
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
        return self._refer(bound.name, uid)


def _check_identity(request: TokenRequest, account: ServiceAccount) -> None:
    """Refuse a request whose metadata names another account than its URL."""
    given, found = request.metadata, account.metadata
    if given.name not in ("", found.name):
        raise _mismatch("name", given.name, found.name)
    if given.namespace not in ("", found.namespace):
        raise _mismatch("namespace", given.namespace, found.name)
    if given.uid not in ("", found.uid):
        raise Conflict.of(
            GroupResource(KIND.group, KIND.kind),
            found.name,
            f"the UID in the token request ({given.uid}) does not match the UID of the service"
            f" account ({found.uid})",
        )


def _mismatch(field: str, given: str, name: str) -> Invalid:
    error: FieldError = invalid(
        Path("metadata", field), given, f"must match the service account {field} if specified"
    )
    return Invalid.of(KIND.group_kind, name, [error])


def _kind(bound: BoundObjectReference) -> GroupVersionKind:
    try:
        return GroupVersionKind.from_api_version(bound.api_version, bound.kind)
    except InvalidGroupVersion:
        return GroupVersionKind("", "", bound.kind)
