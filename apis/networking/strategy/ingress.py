"""Strategy of Ingresses."""

from collections.abc import Iterable, Iterator

from apimachinery.fieldpath import FieldErrors, Path, quote
from apimachinery.ip_addresses import ip_warnings
from apis.networking.v1 import Ingress
from apis.networking.v1.ingress import CLASS_ANNOTATION
from apis.networking.validation.ingress import (
    validate_ingress,
    validate_ingress_spec,
    validate_ingress_status,
)
from apiserver import Strategy


class IngressStrategy(Strategy[Ingress]):
    """A new Ingress names its class in one place; the status has addresses or host names."""

    qualified_finalizers = True
    status_updates_metadata = True

    def validate(self, obj: Ingress) -> FieldErrors:
        yield from validate_ingress(obj)

    def validate_update(self, new: Ingress, old: Ingress) -> FieldErrors:
        yield from validate_ingress_spec(new.spec, Path("spec"))

    def validate_status_update(self, new: Ingress, old: Ingress) -> FieldErrors:
        yield from validate_ingress_status(new.status)

    def warnings(self, obj: Ingress, old: Ingress | None = None) -> Iterable[str]:
        if old is None:
            return _class_warnings(obj)
        return _status_warnings(obj) if obj.status != old.status else ()


def _class_warnings(ingress: Ingress) -> Iterator[str]:
    if CLASS_ANNOTATION in ingress.metadata.annotations and ingress.spec.ingress_class_name is None:
        annotation = quote(CLASS_ANNOTATION)
        yield f"annotation {annotation} is deprecated, please use 'spec.ingressClassName' instead"


def _status_warnings(ingress: Ingress) -> Iterator[str]:
    path = Path("status", "loadBalancer", "ingress")
    for position, point in enumerate(ingress.status.load_balancer.ingress):
        if point.ip:
            yield from ip_warnings(point.ip, path.index(position))
