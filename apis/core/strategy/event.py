"""Strategy of Events."""

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apis.core.v1.event import Event
from apis.core.validation.event import validate_event
from apiserver import Strategy


class EventStrategy(Strategy[Event]):
    """Names may be any text that fits into a URL; events have no dependents to garbage-collect."""

    allow_create_on_update = True
    collects_garbage = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return path_segment_name(name, prefix)

    def validate(self, obj: Event) -> FieldErrors:
        yield from validate_event(obj)
