"""WebhookReviews: calls one webhook for one write, and says what a failed call means for it.

A webhook that cannot be called, or that answers nonsense, counts by its failure policy. Everything
else that goes wrong rejects the write: a denial, a dry run that a webhook cannot take part in, a
patch that does not apply. The messages are those of Kubernetes.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from time import perf_counter
from typing import Final

from apimachinery.errors import APIError, BadRequest, InternalError, from_status
from apimachinery.fieldpath import quote
from apimachinery.meta.status import Status
from apis.admissionregistration.matching.admission_request import admission_request
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.webhooks.admission_review import (
    AdmissionResponse,
    InvalidAnswer,
    UnreadableAnswer,
    encode_review,
    read_answer,
)
from apis.admissionregistration.webhooks.called_webhook import CalledWebhook
from apis.admissionregistration.webhooks.configurations import Invocation
from apiserver import ServerParts
from apiserver.admission.admission_metrics import CALL_FAILED, NO_ERROR, SERVER_FAILED
from apiserver.registry.identifiers import PooledRandom, new_uid
from apiserver.webhook_call import UnusableTarget, WebhookCallError

log = logging.getLogger(__name__)

MAX_ANSWER: Final = 8 * 1024 * 1024
"""Bytes of the largest answer: a patch with an object as large as can be stored, in base64."""

_UNAVAILABLE: Final = 503
_LARGEST_CODE: Final = 999
_MOST_ANNOTATIONS: Final = 20
_LONGEST: Final = 1000
"""Of the annotations of one answer, and the characters of one, that are logged."""


class CallFailed(Exception):
    """A webhook has not decided; its failure policy does."""

    def __init__(self, reason: str, *, code: int = _UNAVAILABLE) -> None:
        super().__init__(reason)
        self.code = code
        """For the metrics."""


class _Denied(Exception):
    """A webhook has rejected the write."""

    def __init__(self, error: APIError) -> None:
        super().__init__(error.message)
        self.error = error


Handle = Callable[[AdmissionResponse], Awaitable[bool]]
"""Takes the response of a webhook that allows the write; returns whether the object changed."""


class WebhookReviews:
    """Calls the webhooks of one plugin."""

    def __init__(self, plugin: str, parts: ServerParts, *, mutating: bool) -> None:
        self._plugin = plugin
        self._caller = parts.webhooks
        self._random = PooledRandom()
        self._metrics = parts.admission_metrics
        self._mutating = mutating
        self._kind = "admit" if mutating else "validating"

    async def review(
        self, invocation: Invocation, write: ReviewedWrite, handle: Handle | None = None
    ) -> bool:
        """Call a webhook; return whether *handle* has changed the object.

        Raises the APIError with which the write is rejected.
        """
        webhook, operation = invocation.webhook, str(write.attributes.operation)
        started = perf_counter()
        code, error, rejected = 200, "", False
        try:
            response = await self._response(invocation, write)
            return await handle(response) if handle is not None else False
        except CallFailed as failure:
            code, error = failure.code, CALL_FAILED
            rejected = not webhook.ignores_failures
            self._fail(webhook, failure)
            return False
        except _Denied as denial:
            code, error, rejected = denial.error.code, NO_ERROR, True
            raise denial.error from None
        except APIError:
            code, error, rejected = 0, SERVER_FAILED, True
            raise
        finally:
            seconds = perf_counter() - started
            name, kind, metrics = webhook.name, self._kind, self._metrics
            metrics.observe_call(
                name, kind, operation, seconds=seconds, code=code, rejected=rejected
            )
            if rejected:
                metrics.count_rejection(name, kind, operation, error=error, code=code)

    def _fail(self, webhook: CalledWebhook, failure: CallFailed) -> None:
        """Raise InternalError unless the failure is to be ignored."""
        reason = f"failed calling webhook {quote(webhook.name)}: {failure}"
        if not webhook.ignores_failures:
            log.warning("failing closed: %s", reason)
            raise InternalError.of(reason) from failure
        log.warning("failing open: %s", reason)
        self._metrics.count_ignored_failure(webhook.name, self._kind)

    async def _response(self, invocation: Invocation, write: ReviewedWrite) -> AdmissionResponse:
        """Return the response of a webhook that allows the write."""
        webhook = invocation.webhook
        _check_dry_run(webhook, write)
        if not webhook.review_version:
            raise CallFailed(
                "could not create admission objects: webhook does not accept known"
                " AdmissionReview versions (v1, v1beta1)",
                code=400,
            )
        uid = new_uid(self._random)
        shown = invocation.version
        document = encode_review(
            admission_request(write, shown),
            version=webhook.review_version,
            uid=uid,
            obj=await write.encoded(shown),
            old=await write.encoded(shown, old=True),
        )
        answer = await self._call(webhook, document)
        context = write.attributes.context
        context.workload.add(answer)
        response = await context.workload.run(self._read, answer, webhook, uid)
        for text in response.warnings:
            context.warn(text)
        if response.audit_annotations:
            # There is no audit log; the request ID is that of the response's Audit-Id.
            annotations = _logged(webhook.name, response.audit_annotations)
            log.info("audit annotations of request %s: %s", context.request_id, annotations)
        if not response.allowed:
            raise _Denied(denial(webhook.name, response.status))
        return response

    async def _call(self, webhook: CalledWebhook, document: bytes) -> bytes:
        try:
            return await self._caller.post(
                webhook.target,
                document,
                timeout=webhook.timeout,
                query=f"timeout={webhook.timeout}s",
                plugin=self._plugin,
                max_answer=MAX_ANSWER,
            )
        except UnusableTarget as error:
            raise CallFailed(f"could not get REST client: {error}", code=500) from error
        except WebhookCallError as error:
            code = error.status.code if error.status is not None else _UNAVAILABLE
            raise CallFailed(f"failed to call webhook: {error}", code=code) from error

    def _read(self, answer: bytes, webhook: CalledWebhook, uid: str) -> AdmissionResponse:
        version = webhook.review_version
        try:
            return read_answer(answer, version=version, uid=uid, mutating=self._mutating)
        except UnreadableAnswer as error:
            raise CallFailed(f"failed to call webhook: {error}") from None
        except InvalidAnswer as error:
            raise CallFailed(f"received invalid webhook response: {error}") from None


def _logged(webhook: str, annotations: Mapping[str, str]) -> dict[str, str]:
    """Return annotations as Kubernetes names them, as many as a line of a log can have."""
    first = islice(annotations.items(), _MOST_ANNOTATIONS)
    return {f"{webhook}/{key[:_LONGEST]}": text[:_LONGEST] for key, text in first}


def denial(name: str, status: Status | None) -> APIError:
    """Return the error for a write that a webhook rejects with a status."""
    denied = f"admission webhook {quote(name)} denied the request"
    status = status or Status()
    explanation = status.message or status.reason
    status.message = f"{denied}: {explanation}" if explanation else f"{denied} without explanation"
    # A rejection is an error, whatever its status says, and HTTP has codes of three digits.
    code = max(status.code, BadRequest.code)
    status.code = code if code <= _LARGEST_CODE else InternalError.code
    return from_status(status)


def _check_dry_run(webhook: CalledWebhook, write: ReviewedWrite) -> None:
    if not write.attributes.dry_run or webhook.allows_dry_run:
        return
    if webhook.side_effects is None:
        raise CallFailed("Webhook SideEffects is nil", code=400)
    raise BadRequest(f"admission webhook {quote(webhook.name)} does not support dry run")
