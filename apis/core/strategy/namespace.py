"""Strategy of Namespaces, and the handler of their finalize subresource."""

from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import dns_label_name
from apimachinery.schema import GroupKind
from apis.core import GROUP
from apis.core.v1.namespace import (
    ACTIVE,
    FINALIZER_KUBERNETES,
    NAME_LABEL,
    TERMINATING,
    Namespace,
)
from apis.core.validation.namespace import (
    validate_namespace,
    validate_namespace_finalize_update,
    validate_namespace_status_update,
)
from apiserver import Strategy


class NamespaceStrategy(Strategy[Namespace]):
    """Names are DNS labels; a namespace is removed when its `spec.finalizers` are empty."""

    qualified_finalizers = True
    returns_deleted_object = True
    documents_deleted_object = False
    status_updates_metadata = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns_label_name(name, prefix)

    def prepare_for_create(self, obj: Namespace) -> None:
        obj.status.phase = ACTIVE
        if FINALIZER_KUBERNETES not in obj.spec.finalizers:
            obj.spec.finalizers = [*obj.spec.finalizers, FINALIZER_KUBERNETES]
        self._set_name_label(obj)

    def prepare_for_update(self, new: Namespace, old: Namespace) -> None:
        new.spec.finalizers = list(old.spec.finalizers)
        self._set_name_label(new)

    def prepare_for_deletion(self, obj: Namespace) -> None:
        obj.status.phase = TERMINATING
        # As in Kubernetes: the namespace waits for its finalizers, not for a grace period.
        obj.metadata.deletion_grace_period_seconds = None

    def validate(self, obj: Namespace) -> FieldErrors:
        yield from validate_namespace(obj)

    def validate_status_update(self, new: Namespace, old: Namespace) -> FieldErrors:
        yield from validate_namespace_status_update(new)

    def desired_state(self, obj: Namespace) -> object:
        return None

    def may_be_removed(self, obj: Namespace) -> bool:
        return not obj.spec.finalizers

    def _set_name_label(self, obj: Namespace) -> None:
        if obj.metadata.name:
            obj.metadata.labels[NAME_LABEL] = obj.metadata.name


class NamespaceFinalizeStrategy(NamespaceStrategy):
    """The finalize subresource: the only way to change `spec.finalizers`.

    Removing the last finalizer of a terminating namespace removes the namespace.
    """

    def prepare_for_update(self, new: Namespace, old: Namespace) -> None:
        self._set_name_label(new)

    def validate_update(self, new: Namespace, old: Namespace) -> FieldErrors:
        yield from validate_namespace_finalize_update(new)


async def finalize(context: object, current: Namespace, body: Namespace) -> Namespace:
    """Handle a PUT to finalize: return *body* with the status of *current*. Raises Invalid."""
    changed = body.deep_copy()
    changed.status = current.status.deep_copy()
    errors = list(NamespaceFinalizeStrategy().validate_update(changed, current))
    if errors:
        raise Invalid.of(GroupKind(GROUP, "Namespace"), current.metadata.name, errors)
    return changed
