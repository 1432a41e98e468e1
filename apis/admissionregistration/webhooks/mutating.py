"""MutatingAdmissionWebhook: webhooks that may change an object before it is written.

They are called one after the other, each with the object that the previous one left. If one has
changed it, all mutating admission runs once more; webhooks that ask for it, and that were called
before a change, are called again then.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Final

from apimachinery.errors import InternalError
from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.decoding import DecodeError, load_json
from apimachinery.model.semantic_equality import equal
from apimachinery.patch import json_patch
from apimachinery.patch.json_patch_failures import failure_message
from apimachinery.patch.json_values import JSONValue
from apimachinery.patch.patch_errors import PatchError, PatchFailed
from apimachinery.scheme import NotRegistered
from apimachinery.serialization.document_size import TooLarge, check_values
from apimachinery.serialization.go_json import syntax_error
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.webhooks.admission_review import JSON_PATCH, AdmissionResponse
from apis.admissionregistration.webhooks.concerned_webhooks import ConcernedWebhooks
from apis.admissionregistration.webhooks.configurations import Invocation, WebhookSource
from apis.admissionregistration.webhooks.webhook_review import CallFailed, WebhookReviews
from apiserver import Attributes, ServerParts

NAME: Final = "MutatingAdmissionWebhook"


@dataclass(slots=True)
class _Invoked:
    """What the first run leaves for the second; the webhooks are named by their uids."""

    called: set[str] = field(default_factory=set)
    """Webhooks that ask to be called again, and after which nothing has changed yet."""
    called_again: set[str] = field(default_factory=set)
    """Webhooks to call in the second run."""
    output: Object | None = None
    """The object after the last run of this plugin."""

    def object_changed(self) -> None:
        self.called_again |= self.called
        self.called.clear()


class MutatingWebhooks:
    """The mutating function of the plugin."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._source = WebhookSource("mutatingwebhookconfigurations", parts)
        self._reviews = WebhookReviews(NAME, parts, mutating=True)

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        return self._review(attributes) if self._source.may_concern() else None

    async def _review(self, attributes: Attributes) -> None:
        """Let webhooks change an object or reject the write."""
        if not await self._source.catch_up(attributes):
            return
        invocations = self._source.matching(attributes)
        if invocations:
            await self._call_all(invocations, ReviewedWrite(attributes, self._parts))

    async def _call_all(self, invocations: tuple[Invocation, ...], write: ReviewedWrite) -> None:
        reinvocation = write.attributes.reinvocation
        invoked: _Invoked = reinvocation.notes.setdefault(NAME, _Invoked())
        run = write.attributes.context.workload.run
        if reinvocation.running and not await run(equal, invoked.output, write.attributes.object):
            invoked.object_changed()
        concerned = ConcernedWebhooks(write, self._parts)
        for invocation in invocations:
            webhook = invocation.webhook
            if not await concerned.include(invocation):
                continue
            if reinvocation.running and webhook.uid not in invoked.called_again:
                continue
            if await self._call(invocation, write):
                invoked.object_changed()
                reinvocation.wanted = True
            if webhook.reinvoked:
                invoked.called.add(webhook.uid)
        if reinvocation.wanted and not reinvocation.running:
            output = write.attributes.object
            invoked.output = await run(output.deep_copy) if output is not None else None

    async def _call(self, invocation: Invocation, write: ReviewedWrite) -> bool:
        async def change(response: AdmissionResponse) -> bool:
            return await _apply_patch(invocation, write, response)

        return await self._reviews.review(invocation, write, change)


async def _apply_patch(
    invocation: Invocation, write: ReviewedWrite, response: AdmissionResponse
) -> bool:
    """Apply the patch of a response; return whether it has changed the object."""
    workload = write.attributes.context.workload
    workload.add(response.patch)
    operations = await workload.run(_operations, response)
    if not operations:
        return False
    current = write.attributes.object
    if current is None:
        raise InternalError.of(
            f"admission webhook {quote(invocation.webhook.name)} attempted to modify the object,"
            " which is not supported for this operation"
        )
    if response.patch_type != JSON_PATCH:
        raise CallFailed(f"unsupported patch type {quote(response.patch_type or '')}", code=400)
    document = await write.content(invocation.version)
    patched = await workload.run(_patched, document, operations)
    workload.add(patched)
    try:
        new = await write.decode(patched, invocation.version)
    except NotRegistered as error:
        raise InternalError.of(error.problem) from None
    except DecodeError as error:
        raise InternalError.of(str(error)) from None
    changed = not await workload.run(equal, new, current)
    write.replace(new)
    return changed


def _operations(response: AdmissionResponse) -> JSONValue:
    """Return the operations of a response, without any if it has no patch."""
    if not response.patch:
        return []
    try:
        # In the answer it was one text: its values have not been counted yet.
        check_values(response.patch)
        operations = load_json(response.patch)
        json_patch.check(operations)
    except TooLarge as error:
        raise CallFailed(f"received undecodable patch in webhook response: {error}") from None
    except DecodeError as error:
        reason = syntax_error(response.patch) or str(error)
        raise CallFailed(f"received undecodable patch in webhook response: {reason}") from None
    except PatchError as error:
        reason = error.message
        raise CallFailed(f"received undecodable patch in webhook response: {reason}") from None
    return operations or []


def _patched(document: JSONValue, operations: JSONValue) -> bytes:
    try:
        return dump_content(json_patch.apply(document, operations))
    except PatchFailed as error:
        reason = failure_message(document, operations) or error.message
        raise InternalError.of(reason) from None
    except PatchError as error:
        raise InternalError.of(error.message) from None
