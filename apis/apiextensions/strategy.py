"""Strategy of CustomResourceDefinitions.

The rules of schemas are imported when a definition is written: few servers have any.
"""

from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apis.apiextensions.conditions import TERMINATING, set_condition
from apis.apiextensions.v1 import CustomResourceDefinition, CustomResourceDefinitionCondition
from apis.apiextensions.v1.definition import FINALIZER
from apiserver import Strategy

DELETION_PENDING: Final = "InstanceDeletionPending"


class DefinitionStrategy(Strategy[CustomResourceDefinition]):
    """A definition is named `<plural>.<group>`, and stays until its last object is deleted."""

    allow_unconditional_update = False
    returns_deleted_object = True
    documents_deleted_object = False
    status_updates_metadata = True

    def prepare_for_create(self, obj: CustomResourceDefinition) -> None:
        _drop_empty_webhook(obj)
        _prune_defaults(obj)
        _add_stored_version(obj)

    def prepare_for_update(
        self, new: CustomResourceDefinition, old: CustomResourceDefinition
    ) -> None:
        _drop_empty_webhook(new)
        _prune_defaults(new)
        _add_stored_version(new)

    def prepare_for_status_update(
        self, new: CustomResourceDefinition, old: CustomResourceDefinition
    ) -> None:
        if not new.status.stored_versions:
            _add_stored_version(new)

    def prepare_for_deletion(self, obj: CustomResourceDefinition) -> None:
        """Keep the definition until the controller has deleted its objects.

        As in Kubernetes, this is neither a new generation nor does it have a grace period.
        """
        obj.metadata.deletion_grace_period_seconds = None
        if FINALIZER in obj.metadata.finalizers:
            return
        obj.metadata.generation -= 1
        obj.metadata.finalizers = [*obj.metadata.finalizers, FINALIZER]
        assert obj.metadata.deletion_timestamp is not None
        set_condition(
            obj,
            CustomResourceDefinitionCondition(
                type=TERMINATING,
                status="True",
                reason=DELETION_PENDING,
                message="CustomResourceDefinition marked for deletion;"
                " CustomResource deletion will begin soon",
            ),
            obj.metadata.deletion_timestamp,
        )

    def validate(self, obj: CustomResourceDefinition) -> FieldErrors:
        name = obj.metadata.name
        if name and name != f"{obj.spec.names.plural}.{obj.spec.group}":
            rule = 'must be spec.names.plural+"."+spec.group'
            yield invalid(Path("metadata", "name"), name, rule)
        from apis.apiextensions.validation.definition import validate_definition

        yield from validate_definition(obj)

    def validate_update(
        self, new: CustomResourceDefinition, old: CustomResourceDefinition
    ) -> FieldErrors:
        from apis.apiextensions.validation.definition import validate_definition_update

        yield from validate_definition_update(new, old)

    def warnings(
        self, obj: CustomResourceDefinition, old: CustomResourceDefinition | None = None, /
    ) -> Iterable[str]:
        from apis.apiextensions.schema_warnings import schema_warnings

        return schema_warnings(obj, old)

    def validate_status_update(
        self, new: CustomResourceDefinition, old: CustomResourceDefinition
    ) -> FieldErrors:
        from apis.apiextensions.validation.definition import validate_status_update

        yield from validate_status_update(new)

    def may_be_removed(self, obj: CustomResourceDefinition) -> bool:
        # The first deletion marks the definition as terminating; its objects are deleted first.
        return obj.metadata.deletion_timestamp is not None


def _drop_empty_webhook(obj: CustomResourceDefinition) -> None:
    """Drop a webhook that says nothing, which Kubernetes does not store."""
    conversion = obj.spec.conversion
    webhook = conversion.webhook if conversion is not None else None
    if conversion is None or webhook is None:
        return
    if webhook.client_config is None and not webhook.conversion_review_versions:
        conversion.webhook = None


def _prune_defaults(obj: CustomResourceDefinition) -> None:
    from apis.apiextensions.embedded_defaults import prune_defaults

    prune_defaults(obj)


def _add_stored_version(obj: CustomResourceDefinition) -> None:
    """Add the storage version to `status.storedVersions`."""
    for version in obj.spec.versions:
        if version.storage and version.name not in obj.status.stored_versions:
            obj.status.stored_versions = [*obj.status.stored_versions, version.name]
            return
