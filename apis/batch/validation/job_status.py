"""Validation of the status of a job.

Other controllers than the one of Kubernetes may manage a job, and clients rely on its conditions:
a finished job stays finished, counters do not decrease, and times are consistent. A rule applies to
an update that changes one of its fields, so an inconsistent status can still be updated otherwise.
"""

from typing import Final

from apimachinery.fieldpath import (
    NULL,
    OMITTED,
    FieldErrors,
    Path,
    duplicate,
    immutable,
    invalid,
    required,
)
from apimachinery.meta.internal_form import internal_form
from apimachinery.model.semantic_equality import equal
from apimachinery.scalars.time import format_time
from apis.apps.validation.workloads import validate_counts
from apis.batch.v1.job import (
    COMPLETE,
    FAILED,
    FAILURE_TARGET,
    INDEXED,
    SUCCESS_CRITERIA_MET,
    SUSPENDED,
    Job,
    JobStatus,
    UncountedTerminatedPods,
)
from apis.batch.validation.indexes import InvalidIndexes, common_index, count_indexes

_STATUS: Final = Path("status")
_CONDITIONS: Final = _STATUS.child("conditions")


def validate_job_status_update(new: Job, old: Job) -> FieldErrors:
    status = new.status
    yield from validate_counts(
        {
            "active": status.active,
            "succeeded": status.succeeded,
            "failed": status.failed,
            "ready": status.ready,
            "terminating": status.terminating,
        },
        _STATUS,
    )
    if status.uncounted_terminated_pods is not None:
        yield from _validate_uncounted(status.uncounted_terminated_pods)
    yield from _validate_outcome(status, old.status)
    yield from _validate_times(status, old.status)
    yield from _validate_outcome_targets(new, old)
    yield from _validate_finished(new, old)
    yield from _validate_indexes(new, old)
    yield from _validate_pod_counts(status, old.status)
    yield from _validate_success(new)
    yield from _validate_transition(new, old)


def is_condition_true(status: JobStatus, kind: str) -> bool:
    return _has_condition(status, kind, "True")


def is_finished(status: JobStatus) -> bool:
    return is_condition_true(status, COMPLETE) or is_condition_true(status, FAILED)


def _has_condition(status: JobStatus, kind: str, value: str) -> bool:
    return any(c.type == kind and c.status == value for c in status.conditions)


def _changes(new: JobStatus, old: JobStatus, *kinds: str) -> bool:
    """Return whether an update sets or unsets one of the conditions."""
    return any(is_condition_true(new, kind) != is_condition_true(old, kind) for kind in kinds)


def _validate_uncounted(pods: UncountedTerminatedPods) -> FieldErrors:
    seen: set[str] = set()
    for name, uids in (("succeeded", pods.succeeded), ("failed", pods.failed)):
        for position, uid in enumerate(uids):
            path = _STATUS.child("uncountedTerminatedPods", name).index(position)
            if not uid:
                yield invalid(path, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(path, uid)
            seen.add(uid)


def _validate_outcome(status: JobStatus, old: JobStatus) -> FieldErrors:
    """Validate that a job has not both succeeded and failed."""
    if not is_condition_true(status, COMPLETE):
        return
    for kind in (FAILED, FAILURE_TARGET):
        if is_condition_true(status, kind) and _changes(status, old, COMPLETE, kind):
            rule = f"cannot set Complete=True and {kind}=true conditions"
            yield invalid(_CONDITIONS, OMITTED, rule)


def _validate_times(status: JobStatus, old: JobStatus) -> FieldErrors:
    path, complete = _STATUS.child("completionTime"), is_condition_true(status, COMPLETE)
    started, completed = status.start_time, status.completion_time
    completion_changed = completed != old.completion_time
    if completion_changed or _changes(status, old, COMPLETE):
        if completed is not None and not complete:
            rule = "cannot set completionTime when there is no Complete=True condition"
            yield invalid(path, format_time(completed), rule)
        if completed is None and complete:
            yield required(path, "completionTime is required for Complete jobs")
    if (
        (completion_changed or started != old.start_time)
        and started is not None
        and completed is not None
        and completed < started
    ):
        yield invalid(path, format_time(completed), "must be equal to or after `startTime`")


def _validate_outcome_targets(new: Job, old: Job) -> FieldErrors:
    """Validate that a finished job has the condition that precedes its last one."""
    status, before = new.status, old.status
    failed_indexes_changed = status.failed_indexes != before.failed_indexes
    if (
        (failed_indexes_changed or _changes(status, before, FAILED))
        and is_condition_true(status, FAILED)
        and not is_condition_true(status, FAILURE_TARGET)
    ):
        rule = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield invalid(_CONDITIONS, OMITTED, rule)
    if (
        _changes(status, before, COMPLETE, SUCCESS_CRITERIA_MET)
        and is_condition_true(status, COMPLETE)
        and not is_condition_true(status, SUCCESS_CRITERIA_MET)
    ):
        rule = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield invalid(_CONDITIONS, OMITTED, rule)


def _validate_finished(new: Job, old: Job) -> FieldErrors:
    """Validate that a finished job has started, and has no pods left."""
    status, before = new.status, old.status
    if not is_finished(status):
        return
    finished_now = not is_finished(before)
    if status.active > 0 and (finished_now or status.active != before.active):
        yield invalid(
            _STATUS.child("active"), status.active, "active>0 is invalid for finished job"
        )
    never_runs = new.spec.suspend and new.spec.completions == 0
    start_changed = finished_now or status.start_time != before.start_time
    if status.start_time is None and start_changed and not never_runs:
        yield required(_STATUS.child("startTime"), "startTime is required for finished job")
    uncounted = status.uncounted_terminated_pods
    changed = finished_now or not equal(uncounted, before.uncounted_terminated_pods)
    if changed and uncounted is not None and (uncounted.succeeded or uncounted.failed):
        path = _STATUS.child("uncountedTerminatedPods")
        yield invalid(path, internal_form(uncounted), "must be empty for finished job")


def _validate_indexes(new: Job, old: Job) -> FieldErrors:
    status, spec, completions = new.status, new.spec, new.spec.completions
    completed, failed = status.completed_indexes, status.failed_indexes
    completed_changed = completed != old.status.completed_indexes
    failed_changed = failed != old.status.failed_indexes
    completed_path, failed_path = _STATUS.child("completedIndexes"), _STATUS.child("failedIndexes")
    if completed_changed and completions is not None:
        yield from _validate_index_list(completed, completions, completed_path)
    if failed_changed and completions is not None and spec.backoff_limit_per_index is not None:
        yield from _validate_index_list(failed or "", completions, failed_path)
    if completed_changed and completed and spec.completion_mode != INDEXED:
        rule = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid(completed_path, completed, rule)
    if failed is None:
        return
    if failed_changed and spec.backoff_limit_per_index is None:
        rule = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid(failed_path, failed, rule)
    if (completed_changed or failed_changed) and completions is not None:
        common = common_index(completed, failed, completions)
        if common is not None:
            rule = f"failedIndexes and completedIndexes overlap at index: {common}"
            yield invalid(failed_path, failed, rule)


def _validate_index_list(indexes: str, completions: int, path: Path) -> FieldErrors:
    try:
        count_indexes(indexes, completions)
    except InvalidIndexes as error:
        name = str(path).removeprefix("status.")
        yield invalid(path, indexes, f"error parsing {name}: {error}")


def _validate_pod_counts(status: JobStatus, old: JobStatus) -> FieldErrors:
    terminating, ready = status.terminating, status.ready
    finished_changed = is_finished(status) != is_finished(old)
    if (
        terminating
        and terminating > 0
        and is_finished(status)
        and (finished_changed or terminating != old.terminating)
    ):
        rule = "terminating>0 is invalid for finished job"
        yield invalid(_STATUS.child("terminating"), terminating, rule)
    changed = ready != old.ready or status.active != old.active
    if changed and ready is not None and ready > status.active:
        yield invalid(_STATUS.child("ready"), ready, "cannot set more ready pods than active")


def _validate_success(job: Job) -> FieldErrors:
    status = job.status
    if is_condition_true(status, SUCCESS_CRITERIA_MET):
        for kind in (FAILED, FAILURE_TARGET):
            if is_condition_true(status, kind):
                rule = f"cannot set SuccessCriteriaMet=True and {kind}=true conditions"
                yield invalid(_CONDITIONS, OMITTED, rule)
    elif job.spec.success_policy is not None and is_condition_true(status, COMPLETE):
        rule = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield invalid(_CONDITIONS, OMITTED, rule)


def _validate_transition(new: Job, old: Job) -> FieldErrors:
    """Validate what a status may not become."""
    status, before = new.status, old.status
    for kind in (FAILED, COMPLETE, FAILURE_TARGET):
        if is_condition_true(before, kind) and not is_condition_true(status, kind):
            rule = f"cannot disable the terminal {kind}=True condition"
            yield invalid(_CONDITIONS, OMITTED, rule)
    yield from _validate_counters(new, old)
    yield from _validate_time_changes(new, old)
    met, was_met = (is_condition_true(s, SUCCESS_CRITERIA_MET) for s in (status, before))
    if was_met and not met:
        rule = "cannot disable the SuccessCriteriaMet=True condition"
        yield invalid(_CONDITIONS, OMITTED, rule)
    if is_condition_true(before, COMPLETE) and met and not was_met:
        rule = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield invalid(_CONDITIONS, OMITTED, rule)


def _validate_counters(new: Job, old: Job) -> FieldErrors:
    status, before, spec = new.status, old.status, new.spec
    if status.failed < before.failed:
        rule = "cannot decrease the failed counter"
        yield invalid(_STATUS.child("failed"), status.failed, rule)
    # An indexed job whose parallelism equals its completions can be scaled down.
    elastic = spec.completion_mode == INDEXED and spec.completions == spec.parallelism
    if status.succeeded < before.succeeded and not elastic:
        rule = "cannot decrease the succeeded counter"
        yield invalid(_STATUS.child("succeeded"), status.succeeded, rule)


def _validate_time_changes(new: Job, old: Job) -> FieldErrors:
    status, before = new.status, old.status
    completed, started = status.completion_time, status.start_time
    if completed is not None and before.completion_time not in (None, completed):
        yield immutable(_STATUS.child("completionTime"), format_time(completed))
    resuming = is_condition_true(before, SUSPENDED) and _has_condition(status, SUSPENDED, "False")
    if before.start_time not in (None, started) and not resuming and not new.spec.suspend:
        value = NULL if started is None else format_time(started)
        rule = "field is immutable for unsuspended job once set"
        yield invalid(_STATUS.child("startTime"), value, rule)
