"""Strategies of PodTemplates and ReplicationControllers."""

from collections.abc import Iterable, Iterator

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.names import is_dns1123_label
from apis.core.strategy.pod_disabled_fields import drop_disabled_template_fields
from apis.core.strategy.pod_warnings import template_warnings
from apis.core.v1.pod_template import PodTemplate
from apis.core.v1.replication_controller import ReplicationController
from apis.core.validation.replication_controller import (
    validate_pod_template,
    validate_replication_controller,
    validate_replication_controller_status,
)
from apiserver import Strategy


class PodTemplateStrategy(Strategy[PodTemplate]):
    """The template raises the generation."""

    qualified_finalizers = True
    ratchets = False
    returns_deleted_object = True

    def prepare_for_create(self, obj: PodTemplate) -> None:
        drop_disabled_template_fields(obj.template, None)

    def prepare_for_update(self, new: PodTemplate, old: PodTemplate) -> None:
        drop_disabled_template_fields(new.template, old.template)

    def validate(self, obj: PodTemplate) -> FieldErrors:
        yield from validate_pod_template(obj)

    def validate_update(self, new: PodTemplate, old: PodTemplate) -> FieldErrors:
        yield from validate_pod_template(new, old)

    def warnings(self, obj: PodTemplate, old: PodTemplate | None = None) -> Iterable[str]:
        if old is not None and old.metadata.generation == obj.metadata.generation:
            return ()
        return template_warnings(obj.template, Path("template"))

    def desired_state(self, obj: PodTemplate) -> object:
        return obj.template


class ReplicationControllerStrategy(Strategy[ReplicationController]):
    """Pods are orphaned, unless the client that deletes their controller wants otherwise."""

    qualified_finalizers = True
    orphans_by_default = True
    ratchets = False
    status_updates_metadata = True

    def prepare_for_create(self, obj: ReplicationController) -> None:
        if obj.spec.template is not None:
            drop_disabled_template_fields(obj.spec.template, None)

    def prepare_for_update(self, new: ReplicationController, old: ReplicationController) -> None:
        if new.spec.template is not None:
            drop_disabled_template_fields(new.spec.template, old.spec.template)

    def validate(self, obj: ReplicationController) -> FieldErrors:
        yield from validate_replication_controller(obj)

    def validate_update(
        self, new: ReplicationController, old: ReplicationController
    ) -> FieldErrors:
        yield from validate_replication_controller(new, old)

    def validate_status_update(
        self, new: ReplicationController, old: ReplicationController
    ) -> FieldErrors:
        yield from validate_replication_controller_status(new.status)

    def warnings(
        self, obj: ReplicationController, old: ReplicationController | None = None
    ) -> Iterable[str]:
        return list(_controller_warnings(obj, old))


def _controller_warnings(
    controller: ReplicationController, old: ReplicationController | None
) -> Iterator[str]:
    problems = is_dns1123_label(controller.metadata.name) if old is None else []
    if problems:
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising"
            f" behavior; a DNS label is recommended: [{' '.join(problems)}]"
        )
    changed = old is None or old.metadata.generation != controller.metadata.generation
    if changed and controller.spec.template is not None:
        yield from template_warnings(controller.spec.template, Path("spec", "template"))
