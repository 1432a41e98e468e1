"""Write evaluation: where the expressions of policies are evaluated for one write.

Evaluations begin on the event loop. When those of one write have taken their share of it, they are
repeated and go on in the heavy thread, whose limits are those of Kubernetes. An evaluation that
asks the authorizer is repeated with the answer.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from apimachinery.cel.interpreter.authorization import (
    AuthorizationAnswer,
    AuthorizationCheck,
    AuthorizerValue,
    ResourceCheck,
    Unanswered,
)
from apimachinery.errors import APIError
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.policies.activation import (
    LOOP_ALLOWANCE,
    CostAllowance,
    HeldTooLong,
)
from apiserver import RequestInfo, ServerParts, User

R = TypeVar("R")

_ACCOUNTS: Final = "system:serviceaccounts"


class WriteEvaluation:
    """Evaluates the policies of one write, and keeps the answers of the authorizer."""

    def __init__(self, write: ReviewedWrite, parts: ServerParts) -> None:
        self._write = write
        self._authorizer = parts.authorizer
        self._answers: dict[AuthorizationCheck, AuthorizationAnswer] = {}
        self._allowance = LOOP_ALLOWANCE

    async def run(self, evaluate: Callable[[CostAllowance], R]) -> R:
        """Return the result of a function that evaluates expressions, and may be repeated."""
        workload = self._write.attributes.context.workload
        while True:
            allowance = CostAllowance(None if workload.is_heavy else self._allowance)
            try:
                return await workload.run(evaluate, allowance)
            except HeldTooLong:
                workload.may_grow()
            except Unanswered as asked:
                self._answers[asked.check] = await self._ask(asked.check)
            finally:
                if allowance.remaining is not None:
                    self._allowance = allowance.remaining

    def authorizer_variables(self) -> dict[str, Any]:
        """Return the variables by which expressions ask the authorizer."""
        write = self._write
        resource = AuthorizationCheck(
            group=write.own.resource.group,
            resource=write.own.resource.resource,
            subresource=write.target.subresource,
            namespace=write.namespace,
            name=write.name,
        )
        return {
            "authorizer": AuthorizerValue(AuthorizationCheck(), self._answers),
            "authorizer.requestResource": ResourceCheck(resource, self._answers),
        }

    async def _ask(self, check: AuthorizationCheck) -> AuthorizationAnswer:
        attributes = RequestInfo(
            path=check.path,
            verb=check.verb,
            is_resource=not check.path,
            group=check.group,
            version="" if check.path else "*",
            resource=check.resource,
            subresource=check.subresource,
            namespace=check.namespace,
            name=check.name,
        )
        try:
            decision = await self._authorizer.authorize(self._user(check), attributes)
        except APIError as error:
            return AuthorizationAnswer(False, error=str(error))
        return AuthorizationAnswer(decision.allowed, decision.reason)

    def _user(self, check: AuthorizationCheck) -> User:
        namespace, name = check.account
        if not name:
            return self._write.attributes.user
        groups = (_ACCOUNTS, f"{_ACCOUNTS}:{namespace}")
        return User(f"system:serviceaccount:{namespace}:{name}", groups=groups)
