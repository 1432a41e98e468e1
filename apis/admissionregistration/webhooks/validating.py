"""ValidatingAdmissionWebhook: webhooks that accept or reject a write.

They see the object as it will be stored, and are called at the same time. All of them are called to
the end, even if one rejects the write, because each may have effects of its own.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final

from apimachinery.errors import APIError
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.webhooks.concerned_webhooks import ConcernedWebhooks
from apis.admissionregistration.webhooks.configurations import Invocation, WebhookSource
from apis.admissionregistration.webhooks.webhook_review import WebhookReviews
from apiserver import Attributes, ServerParts

NAME: Final = "ValidatingAdmissionWebhook"


class ValidatingWebhooks:
    """The validating function of the plugin."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._source = WebhookSource("validatingwebhookconfigurations", parts)
        self._reviews = WebhookReviews(NAME, parts, mutating=False)

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        return self._review(attributes) if self._source.may_concern() else None

    async def _review(self, attributes: Attributes) -> None:
        """Let webhooks reject the write."""
        if not await self._source.catch_up(attributes):
            return
        invocations = self._source.matching(attributes)
        if not invocations:
            return
        write = ReviewedWrite(attributes, self._parts)
        webhooks = ConcernedWebhooks(write, self._parts)
        concerned = [each for each in invocations if await webhooks.include(each)]
        if len(concerned) == 1:
            await self._reviews.review(concerned[0], write)
        elif concerned:
            await self._call_all(concerned, write)

    async def _call_all(self, invocations: list[Invocation], write: ReviewedWrite) -> None:
        """Call webhooks at the same time, and raise the first error when all have answered."""
        errors: list[APIError] = []

        async def call(invocation: Invocation) -> None:
            try:
                await self._reviews.review(invocation, write)
            except APIError as error:
                errors.append(error)

        async with asyncio.TaskGroup() as tasks:
            for invocation in invocations:
                tasks.create_task(call(invocation))
        if errors:
            raise errors[0]
