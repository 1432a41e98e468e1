"""Exceptions from pod validation for an object that was stored before the rules became stricter.

An update may keep what the stored object has. Each function here finds one thing in a stored spec
that today's rules refuse.
"""

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import is_label_value
from apis.core.pod_containers import all_containers, is_sidecar
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.v1.scheduling import PodAffinity, PodAntiAffinity
from apis.core.validation.paths import validate_unreserved_path
from apis.core.validation.pod.affinity import validate_match_label_keys, validate_term_selectors
from apis.core.validation.pod.annotations import has_valid_deletion_cost
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.restart_policies import RESTART_CONTAINER
from apis.core.validation.pod.security_context import (
    grants_system_administration,
    is_host_sysctl,
)
from apis.core.validation.resource_names import (
    is_divisible_huge_page_value,
    is_huge_page_resource,
)

_NOWHERE = Path()


def pod_options(old: Pod | None, *, allow_privileged: bool = True) -> PodValidationOptions:
    """Return the options for a pod that is created, or that replaces *old*."""
    if old is None:
        return PodValidationOptions(in_pod=True, allow_privileged=allow_privileged)
    return _options(old.spec, old.metadata, in_pod=True, allow_privileged=allow_privileged)


def template_options(
    old: PodTemplateSpec | None, *, allow_privileged: bool = True
) -> PodValidationOptions:
    """Return the options for a template that is created, or that replaces *old*."""
    if old is None:
        return PodValidationOptions(allow_privileged=allow_privileged)
    return _options(old.spec, old.metadata, in_pod=False, allow_privileged=allow_privileged)


def _options(
    spec: PodSpec, metadata: ObjectMeta, *, in_pod: bool, allow_privileged: bool
) -> PodValidationOptions:
    return PodValidationOptions(
        in_pod=in_pod,
        allow_privileged=allow_privileged,
        allow_invalid_deletion_cost=not has_valid_deletion_cost(metadata.annotations),
        allow_invalid_affinity_values=_has_invalid_affinity_values(spec),
        allow_invalid_node_affinity_values=_has_invalid_node_affinity_values(spec),
        allow_indivisible_huge_pages=_has_indivisible_huge_pages(spec),
        allow_invalid_spread_selectors=_has_invalid_spread_selectors(spec),
        allow_selected_match_label_keys=_has_selected_match_label_keys(spec),
        allow_nonlocal_token_paths=_has_nonlocal_token_paths(spec),
        allow_host_sysctls=_has_host_sysctls(spec),
        allow_restart_of_init_containers=_restarts_init_containers(spec),
        allow_devices_in_user_namespaces=_has_devices_in_user_namespaces(spec),
        allow_empty_image_references=_has_empty_image_references(spec),
        allow_system_administration=any(
            grants_system_administration(container.security_context)
            for container, _ in all_containers(spec, _NOWHERE)
        ),
    )


def _has_invalid_affinity_values(spec: PodSpec) -> bool:
    if spec.affinity is None:
        return False
    affinities = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)
    return any(_has_invalid_terms(affinity) for affinity in affinities if affinity is not None)


def _has_invalid_terms(affinity: PodAffinity | PodAntiAffinity) -> bool:
    terms = [
        *affinity.required_during_scheduling_ignored_during_execution,
        *(
            weighted.pod_affinity_term
            for weighted in affinity.preferred_during_scheduling_ignored_during_execution
        ),
    ]
    return any(_any_error(validate_term_selectors(term, _NOWHERE)) for term in terms)


def _has_invalid_node_affinity_values(spec: PodSpec) -> bool:
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    needed = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return needed is not None and any(
        is_label_value(value)
        for term in needed.node_selector_terms
        for requirement in term.match_expressions
        for value in requirement.values
    )


def _has_indivisible_huge_pages(spec: PodSpec) -> bool:
    quantities = [*spec.overhead.items()]
    for container, _ in all_containers(spec, _NOWHERE):
        quantities += container.resources.limits.items()
        quantities += container.resources.requests.items()
    return any(
        is_huge_page_resource(name) and not is_divisible_huge_page_value(name, quantity)
        for name, quantity in quantities
    )


def _has_invalid_spread_selectors(spec: PodSpec) -> bool:
    return any(
        _any_error(validate_label_selector(constraint.label_selector, _NOWHERE))
        for constraint in spec.topology_spread_constraints
    )


def _has_selected_match_label_keys(spec: PodSpec) -> bool:
    return any(
        _any_error(
            validate_match_label_keys(
                _NOWHERE, constraint.match_label_keys, (), constraint.label_selector
            )
        )
        for constraint in spec.topology_spread_constraints
    )


def _has_nonlocal_token_paths(spec: PodSpec) -> bool:
    return any(
        source.service_account_token is not None
        and _any_error(validate_unreserved_path(source.service_account_token.path, _NOWHERE))
        for volume in spec.volumes
        for source in (volume.projected.sources if volume.projected is not None else ())
    )


def _has_host_sysctls(spec: PodSpec) -> bool:
    sysctls = spec.security_context.sysctls if spec.security_context is not None else ()
    return any(is_host_sysctl(sysctl.name, spec) for sysctl in sysctls)


def _restarts_init_containers(spec: PodSpec) -> bool:
    return any(
        policy.restart_policy == RESTART_CONTAINER
        for container in spec.init_containers
        if not is_sidecar(container)
        for policy in container.resize_policy
    )


def _has_devices_in_user_namespaces(spec: PodSpec) -> bool:
    return spec.host_users is False and any(
        container.volume_devices for container, _ in all_containers(spec, _NOWHERE)
    )


def _has_empty_image_references(spec: PodSpec) -> bool:
    return any(volume.image is not None and not volume.image.reference for volume in spec.volumes)


def _any_error(errors: FieldErrors) -> bool:
    return next(errors, None) is not None
