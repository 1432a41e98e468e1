"""Validation of Jobs; their policies are in `job_policies`, their status in `job_status`."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required, too_long
from apimachinery.meta.internal_form import internal_form
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.names import (
    byte_length,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_http_path,
)
from apimachinery.selectors.label_selector import try_label_selector
from apis.apps.validation.workloads import (
    validate_counts,
    validate_template_labels,
    validate_unchanged,
)
from apis.batch.v1.job import (
    FAILED,
    INDEXED,
    NAME_LABELS,
    NON_INDEXED,
    TERMINATING_OR_FAILED,
    UID_LABELS,
    Job,
    JobSpec,
)
from apis.batch.validation.job_policies import (
    validate_failure_policy,
    validate_success_policy,
)
from apis.batch.validation.job_template_update import validate_template_update
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.validation.pod.pod_creation import validate_pod_template_spec

MAX_PARALLELISM: Final = 100_000
"""For indexed jobs, whose status lists completed indexes."""
MAX_FAILED_INDEXES: Final = 100_000
MANY_COMPLETIONS: Final = 100_000
"""Above it, indexed jobs with a backoff limit per index have smaller limits."""
MAX_PARALLELISM_OF_MANY: Final = 10_000
MAX_FAILED_INDEXES_OF_MANY: Final = 10_000
MAX_MANAGED_BY: Final = 63

_SPEC: Final = Path("spec")


def validate_job(job: Job) -> FieldErrors:
    yield from _validate_generated_selector(job)
    yield from _validate_with_selector(job.spec, None)
    yield from _validate_host_names(job)


def validate_job_update(new: Job, old: Job) -> FieldErrors:
    spec, before = new.spec, old.spec
    yield from _validate_with_selector(spec, before.template)
    yield from _validate_completions_update(spec, before)
    yield from validate_unchanged(spec.selector, before.selector, _SPEC.child("selector"))
    yield from validate_template_update(new, old, _SPEC.child("template"))
    for name, value, stored in (
        ("completionMode", spec.completion_mode, before.completion_mode),
        ("podFailurePolicy", spec.pod_failure_policy, before.pod_failure_policy),
        ("backoffLimitPerIndex", spec.backoff_limit_per_index, before.backoff_limit_per_index),
        ("managedBy", spec.managed_by, before.managed_by),
        ("successPolicy", spec.success_policy, before.success_policy),
    ):
        yield from validate_unchanged(value, stored, _SPEC.child(name))
    yield from _validate_host_names(new)


def validate_job_spec(spec: JobSpec, path: Path, old: PodTemplateSpec | None) -> FieldErrors:
    """Validate a job, or the template of one; *old* is the stored template of its pods."""
    yield from _validate_numbers(spec, path)
    yield from _validate_managed_by(spec, path.child("managedBy"))
    yield from _validate_completion_mode(spec, path)
    if spec.pod_failure_policy is not None:
        yield from validate_failure_policy(spec, path.child("podFailurePolicy"))
    if spec.success_policy is not None:
        success_path = path.child("successPolicy")
        if spec.completion_mode == INDEXED:
            yield from validate_success_policy(spec, success_path)
        else:
            value = internal_form(spec.success_policy)
            yield invalid(success_path, value, "requires indexed completion mode")
    yield from _validate_replacement(spec, path.child("podReplacementPolicy"))
    yield from validate_pod_template_spec(spec.template, path.child("template"), old)
    yield from _validate_restart_policy(spec, path.child("template", "spec", "restartPolicy"))


def _validate_generated_selector(job: Job) -> FieldErrors:
    """Validate that a client has not replaced the labels and the selector that are generated."""
    if job.spec.manual_selector or job.spec.selector is None:
        return
    expected = {
        UID_LABELS[0]: job.metadata.uid,
        NAME_LABELS[0]: job.metadata.name,
        UID_LABELS[1]: job.metadata.uid,
        NAME_LABELS[1]: job.metadata.name,
    }
    labels, path = job.spec.template.metadata.labels, _SPEC.child("template", "metadata", "labels")
    for name, value in expected.items():
        if name not in labels:
            yield required(path.key(name), f"must be '{value}'")
        elif labels[name] != value:
            yield invalid(path.key(name), labels, f"must be '{value}'")
    selector = try_label_selector(job.spec.selector)
    if selector is not None and not selector.matches(expected):
        rule = "`selector` not auto-generated"
        yield invalid(_SPEC.child("selector"), job.spec.selector, rule)


def _validate_with_selector(spec: JobSpec, old: PodTemplateSpec | None) -> FieldErrors:
    yield from validate_job_spec(spec, _SPEC, old)
    if spec.selector is None:
        yield required(_SPEC.child("selector"))
    yield from validate_label_selector(spec.selector, _SPEC.child("selector"))
    selector = try_label_selector(spec.selector)
    if selector is not None:
        yield from validate_template_labels(spec.template, selector, _SPEC.child("template"))


def _validate_host_names(job: Job) -> FieldErrors:
    """Validate that the pods of an indexed job get host names that are DNS labels."""
    completions = job.spec.completions
    if job.spec.completion_mode != INDEXED or not completions or completions < 0:
        return
    longest = f"{job.metadata.name}-{completions - 1}"
    if is_dns1123_label(longest):
        rule = f"will not able to create pod with invalid DNS label: {longest}"
        yield invalid(Path("metadata", "name"), job.metadata.name, rule)


def _validate_numbers(spec: JobSpec, path: Path) -> FieldErrors:
    yield from validate_counts(
        {
            "parallelism": spec.parallelism,
            "completions": spec.completions,
            "activeDeadlineSeconds": spec.active_deadline_seconds,
            "backoffLimit": spec.backoff_limit,
            "ttlSecondsAfterFinished": spec.ttl_seconds_after_finished,
            "backoffLimitPerIndex": spec.backoff_limit_per_index,
            "maxFailedIndexes": spec.max_failed_indexes,
        },
        path,
    )
    if spec.max_failed_indexes is not None and spec.backoff_limit_per_index is None:
        yield required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")


def _validate_managed_by(spec: JobSpec, path: Path) -> FieldErrors:
    if spec.managed_by is None:
        return
    domain, _, rest = spec.managed_by.partition("/")
    if not spec.managed_by:
        yield required(path)
    elif not domain or not rest:
        rule = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid(path, spec.managed_by, rule)
    else:
        for value, check in ((domain, is_dns1123_subdomain), (rest, is_http_path)):
            for error in check(value):
                yield invalid(path, value, error)
    if byte_length(spec.managed_by) > MAX_MANAGED_BY:
        yield too_long(path, MAX_MANAGED_BY)


def _validate_completion_mode(spec: JobSpec, path: Path) -> FieldErrors:
    mode = spec.completion_mode
    if mode is not None and mode not in (NON_INDEXED, INDEXED):
        yield not_supported(path.child("completionMode"), mode, (NON_INDEXED, INDEXED))
    if mode == INDEXED:
        yield from _validate_indexed(spec, path)
        yield from _validate_many_completions(spec, path)
    if mode in (None, NON_INDEXED):
        for name, value in (
            ("backoffLimitPerIndex", spec.backoff_limit_per_index),
            ("maxFailedIndexes", spec.max_failed_indexes),
        ):
            if value is not None:
                yield invalid(path.child(name), value, "requires indexed completion mode")


def _validate_indexed(spec: JobSpec, path: Path) -> FieldErrors:
    parallelism, failed = spec.parallelism, spec.max_failed_indexes
    if spec.completions is None:
        yield required(path.child("completions"), f"when completion mode is {INDEXED}")
    if parallelism is not None and parallelism > MAX_PARALLELISM:
        rule = f"must be less than or equal to {MAX_PARALLELISM} when completion mode is {INDEXED}"
        yield invalid(path.child("parallelism"), parallelism, rule)
    if failed is None:
        return
    if spec.completions is not None and failed > spec.completions:
        rule = "must be less than or equal to completions"
        yield invalid(path.child("maxFailedIndexes"), failed, rule)
    if failed > MAX_FAILED_INDEXES:
        rule = f"must be less than or equal to {MAX_FAILED_INDEXES}"
        yield invalid(path.child("maxFailedIndexes"), failed, rule)


def _validate_many_completions(spec: JobSpec, path: Path) -> FieldErrors:
    completions, per_index = spec.completions, spec.backoff_limit_per_index
    if completions is None or completions <= MANY_COMPLETIONS or per_index is None:
        return
    if spec.max_failed_indexes is None:
        rule = f"must be specified when completions is above {MANY_COMPLETIONS}"
        yield required(path.child("maxFailedIndexes"), rule)
    for name, value, limit in (
        ("parallelism", spec.parallelism, MAX_PARALLELISM_OF_MANY),
        ("maxFailedIndexes", spec.max_failed_indexes, MAX_FAILED_INDEXES_OF_MANY),
    ):
        if value is not None and value > limit:
            rule = (
                f"must be less than or equal to {limit} when completions are above"
                f" {MANY_COMPLETIONS} and used with backoff limit per index"
            )
            yield invalid(path.child(name), value, rule)


def _validate_replacement(spec: JobSpec, path: Path) -> FieldErrors:
    policy = spec.pod_replacement_policy
    if policy is None:
        return
    strict = spec.pod_failure_policy is not None
    supported = (FAILED,) if strict else (FAILED, TERMINATING_OR_FAILED)
    if policy not in supported:
        yield not_supported(path, policy, supported)


def _validate_restart_policy(spec: JobSpec, path: Path) -> FieldErrors:
    policy = spec.template.spec.restart_policy
    if policy in ("", "Always"):
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(path, policy, ("OnFailure", "Never"))
    elif spec.pod_failure_policy is not None and policy != "Never":
        rule = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid(path, policy, rule)


def _validate_completions_update(spec: JobSpec, old: JobSpec) -> FieldErrors:
    path = _SPEC.child("completions")
    if spec.completion_mode != INDEXED:
        yield from validate_unchanged(spec.completions, old.completions, path)
    elif spec.completions not in (old.completions, None) and spec.completions != spec.parallelism:
        rule = "can only be modified in tandem with spec.parallelism"
        yield invalid(path, spec.completions, rule)
