"""Strategy of APIServices."""

from datetime import UTC, datetime

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apis.apiregistration.v1 import APIService, APIServiceCondition
from apis.apiregistration.v1.types import AVAILABLE
from apis.apiregistration.validation import validate_api_service, validate_api_service_status
from apiserver import Strategy


class APIServiceStrategy(Strategy[APIService]):
    """An APIService is named `<version>.<group>`; a local one is available at once."""

    allow_unconditional_update = False
    ratchets = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return path_segment_name(name, prefix)

    def prepare_for_create(self, obj: APIService) -> None:
        if obj.spec.service is None:
            obj.status.conditions = [
                APIServiceCondition(
                    type=AVAILABLE,
                    status="True",
                    last_transition_time=obj.metadata.creation_timestamp or datetime.now(UTC),
                    reason="Local",
                    message="Local APIServices are always available",
                )
            ]

    def validate(self, obj: APIService) -> FieldErrors:
        yield from validate_api_service(obj)

    def validate_status_update(self, new: APIService, old: APIService) -> FieldErrors:
        yield from validate_api_service_status(new.status)

    def desired_state(self, obj: APIService) -> object:
        return None
