"""WebhookRoutes: the webhooks of a program by their paths, and their answers to HTTP requests.

It knows no sockets: the server of a manager calls it for each request, and so does the server of a
test in its own process. What is no review is answered with a Status and the HTTP code of its
error; every review gets the code 200, and its response says what became of it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

from apimachinery.codec import dump_json
from apimachinery.errors import (
    APIError,
    BadRequest,
    InternalError,
    MethodNotAllowed,
    NotFound,
    Timeout,
    UnsupportedMediaType,
)
from apimachinery.fieldpath import quote
from apimachinery.scalars.duration import parse_duration
from client.monitoring.controller_metrics import MetricsSink
from client.monitoring.webhook_metrics import WebhookMetrics
from client.webhooks.admission_request import log
from client.webhooks.admission_webhook import AdmissionWebhook
from client.webhooks.conversion_webhook import ConversionWebhook
from client.webhooks.heavy_steps import run_step
from client.webhooks.review_documents import (
    AdmissionVerdict,
    read_admission_review,
    read_conversion_review,
    write_admission_review,
    write_conversion_review,
)

MAX_ADMISSION_REVIEW: Final = 7 * 1024 * 1024
"""Bytes of the largest AdmissionReview: two objects of 3 MiB, the largest a server accepts."""
MAX_CONVERSION_REVIEW: Final = 64 * 1024 * 1024
"""Bytes of the largest ConversionReview, which has all objects of a list."""
MAX_TIMEOUT: Final = 30.0
"""Seconds that a server waits for an answer at most, as Kubernetes limits them."""

AnyAdmissionWebhook: TypeAlias = "AdmissionWebhook[Any]"


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """An HTTP request whose body is still to be read."""

    method: str
    path: str
    query: str = ""
    content_type: str = ""
    peer: str = ""


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The HTTP response to a request."""

    code: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


ReadBody: TypeAlias = Callable[[int], Awaitable[bytes]]
"""Reads the body of a request of at most so many bytes. Raises RequestEntityTooLarge."""


class WebhookRoutes:
    """Answers the requests to the webhooks of one program."""

    def __init__(self, metrics: MetricsSink) -> None:
        self.admission: dict[str, AnyAdmissionWebhook] = {}
        self.conversion: ConversionWebhook | None = None
        self._metrics = WebhookMetrics(metrics)

    def __bool__(self) -> bool:
        return bool(self.admission) or self.conversion is not None

    @property
    def paths(self) -> list[str]:
        return [*self.admission, *([self.conversion.path] if self.conversion else [])]

    def add(self, webhook: AnyAdmissionWebhook) -> None:
        """Serve a webhook. Raises ValueError if its path or its name is taken."""
        for other in self.admission.values():
            if webhook.path in (other.path, ConversionWebhook.path):
                raise ValueError(
                    f"a webhook at {webhook.path} already exists: give one of them another path"
                    " and another name"
                )
            if webhook.name == other.name:
                raise ValueError(f"a webhook named {webhook.name} already exists")
        self.admission[webhook.path] = webhook
        self._metrics.start(webhook.path)

    def set_converter(self, converter: ConversionWebhook) -> None:
        self.conversion = converter
        self._metrics.start(converter.path)

    async def answer(self, request: WebhookRequest, read_body: ReadBody) -> WebhookAnswer:
        """Answer a request; its body is not read if the head is refused."""
        started = time.monotonic()
        path = request.path if request.path in self.paths else ""
        with self._metrics.in_flight(path):
            try:
                answer = await self._answer(request, read_body)
            except APIError as error:
                log.info("%s %s of %s: %s", request.method, request.path, request.peer, error)
                answer = refusal(error)
        self._metrics.count(path, answer.code, time.monotonic() - started)
        return answer

    async def _answer(self, request: WebhookRequest, read_body: ReadBody) -> WebhookAnswer:
        webhook = self.admission.get(request.path)
        converter = self.conversion
        converts = converter is not None and request.path == converter.path
        if webhook is None and not converts:
            raise NotFound(f"there is no webhook at {quote(request.path)}")
        if request.method != "POST":
            raise MethodNotAllowed(f"method {quote(request.method)}: webhooks are called by POST")
        media_type = request.content_type.partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise UnsupportedMediaType(
                f"Content-Type: {quote(request.content_type)}: must be application/json"
            )
        timeout = _timeout(request.query)
        body = await read_body(MAX_ADMISSION_REVIEW if webhook else MAX_CONVERSION_REVIEW)
        if not body:
            raise BadRequest("the request has no body")
        try:
            if webhook is not None:
                return _json(await self._admit(webhook, body, timeout))
            assert converter is not None
            return _json(await self._convert(converter, body, timeout))
        except APIError:
            raise
        except Exception as error:  # such as a warning of a function that is no text
            log.exception("%s failed", request.path)
            reason = f"{request.path} failed: {type(error).__name__}: {error}"
            raise InternalError.of(reason) from error

    async def _admit(self, webhook: AnyAdmissionWebhook, body: bytes, timeout: float) -> bytes:
        api_version, write = await run_step(len(body), read_admission_review, body)
        try:
            async with asyncio.timeout(timeout):
                verdict = await webhook.review(write, len(body))
        except TimeoutError:
            reason = f"webhook {webhook.name} has not answered within {timeout:g}s"
            log.warning("%s", reason)
            verdict = AdmissionVerdict(denied=Timeout.of(reason))
        return await run_step(len(body), write_admission_review, api_version, write.uid, verdict)

    async def _convert(self, converter: ConversionWebhook, body: bytes, timeout: float) -> bytes:
        api_version, order = await run_step(len(body), read_conversion_review, body)
        try:
            async with asyncio.timeout(timeout):
                converted = await converter.convert(order, len(body))
        except TimeoutError:
            converted = f"not converted within {timeout:g}s"
        return await run_step(len(body), write_conversion_review, api_version, order.uid, converted)


def _timeout(query: str) -> float:
    """Return the seconds that the server waits, which it sends as `timeout=10s`."""
    text = parse_qs(query).get("timeout", [""])[0]
    if not text:
        return MAX_TIMEOUT
    try:
        seconds = parse_duration(text).total_seconds()
    except ValueError as error:
        raise BadRequest(f"query parameter timeout: {error}") from None
    if seconds <= 0:
        raise BadRequest(f"query parameter timeout: {quote(text)}: must be positive")
    return min(seconds, MAX_TIMEOUT)


def refusal(error: APIError) -> WebhookAnswer:
    """Return the response to a request that is no call of a webhook."""
    headers = []
    if isinstance(error, MethodNotAllowed):
        headers.append(("Allow", "POST"))
    if error.retry_after:
        headers.append(("Retry-After", str(error.retry_after)))
    return WebhookAnswer(error.code, dump_json(error.status), tuple(headers))


def _json(body: bytes) -> WebhookAnswer:
    return WebhookAnswer(200, body)
