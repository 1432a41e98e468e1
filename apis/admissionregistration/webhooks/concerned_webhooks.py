"""ConcernedWebhooks: which of the webhooks that have a rule for a write are called for it.

Rules are compared first, then labels, and last the match conditions: they are the most expensive,
and may be written for the kinds that the rules name. Conditions are evaluated as those of policies.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from apimachinery.errors import Forbidden
from apis.admissionregistration.matching.admission_request import admission_request
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.policies.match_conditions import ConditionUnknown, conditions_match
from apis.admissionregistration.policies.write_evaluation import WriteEvaluation
from apis.admissionregistration.webhooks.configurations import Invocation
from apiserver import ServerParts
from apiserver.served_versions import ServedVersion


class ConcernedWebhooks:
    """Decides about the webhooks for one write."""

    def __init__(self, write: ReviewedWrite, parts: ServerParts) -> None:
        self._write = write
        self._evaluation = WriteEvaluation(write, parts)

    async def include(self, invocation: Invocation) -> bool:
        """Return whether a webhook is called.

        Raises Forbidden if its conditions cannot be evaluated, unless it ignores failures, and the
        errors of its selectors.
        """
        webhook = invocation.webhook
        if not await webhook.selectors.match(self._write):
            return False
        if not webhook.conditions:
            return True
        values = await self._values(invocation.version)
        evaluate = partial(conditions_match, webhook.conditions, values, {})
        try:
            return await self._evaluation.run(evaluate)
        except ConditionUnknown as error:
            if webhook.ignores_failures:
                return False
            attributes = self._write.attributes
            raise Forbidden.of(attributes.resource, attributes.name, str(error)) from None

    async def _values(self, shown: ServedVersion) -> Mapping[str, Any]:
        """Return the variables of conditions by their names."""
        write = self._write
        return {
            "object": await write.content(shown),
            "oldObject": await write.content(shown, old=True),
            "request": admission_request(write, shown),
            "namespaceObject": None,
            "params": None,
            **self._evaluation.authorizer_variables(),
        }
