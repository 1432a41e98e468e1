"""Strategy of Events that are written through events.k8s.io."""

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apis.core.strategy.event import EventStrategy
from apis.core.v1 import Event
from apis.events.validation import validate_event_update, validate_new_event


class NewEventStrategy(EventStrategy):
    """Stricter than core: names are DNS subdomains, and only the series can change."""

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns_subdomain_name(name, prefix)

    def validate(self, obj: Event) -> FieldErrors:
        yield from validate_new_event(obj)

    def validate_update(self, new: Event, old: Event) -> FieldErrors:
        yield from validate_event_update(new, old)
