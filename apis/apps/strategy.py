"""Strategies of the workloads of apps/v1."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.metadata_validation import dns_label_name
from apimachinery.model.semantic_equality import equal
from apimachinery.names import is_dns1123_label
from apimachinery.scalars.intstr import parse_integer
from apis.apps.v1.controller_revision import ControllerRevision
from apis.apps.v1.daemon_set import TEMPLATE_GENERATION, DaemonSet
from apis.apps.v1.deployment import Deployment
from apis.apps.v1.replica_set import ReplicaSet
from apis.apps.v1.stateful_set import StatefulSet
from apis.apps.validation.controller_revision import (
    validate_controller_revision,
    validate_controller_revision_update,
)
from apis.apps.validation.daemon_set import (
    validate_daemon_set,
    validate_daemon_set_status_update,
    validate_daemon_set_update,
)
from apis.apps.validation.deployment import (
    validate_deployment,
    validate_deployment_status_update,
    validate_deployment_update,
)
from apis.apps.validation.replica_set import (
    validate_replica_set,
    validate_replica_set_status,
    validate_replica_set_update,
)
from apis.apps.validation.stateful_set import (
    validate_stateful_set,
    validate_stateful_set_status_update,
    validate_stateful_set_update,
)
from apis.core.strategy.pod_disabled_fields import drop_disabled_template_fields
from apis.core.strategy.pod_warnings import template_warnings
from apiserver import Strategy

_TEMPLATE: Final = Path("spec", "template")


class DeploymentStrategy(Strategy[Deployment]):
    """A change of the annotations increments the generation, too: replica sets copy them."""

    qualified_finalizers = True
    reset_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {"status": ("spec", "metadata.labels")}
    status_updates_metadata = True

    def prepare_for_create(self, obj: Deployment) -> None:
        drop_disabled_template_fields(obj.spec.template, None)

    def prepare_for_update(self, new: Deployment, old: Deployment) -> None:
        drop_disabled_template_fields(new.spec.template, old.spec.template)

    def prepare_for_status_update(self, new: Deployment, old: Deployment) -> None:
        new.metadata.labels = dict(old.metadata.labels)

    def validate(self, obj: Deployment) -> FieldErrors:
        yield from validate_deployment(obj)

    def validate_update(self, new: Deployment, old: Deployment) -> FieldErrors:
        yield from validate_deployment_update(new, old)

    def validate_status_update(self, new: Deployment, old: Deployment) -> FieldErrors:
        yield from validate_deployment_status_update(new, old)

    def desired_state(self, obj: Deployment) -> object:
        return [obj.spec, obj.metadata.annotations]

    def warnings(self, obj: Deployment, old: Deployment | None = None) -> Iterator[str]:
        if old is None:
            yield from _name_warnings(obj.metadata.name)
        if old is None or obj.metadata.generation != old.metadata.generation:
            yield from template_warnings(obj.spec.template, _TEMPLATE)


class ReplicaSetStrategy(Strategy[ReplicaSet]):
    """The selector is immutable."""

    qualified_finalizers = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: ReplicaSet) -> None:
        drop_disabled_template_fields(obj.spec.template, None)

    def prepare_for_update(self, new: ReplicaSet, old: ReplicaSet) -> None:
        drop_disabled_template_fields(new.spec.template, old.spec.template)

    def validate(self, obj: ReplicaSet) -> FieldErrors:
        yield from validate_replica_set(obj)

    def validate_update(self, new: ReplicaSet, old: ReplicaSet) -> FieldErrors:
        yield from validate_replica_set_update(new, old)

    def validate_status_update(self, new: ReplicaSet, old: ReplicaSet) -> FieldErrors:
        yield from validate_replica_set_status(new.status)

    def warnings(self, obj: ReplicaSet, old: ReplicaSet | None = None) -> Iterator[str]:
        if old is None:
            yield from _name_warnings(obj.metadata.name)
        if old is None or obj.metadata.generation != old.metadata.generation:
            yield from template_warnings(obj.spec.template, _TEMPLATE)


class DaemonSetStrategy(Strategy[DaemonSet]):
    """An annotation counts the changes of the template; clients cannot change it."""

    qualified_finalizers = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: DaemonSet) -> None:
        given = parse_integer(obj.metadata.annotations.get(TEMPLATE_GENERATION, "")) or 0
        obj.metadata.annotations[TEMPLATE_GENERATION] = str(max(given, 1))
        drop_disabled_template_fields(obj.spec.template, None)

    def prepare_for_update(self, new: DaemonSet, old: DaemonSet) -> None:
        drop_disabled_template_fields(new.spec.template, old.spec.template)
        count = parse_integer(old.metadata.annotations.get(TEMPLATE_GENERATION, "")) or 0
        if not equal(new.spec.template, old.spec.template):
            count += 1
        new.metadata.annotations[TEMPLATE_GENERATION] = str(count)

    def prepare_for_status_update(self, new: DaemonSet, old: DaemonSet) -> None:
        count = old.metadata.annotations.get(TEMPLATE_GENERATION)
        if count is not None:
            new.metadata.annotations[TEMPLATE_GENERATION] = count

    def validate(self, obj: DaemonSet) -> FieldErrors:
        yield from validate_daemon_set(obj)

    def validate_update(self, new: DaemonSet, old: DaemonSet) -> FieldErrors:
        yield from validate_daemon_set_update(new, old)

    def validate_status_update(self, new: DaemonSet, old: DaemonSet) -> FieldErrors:
        yield from validate_daemon_set_status_update(new, old)

    def warnings(self, obj: DaemonSet, old: DaemonSet | None = None) -> Iterator[str]:
        if old is None or not equal(obj.spec.template, old.spec.template):
            yield from template_warnings(obj.spec.template, _TEMPLATE)


class StatefulSetStrategy(Strategy[StatefulSet]):
    """Names are DNS labels, because pods have them as host names."""

    qualified_finalizers = True
    status_updates_metadata = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns_label_name(name, prefix)

    def prepare_for_create(self, obj: StatefulSet) -> None:
        drop_disabled_template_fields(obj.spec.template, None)

    def prepare_for_update(self, new: StatefulSet, old: StatefulSet) -> None:
        drop_disabled_template_fields(new.spec.template, old.spec.template)

    def validate(self, obj: StatefulSet) -> FieldErrors:
        yield from validate_stateful_set(obj)

    def validate_update(self, new: StatefulSet, old: StatefulSet) -> FieldErrors:
        yield from validate_stateful_set_update(new, old)

    def validate_status_update(self, new: StatefulSet, old: StatefulSet) -> FieldErrors:
        yield from validate_stateful_set_status_update(new, old)

    def warnings(self, obj: StatefulSet, old: StatefulSet | None = None) -> Iterator[str]:
        if old is None or obj.metadata.generation != old.metadata.generation:
            yield from template_warnings(obj.spec.template, _TEMPLATE)
        limit = obj.spec.revision_history_limit
        if limit is not None and limit < 0:
            yield (
                "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
                " a value >= 0 is recommended"
            )


class ControllerRevisionStrategy(Strategy[ControllerRevision]):
    """The data of a revision is immutable."""

    qualified_finalizers = True

    def validate(self, obj: ControllerRevision) -> FieldErrors:
        yield from validate_controller_revision(obj)

    def validate_update(self, new: ControllerRevision, old: ControllerRevision) -> FieldErrors:
        yield from validate_controller_revision_update(new, old)

    def desired_state(self, obj: ControllerRevision) -> object:
        return None


def _name_warnings(name: str) -> Iterator[str]:
    if errors := is_dns1123_label(name):
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in"
            " surprising behavior; a DNS label is recommended:"
            f" [{' '.join(errors)}]"
        )
