"""AdmissionRequest: what a function of an admission webhook knows about the write it reviews.

The functions are those of one class: a defaulter changes an object, a validator yields its errors.
A function takes the object, and if it has a second parameter, the request as well.
"""

import inspect
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, overload

from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from client.webhooks.review_documents import UserInfo

T = TypeVar("T", bound=Object)

log = logging.getLogger("apimachinery.controller.webhook")

FieldErrorStream: TypeAlias = Iterable[FieldError] | AsyncIterable[FieldError]
DefaultResult = TypeVar("DefaultResult", bound="Awaitable[None] | None")
ValidateResult = TypeVar(
    "ValidateResult", bound="FieldErrorStream | Awaitable[FieldErrorStream | None] | None"
)


@dataclass(slots=True)
class AdmissionRequest(Generic[T]):
    """One write that a server is about to make; not yet stored, and perhaps never."""

    uid: str
    """Identifies this call, not the object."""
    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    kind: GroupVersionKind
    """The kind of the document; the server may have converted it from that of the client."""
    resource: GroupVersionResource
    subresource: str
    """Empty for the object itself."""
    name: str
    """Empty while the server still has to generate it."""
    namespace: str
    user: UserInfo
    dry_run: bool
    """Whether nothing will be stored: the function must then have no effects elsewhere."""
    options: Mapping[str, Any]
    """The CreateOptions, UpdateOptions or DeleteOptions of the client."""
    document: Mapping[str, Any]
    """The object as JSON, with the fields that its class does not know; do not change it."""
    object: T | None = None
    """The new object; None for a deletion."""
    old: T | None = None
    """The stored object; None for a creation."""
    warnings: list[str] = field(default_factory=list)
    audit_annotations: dict[str, str] = field(default_factory=dict)
    """Written to the audit log of the server, below the name of the webhook."""
    log: "logging.LoggerAdapter[Any]" = field(
        default_factory=lambda: logging.LoggerAdapter(log, {})
    )

    def warn(self, text: str) -> None:
        """Send a warning to the client, whether the write is accepted or not."""
        self.warnings.append(text)


class AddDefaulter(Protocol[T]):
    """Registers a function that changes an object of one class in place."""

    @overload
    def __call__(
        self, function: Callable[[T, AdmissionRequest[T]], DefaultResult], /
    ) -> Callable[[T, AdmissionRequest[T]], DefaultResult]: ...
    @overload
    def __call__(
        self, function: Callable[[T], DefaultResult], /
    ) -> Callable[[T], DefaultResult]: ...


class AddValidator(Protocol[T]):
    """Registers a function that yields the errors of an object of one class."""

    @overload
    def __call__(
        self, function: Callable[[T, AdmissionRequest[T]], ValidateResult], /
    ) -> Callable[[T, AdmissionRequest[T]], ValidateResult]: ...
    @overload
    def __call__(
        self, function: Callable[[T], ValidateResult], /
    ) -> Callable[[T], ValidateResult]: ...


def takes_request(function: Callable[..., Any]) -> bool:
    """Return whether a function takes the request beside the object; raises TypeError."""
    required = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    positional = all(parameter.kind is not parameter.KEYWORD_ONLY for parameter in required)
    if len(required) not in (1, 2) or not positional:
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"{name}: must take the object, or the object and the AdmissionRequest")
    return len(required) == 2
