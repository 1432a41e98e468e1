"""Validation of CronJobs; schedules are parsed in `cron_schedule`."""

import re
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apis.apps.validation.workloads import validate_counts
from apis.batch.v1.cron_job import ALLOW, FORBID, REPLACE, CronJob, CronJobSpec, JobTemplateSpec
from apis.batch.validation.cron_schedule import InvalidSchedule, check_schedule, is_time_zone
from apis.batch.validation.job import validate_job_spec
from apis.core.v1.pod_template import PodTemplateSpec

MAX_NAME_LENGTH: Final = 52
"""A job has the name of its cron job, a dash and ten digits, and is a DNS label."""

_SPEC: Final = Path("spec")
_POLICIES: Final = (ALLOW, FORBID, REPLACE)
_ZONE_PART: Final = re.compile(r"[A-Za-z.\-_0-9+]{1,14}", re.ASCII)


def validate_cron_job(cron_job: CronJob) -> FieldErrors:
    yield from _validate_spec(cron_job.spec, None)
    if len(cron_job.metadata.name) > MAX_NAME_LENGTH:
        rule = f"must be no more than {MAX_NAME_LENGTH} characters"
        yield invalid(Path("metadata", "name"), cron_job.metadata.name, rule)


def validate_cron_job_update(new: CronJob, old: CronJob) -> FieldErrors:
    yield from _validate_spec(new.spec, old.spec)


def _validate_spec(spec: CronJobSpec, old: CronJobSpec | None) -> FieldErrors:
    path = _SPEC.child("schedule")
    if spec.schedule:
        yield from _validate_schedule(spec, old, path)
    yield from validate_counts({"startingDeadlineSeconds": spec.starting_deadline_seconds}, _SPEC)
    if spec.time_zone is not None and (old is None or spec.time_zone != old.time_zone):
        yield from _validate_time_zone(spec.time_zone, _SPEC.child("timeZone"))
    policy = spec.concurrency_policy
    if policy not in _POLICIES:
        yield not_supported(_SPEC.child("concurrencyPolicy"), policy, _POLICIES)
    template = old.job_template.spec.template if old else None
    yield from _validate_job_template(spec.job_template, _SPEC.child("jobTemplate"), template)
    limits = {
        "successfulJobsHistoryLimit": spec.successful_jobs_history_limit,
        "failedJobsHistoryLimit": spec.failed_jobs_history_limit,
    }
    yield from validate_counts(limits, _SPEC)
    if not spec.schedule:
        yield required(path)


def _validate_schedule(spec: CronJobSpec, old: CronJobSpec | None, path: Path) -> FieldErrors:
    try:
        check_schedule(spec.schedule)
    except InvalidSchedule as error:
        yield invalid(path, spec.schedule, str(error))
    if "TZ" not in spec.schedule:
        return
    if old is None or "TZ" not in old.schedule:
        rule = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid(path, spec.schedule, rule)
    elif spec.time_zone is not None:
        rule = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        yield invalid(path, spec.schedule, rule)


def _validate_time_zone(zone: str, path: Path) -> FieldErrors:
    if not zone:
        yield invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    if not all(map(_is_zone_part, zone.split("/"))):
        yield invalid(path, zone, f"unknown time zone {zone}")
        return
    if zone.lower() == "local":
        rule = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        yield invalid(path, zone, rule)
    if zone != "Local" and not is_time_zone(zone):
        yield invalid(path, zone, f"unknown time zone {zone}")


def _is_zone_part(part: str) -> bool:
    if part in (".", "..") or part.startswith("-"):
        return False
    return _ZONE_PART.fullmatch(part) is not None


def _validate_job_template(
    template: JobTemplateSpec, path: Path, old: PodTemplateSpec | None
) -> FieldErrors:
    spec, spec_path = template.spec, path.child("spec")
    yield from validate_job_spec(spec, spec_path, old)
    if spec.selector is not None:
        rule = "`selector` will be auto-generated"
        yield invalid(spec_path.child("selector"), spec.selector, rule)
    if spec.manual_selector:
        yield not_supported(spec_path.child("manualSelector"), True, ("nil", "false"))
