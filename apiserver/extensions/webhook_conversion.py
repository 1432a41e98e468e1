"""Webhook conversion: converts documents of a custom kind by calling the webhook of its definition.

Nothing inside of the server waits for a webhook: only those who read from the store, write to it or
encode for a client do, before or after the pure steps (decision 0023). Calls that several of them
need at once are made once for each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final
from uuid import uuid4

from apimachinery.schema import GroupVersion
from apiserver.extensions.conversion_metrics import ConversionMetrics
from apiserver.extensions.conversion_review import Failure, NotConvertible, Review, review_version
from apiserver.webhook_call import WebhookCaller, WebhookCallError, WebhookTarget
from apiserver.workload import LIGHT_BYTES, Workload

TIMEOUT: Final = 30.0
"""Seconds that a call may take."""
MAX_ANSWER: Final = 16 * 1024 * 1024
"""Bytes of the largest answer: many times those of the objects in one call."""
BATCH_OBJECTS: Final = 500
"""The maximum number of objects in one call."""
BATCH_BYTES: Final = 512 * 1024
"""The size of stored objects from which on a call takes no more of them."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WebhookCalls:
    """What converters of one server process call webhooks with."""

    caller: WebhookCaller
    metrics: ConversionMetrics
    clock: Callable[[], float] = monotonic


@dataclass(frozen=True)
class WebhookConverter:
    """Converts the documents of one custom kind."""

    definition: str
    """The name of the definition, for metrics."""
    group: str
    list_kind: str
    target: WebhookTarget
    review_versions: tuple[str, ...]
    webhooks: WebhookCalls = field(repr=False)

    async def convert(
        self,
        documents: Sequence[Document],
        version: str,
        *,
        workload: Workload | None = None,
        size: int = 0,
    ) -> list[Document]:
        """Return *documents* in another version, by one call. Raises NotConvertible.

        All are of one version, and *size* is about that of all of them.
        """
        source = GroupVersion.parse(documents[0]["apiVersion"])
        kind = documents[0]["kind"] if len(documents) == 1 else self.list_kind
        review = Review(
            documents,
            source.with_kind(kind),
            str(GroupVersion(self.group, version)),
            str(uuid4()),
            review_version(self.review_versions),
        )
        clock, failure = self.webhooks.clock, ""
        start = clock()
        try:
            return await self._review(review, workload or Workload(), size)
        except NotConvertible as error:
            failure = error.failure or Failure.CALL
            raise
        finally:
            self.webhooks.metrics.observe(
                self.definition, source.version, version, clock() - start, failure=failure
            )

    async def _review(self, review: Review, workload: Workload, size: int) -> list[Document]:
        if size > LIGHT_BYTES:
            workload.may_grow()
        request = await workload.run(review.request)
        try:
            answer = await self.webhooks.caller.post(
                self.target, request, timeout=TIMEOUT, max_answer=MAX_ANSWER
            )
        except WebhookCallError as error:
            raise review.failed(error, Failure.CALL) from error
        if len(answer) > LIGHT_BYTES:
            workload.may_grow()
        return await workload.run(review.results, answer)


def batches(sizes: Sequence[int]) -> Iterator[slice]:
    """Divide documents of these sizes into those of one call each."""
    start = size = 0
    for position, length in enumerate(sizes):
        if position > start and (size + length > BATCH_BYTES or position - start >= BATCH_OBJECTS):
            yield slice(start, position)
            start, size = position, 0
        size += length
    if start < len(sizes):
        yield slice(start, len(sizes))
