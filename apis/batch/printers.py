"""Printer columns of Jobs and CronJobs."""

from datetime import datetime
from typing import Final

from apimachinery.selectors import label_selector as labels
from apis.apps.printers import images_of, names_of
from apis.batch.v1.cron_job import CronJob
from apis.batch.v1.job import (
    COMPLETE,
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    SUSPENDED,
    Job,
)
from apis.batch.validation.job_status import is_condition_true
from apiserver import Column
from apiserver.views.table import human_duration

_NONE: Final = "<none>"


def job_status(job: Job) -> str:
    """Return the most important condition of a job."""
    for kind in (COMPLETE, FAILED):
        if is_condition_true(job.status, kind):
            return kind
    if job.metadata.deletion_timestamp is not None:
        return "Terminating"
    for kind in (SUSPENDED, FAILURE_TARGET, SUCCESS_CRITERIA_MET):
        if is_condition_true(job.status, kind):
            return kind
    return "Running"


def completions(job: Job) -> str:
    succeeded, parallelism = job.status.succeeded, job.spec.parallelism or 0
    if job.spec.completions is not None:
        return f"{succeeded}/{job.spec.completions}"
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def duration(job: Job) -> datetime | str:
    """Return how long a job took; a time, which is shown as an age, if it still runs."""
    started, completed = job.status.start_time, job.status.completion_time
    if started is None:
        return ""
    if completed is None:
        return started
    return human_duration(int((completed - started).total_seconds()))


def time_zone(cron_job: CronJob) -> str:
    return _NONE if cron_job.spec.time_zone is None else cron_job.spec.time_zone


def suspend(cron_job: CronJob) -> str:
    suspended = cron_job.spec.suspend
    return "<unset>" if suspended is None else str(suspended)


def last_schedule(cron_job: CronJob) -> datetime | str:
    return cron_job.status.last_schedule_time or _NONE


JOB_COLUMNS: Final = (
    Column("Status", job_status, description="Status of the job."),
    Column(
        "Completions", completions, description="Number of successful pods, and of desired ones."
    ),
    Column("Duration", duration, description="How long the job has run, or took."),
    Column(
        "Containers",
        lambda job: names_of(job.spec.template.spec.containers),
        priority=1,
        description="Names of the containers.",
    ),
    Column(
        "Images",
        lambda job: images_of(job.spec.template.spec.containers),
        priority=1,
        description="Images of the containers.",
    ),
    Column(
        "Selector",
        lambda job: labels.format_label_selector(job.spec.selector),
        priority=1,
        description="Label selector of the pods.",
    ),
)

CRON_JOB_COLUMNS: Final = (
    Column(
        "Schedule", lambda cron_job: cron_job.spec.schedule, description="When jobs are started."
    ),
    Column("Timezone", time_zone, description="Time zone of the schedule."),
    Column("Suspend", suspend, type="boolean", description="Whether no jobs are started."),
    Column(
        "Active",
        lambda cron_job: len(cron_job.status.active),
        type="integer",
        description="Number of running jobs.",
    ),
    Column("Last Schedule", last_schedule, description="Time when a job was last started."),
    Column(
        "Containers",
        lambda cron_job: names_of(cron_job.spec.job_template.spec.template.spec.containers),
        priority=1,
        description="Names of the containers.",
    ),
    Column(
        "Images",
        lambda cron_job: images_of(cron_job.spec.job_template.spec.template.spec.containers),
        priority=1,
        description="Images of the containers.",
    ),
    Column(
        "Selector",
        lambda cron_job: labels.format_label_selector(cron_job.spec.job_template.spec.selector),
        priority=1,
        description="Label selector of the pods.",
    ),
)
