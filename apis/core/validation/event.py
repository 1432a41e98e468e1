"""Validation of events.

Few rules apply to core/v1 events, for the sake of old reporters. An event with an `eventTime` comes
from a newer reporter and must be complete.
"""

from typing import Final

from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid, required
from apimachinery.names import is_dns1123_subdomain, is_qualified_name
from apis.core.v1.event import Event

_WORD_MAX: Final = 128
_MESSAGE_MAX: Final = 1024


def validate_event(event: Event, *, reporter: str = "reportingComponent") -> FieldErrors:
    """Validate an event; *reporter* is the group's name of the reporting controller's field."""
    if event.event_time is None:
        yield from _validate_old(event)
    else:
        yield from _validate_new(event, Path(reporter))
    for error in is_dns1123_subdomain(event.metadata.namespace):
        yield invalid(Path("namespace"), event.metadata.namespace, error)


def _validate_old(event: Event) -> FieldErrors:
    about, namespace = event.involved_object.namespace, event.metadata.namespace
    # Old clients put events about cluster-scoped objects into "default".
    if namespace not in ((about,) if about else ("", "default")):
        yield _namespace_mismatch(event)


def _validate_new(event: Event, controller: Path) -> FieldErrors:
    namespace = event.metadata.namespace
    if not event.involved_object.namespace and namespace not in ("default", "kube-system"):
        yield _namespace_mismatch(event)
    if not event.reporting_component:
        yield required(controller)
    for error in is_qualified_name(event.reporting_component):
        yield invalid(controller, event.reporting_component, error)
    yield from _validate_word(event.reporting_instance, Path("reportingInstance"))
    yield from _validate_word(event.action, Path("action"))
    yield from _validate_word(event.reason, Path("reason"))
    yield from _validate_length(event.message, Path("message"), _MESSAGE_MAX)


def _validate_word(text: str, path: Path) -> FieldErrors:
    if not text:
        yield required(path)
    yield from _validate_length(text, path, _WORD_MAX)


def _validate_length(text: str, path: Path, limit: int) -> FieldErrors:
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        yield invalid(path, "", f"can have at most {limit} characters")


def _namespace_mismatch(event: Event) -> FieldError:
    about = event.involved_object.namespace
    return invalid(Path("involvedObject", "namespace"), about, "does not match event.namespace")
