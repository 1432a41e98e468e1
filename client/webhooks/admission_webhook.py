"""Admission webhooks: a review becomes the call of a function, and its result the response.

A Defaulter answers with the JSON patch of what the function changed; fields that the class does
not know are no change. A Validator answers with the errors that the function yields. What a
function raises is the answer too: an APIError with its Status, any other exception with a 500 and
a traceback in the log.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Callable, Iterable
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from apimachinery.errors import APIError, BadRequest, InternalError, Invalid
from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import Object
from apimachinery.patch.json_diff import carry_over, diff
from apimachinery.ratcheting import new_errors
from client.webhooks.admission_request import AdmissionRequest, log, takes_request
from client.webhooks.heavy_steps import run_step
from client.webhooks.object_forms import ObjectForms, RefusedValues
from client.webhooks.review_documents import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    AdmissionVerdict,
    ReviewRequest,
)
from client.webhooks.webhook_options import DefaulterOptions

T = TypeVar("T", bound=Object)


class AdmissionWebhook(ABC, Generic[T]):
    """One function for the objects of one class, and when servers call it."""

    verb = ""
    """The beginning of its name and path."""

    def __init__(
        self, forms: ObjectForms[T], function: Callable[..., Any], options: DefaulterOptions
    ) -> None:
        self.forms = forms
        self.function = function
        self.options = options
        self.takes_request = takes_request(function)
        self.operations = tuple(options.get("operations", (CREATE, UPDATE)))
        self.subresources = tuple(options.get("subresources", ("",)))
        kind = forms.kind
        group = kind.group.replace(".", "-")
        lower = kind.kind.lower()
        self.path = options.get("path") or f"/{self.verb}-{group}-{kind.version}-{lower}"
        self.name = options.get("name") or ".".join(
            (self.verb, kind.version, lower, *filter(None, (kind.group,)))
        )

    async def review(self, write: ReviewRequest, size: int) -> AdmissionVerdict:
        """Return the response to a request of *size* bytes; never raises an Exception."""
        request = self._request(write)
        verdict = AdmissionVerdict(
            warnings=request.warnings, audit_annotations=request.audit_annotations
        )
        try:
            self._check(write)
            verdict.patch = await self._review(write, request, size)
        except APIError as denied:
            verdict.denied = denied
        except RefusedValues as refused:
            verdict.denied = self._invalid(write, refused.errors)
        except Exception as error:  # a bug in the function is an answer, not the end of the server
            request.log.exception("the webhook failed")
            reason = f"webhook {self.name} failed: {type(error).__name__}: {error}"
            verdict.denied = InternalError.of(reason)
        return verdict

    @abstractmethod
    async def _review(
        self, write: ReviewRequest, request: AdmissionRequest[T], size: int
    ) -> list[Any]:
        """Call the function and return a JSON patch."""

    def _check(self, write: ReviewRequest) -> None:
        self.forms.class_of(write.kind.gvk)
        if write.operation == DELETE:
            needed, name = write.old_object, "oldObject"
        else:
            needed, name = write.object, "object"
        if needed is None:
            raise BadRequest(f"request.{name}: Required value: the operation is {write.operation}")

    def _request(self, write: ReviewRequest) -> AdmissionRequest[T]:
        about = {
            "webhook": self.name,
            "operation": write.operation,
            "namespace": write.namespace,
            "name": write.name,
        }
        return AdmissionRequest(
            uid=write.uid,
            operation=write.operation,
            kind=write.kind.gvk,
            resource=write.resource.gvr,
            subresource=write.sub_resource,
            name=write.name,
            namespace=write.namespace,
            user=write.user_info,
            dry_run=write.dry_run,
            options=write.options or {},
            document=write.object or write.old_object or {},
            log=_RequestLog(log, about),
        )

    def _invalid(self, write: ReviewRequest, errors: Iterable[FieldError]) -> Invalid:
        metadata = (write.object or {}).get("metadata")
        prefix = metadata.get("generateName") if isinstance(metadata, dict) else None
        return Invalid.of(write.kind.gvk.group_kind, write.name or str(prefix or ""), errors)

    def _call(self, obj: T, request: AdmissionRequest[T]) -> Any:
        return self.function(obj, request) if self.takes_request else self.function(obj)


class DefaultingWebhook(AdmissionWebhook[T]):
    """Changes objects before they are validated and stored."""

    verb = "mutate"

    def __init__(
        self, forms: ObjectForms[T], function: Callable[..., Any], options: DefaulterOptions
    ) -> None:
        super().__init__(forms, function, options)
        if not {*self.operations} <= {CREATE, UPDATE}:
            raise ValueError(
                f"{self.name}: a defaulter changes objects that are created or updated"
            )

    async def _review(
        self, write: ReviewRequest, request: AdmissionRequest[T], size: int
    ) -> list[Any]:
        document = write.object
        assert document is not None
        kind = write.kind.gvk

        def prepare() -> tuple[Any, Any]:
            versioned = self.forms.decode(kind, document, write.old_object)
            decoded = self.forms.encode(versioned, kind)
            self.forms.default(versioned)
            defaulted = carry_over(document, decoded, self.forms.encode(versioned, kind))
            request.object = self.forms.for_function(versioned)
            if write.old_object is not None:
                request.old = self.forms.decode_stored(kind, write.old_object)
            return defaulted, self.forms.encode(request.object, kind)

        def finish() -> list[Any]:
            assert request.object is not None
            after = self.forms.encode(request.object, kind)
            return diff(document, carry_over(defaulted, before, after))

        defaulted, before = await run_step(size, prepare)
        assert request.object is not None
        result = self._call(request.object, request)
        if isawaitable(result):
            result = await result
        if result is not None:
            raise TypeError(
                f"a defaulter changes its argument; it returned a {type(result).__name__}"
            )
        return await run_step(size, finish)


class ValidatingWebhook(AdmissionWebhook[T]):
    """Accepts or rejects writes.

    An error that the stored object has as well does not reject an update: rules become stricter
    while objects are stored. This is so for the constraints of the class, and for functions that
    take nothing but the object; a function that takes the request decides for itself.
    """

    verb = "validate"

    async def _review(
        self, write: ReviewRequest, request: AdmissionRequest[T], size: int
    ) -> list[Any]:
        kind = write.kind.gvk

        def prepare() -> None:
            if write.old_object is not None and write.operation != CONNECT:
                request.old = self.forms.decode_stored(kind, write.old_object)
            if write.object is not None:
                versioned = self.forms.decode(kind, write.object, write.old_object)
                self.forms.default(versioned)
                request.object = self.forms.for_function(versioned)

        await run_step(size, prepare)
        reviewed = request.object or request.old
        assert reviewed is not None
        errors = await self._errors(reviewed, request)
        if (
            errors
            and not self.takes_request
            and request.object is not None
            and request.old is not None
        ):
            errors = new_errors(errors, await self._errors(request.old, request))
        if errors:
            raise self._invalid(write, [self.forms.in_version(error, kind) for error in errors])
        return []

    async def _errors(self, obj: T, request: AdmissionRequest[T]) -> list[FieldError]:
        result = self._call(obj, request)
        if isawaitable(result):
            result = await result
        if result is None:
            return []
        if isinstance(result, AsyncIterable):
            return [error async for error in result]
        return list(result)


class _RequestLog(logging.LoggerAdapter[logging.Logger]):
    """A logger whose messages begin with the write that is reviewed."""

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        about = self.extra or {}
        key = "/".join(str(about[part]) for part in ("namespace", "name") if about.get(part))
        return f"{about['webhook']}: {about['operation']} {key}: {msg}", kwargs
