"""CronJob: jobs that start at the times of a schedule."""

from typing import Final

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32
from apis.batch.v1.job import JobSpec
from apis.core.v1.references import ObjectReference

ALLOW: Final = "Allow"
FORBID: Final = "Forbid"
REPLACE: Final = "Replace"


class JobTemplateSpec(Model):
    """The jobs that a cron job creates."""

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta, proto=1, doc="Labels and annotations of the jobs."
    )
    spec: JobSpec = field(default_factory=JobSpec, proto=2, doc="Desired behavior of the jobs.")


class CronJobSpec(Model):
    """Desired behavior of a cron job."""

    schedule: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "When jobs start, in the format of cron: minute, hour, day of the month, month,"
            " day of the week, as in `30 2 * * 1-5`, or a name such as `@daily`. Required."
        ),
    )
    time_zone: str | None = field(
        None,
        proto=8,
        doc=(
            "Name of the time zone of the schedule, such as `Europe/Paris`. By default that"
            " of the controller."
        ),
    )
    starting_deadline_seconds: int | None = field(
        None,
        proto=2,
        doc=(
            "Seconds by which a job may start late. A job that misses its deadline counts"
            " as failed."
        ),
    )
    concurrency_policy: str = field(
        "",
        proto=3,
        known=("Allow", "Forbid", "Replace"),
        publish_enum=True,
        doc=(
            "Whether jobs may overlap: Allow (the default) lets them, Forbid skips the new"
            " job, Replace ends the running one."
        ),
    )
    suspend: bool | None = field(
        None,
        proto=4,
        doc=(
            "Whether no further jobs are started. Running jobs are not affected. False by default."
        ),
    )
    job_template: JobTemplateSpec = field(
        default_factory=JobTemplateSpec, proto=5, required=True, doc="Jobs that are created."
    )
    successful_jobs_history_limit: Int32 | None = field(
        None, proto=6, doc="Number of completed jobs that are kept, 3 by default."
    )
    failed_jobs_history_limit: Int32 | None = field(
        None, proto=7, doc="Number of failed jobs that are kept, 1 by default."
    )


class CronJobStatus(Model):
    """Observed state of a cron job."""

    active: list[ObjectReference] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Jobs that are running."
    )
    last_schedule_time: Time | None = field(None, proto=4, doc="Time when a job was last started.")
    last_successful_time: Time | None = field(
        None, proto=5, doc="Time when a job was last completed."
    )


class CronJob(Object):
    """CronJob starts a job at the times of a schedule."""

    spec: CronJobSpec = field(
        default_factory=CronJobSpec, proto=2, required=True, doc="Desired behavior of the cron job."
    )
    status: CronJobStatus = field(
        default_factory=CronJobStatus, proto=3, doc="Observed state of the cron job."
    )
