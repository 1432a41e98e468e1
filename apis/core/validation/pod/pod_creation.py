"""Validation of new pods, and of the templates of pods in other kinds."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden
from apimachinery.meta.metadata_validation import (
    validate_annotations,
    validate_labels,
    validate_nonnegative,
)
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.validation.pod.annotations import (
    validate_pod_annotations,
    validate_profiles_agree,
)
from apis.core.validation.pod.containers import validate_image_spacing
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.spec import validate_pod_spec
from apis.core.validation.pod.stored_exceptions import pod_options, template_options

_SPEC: Final = Path("spec")


def validate_pod(pod: Pod, *, allow_privileged: bool = True) -> FieldErrors:
    """Validate a new pod; without *allow_privileged*, no container may have the host's powers."""
    options = pod_options(None, allow_privileged=allow_privileged)
    yield from validate_pod_content(pod, options)
    spec = pod.spec
    if spec.ephemeral_containers:
        yield forbidden(_SPEC.child("ephemeralContainers"), "cannot be set on create")
    if spec.node_name and spec.scheduling_gates:
        rule = "cannot be set until all schedulingGates have been cleared"
        yield forbidden(_SPEC.child("nodeName"), rule)
    yield from validate_profiles_agree(pod.metadata.annotations, spec, _SPEC)


def validate_pod_content(pod: Pod, options: PodValidationOptions) -> FieldErrors:
    """Validate a pod by the rules that hold as long as it exists."""
    yield from validate_pod_annotations(
        pod.metadata.annotations, pod.spec, Path("metadata", "annotations"), options
    )
    yield from validate_pod_spec(pod.spec, pod.metadata, _SPEC, options)
    yield from _validate_token_accounts(pod.spec)
    if pod.spec.termination_grace_period_seconds is not None:
        yield from validate_nonnegative(
            pod.spec.termination_grace_period_seconds,
            _SPEC.child("terminationGracePeriodSeconds"),
        )
    for wire, containers in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
    ):
        for position, container in enumerate(containers):
            yield from validate_image_spacing(container, _SPEC.child(wire).index(position))


def validate_pod_template_spec(
    template: PodTemplateSpec,
    path: Path,
    old: PodTemplateSpec | None = None,
    *,
    allow_privileged: bool = True,
) -> FieldErrors:
    """Validate the template of a workload; *old* is the stored one, which may break newer rules."""
    options = template_options(old, allow_privileged=allow_privileged)
    metadata, spec, here = template.metadata, template.spec, path.child("spec")
    # As in Kubernetes, the paths of metadata lack their own name.
    annotations = path.child("annotations")
    yield from validate_labels(metadata.labels, path.child("labels"))
    yield from validate_annotations(metadata.annotations, annotations)
    yield from validate_pod_annotations(metadata.annotations, spec, annotations, options)
    yield from validate_pod_spec(spec, None, here, options)
    yield from validate_profiles_agree(metadata.annotations, spec, here)
    if spec.ephemeral_containers:
        rule = "ephemeral containers not allowed in pod template"
        yield forbidden(here.child("ephemeralContainers"), rule)


def _validate_token_accounts(spec: PodSpec) -> FieldErrors:
    """Validate that a pod with a token has the service account that the token is for."""
    if spec.service_account_name:
        return
    for position, volume in enumerate(spec.volumes):
        here = _SPEC.child("volumes").index(position).child("projected", "sources")
        for index, source in enumerate(volume.projected.sources if volume.projected else ()):
            if source.service_account_token is not None:
                rule = "must not be specified when serviceAccountName is not set"
                yield forbidden(here.index(index).child("serviceAccountToken"), rule)
