"""Denial: the answer to a write that a ValidatingAdmissionPolicy denies."""

from dataclasses import dataclass
from typing import Final

from apimachinery.errors import APIError
from apimachinery.meta.status import StatusCause
from apis.admissionregistration.policies.validating_policy import INVALID
from apiserver import Attributes

_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID_CODE: Final = 422


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a write is denied, and by whom."""

    policy: str
    binding: str
    """Empty if the policy itself is at fault."""
    message: str
    reason: str = ""

    @property
    def text(self) -> str:
        by = f"ValidatingAdmissionPolicy '{self.policy}'"
        if self.binding:
            by = f"{by} with binding '{self.binding}'"
        return f"{by} denied request: {self.message}"

    def error(self, attributes: Attributes) -> APIError:
        """Return the error to raise."""
        cause = StatusCause(message=self.text)
        forbidden = attributes.forbidden(self.text, causes=[cause])
        reason = self.reason or INVALID
        return APIError(
            forbidden.message,
            details=forbidden.details,
            reason=reason,
            code=_CODES.get(reason, _INVALID_CODE),
        )
