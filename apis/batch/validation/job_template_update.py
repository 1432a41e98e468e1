"""What may change in the pod template of a job.

Nothing, as long as the job runs. Of a suspended job without pods, tools that queue jobs set where
the pods may run and which resources they request.
"""

from apimachinery.fieldpath import FieldErrors, Path
from apis.apps.validation.workloads import validate_unchanged
from apis.batch.v1.job import SUSPENDED, Job
from apis.batch.validation.job_status import is_condition_true
from apis.core.v1.container import Container
from apis.core.v1.pod import PodSpec
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.v1.scheduling import Affinity


def validate_template_update(new: Job, old: Job, path: Path) -> FieldErrors:
    template = new.spec.template
    if not _may_change(old):
        yield from validate_unchanged(template, old.spec.template, path)
        return
    expected = _with_placement_of(template, old.spec.template)
    for field in ("containers", "init_containers"):
        containers = _with_resources_of(getattr(template.spec, field), getattr(expected, field))
        expected = expected.model_copy(update={field: containers})
    yield from validate_unchanged(template.spec, expected, path.child("spec"))


def _may_change(job: Job) -> bool:
    """Return whether a job is suspended and has no pods."""
    status = job.status
    stopped = status.start_time is None or is_condition_true(status, SUSPENDED)
    return bool(job.spec.suspend) and stopped and status.active == 0


def _with_placement_of(template: PodTemplateSpec, old: PodTemplateSpec) -> PodSpec:
    """Return the pods of *old* with the scheduling directives of *template*."""
    spec = template.spec
    return old.spec.model_copy(
        update={
            "affinity": _with_node_affinity_of(spec.affinity, old.spec.affinity),
            "node_selector": spec.node_selector,
            "tolerations": spec.tolerations,
            "scheduling_gates": spec.scheduling_gates,
        }
    )


def _with_node_affinity_of(affinity: Affinity | None, old: Affinity | None) -> Affinity | None:
    if affinity is None:
        if old is None or (old.pod_affinity is None and old.pod_anti_affinity is None):
            return None
        return old.model_copy(update={"node_affinity": None})
    return (old or Affinity()).model_copy(update={"node_affinity": affinity.node_affinity})


def _with_resources_of(containers: list[Container], old: list[Container]) -> list[Container]:
    """Return *old* with the resources of the containers of the same names."""
    if len(containers) != len(old):
        return old
    return [
        stored.model_copy(update={"resources": container.resources})
        if stored.name == container.name
        else stored
        for container, stored in zip(containers, old, strict=True)
    ]
