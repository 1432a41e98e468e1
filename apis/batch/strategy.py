"""Strategies of Jobs and CronJobs."""

from collections.abc import Iterable, Iterator

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.meta.types import LabelSelector
from apimachinery.names import is_dns1123_label
from apis.batch.v1.cron_job import CronJob
from apis.batch.v1.job import INDEXED, NAME_LABELS, UID_LABEL, UID_LABELS, Job, JobSpec
from apis.batch.validation.cron_job import validate_cron_job, validate_cron_job_update
from apis.batch.validation.job import (
    MANY_COMPLETIONS,
    MAX_PARALLELISM_OF_MANY,
    validate_job,
    validate_job_update,
)
from apis.batch.validation.job_status import validate_job_status_update
from apis.core.strategy.pod_disabled_fields import drop_disabled_template_fields
from apis.core.strategy.pod_warnings import template_warnings
from apiserver import Strategy


class JobStrategy(Strategy[Job]):
    """The selector and the labels of the pods are generated from the UID and the name.

    As in Kubernetes, pods of a deleted job are kept unless the deletion says otherwise.
    """

    qualified_finalizers = True
    orphans_by_default = True
    status_updates_metadata = True
    deletion_warning = (
        "child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
        " this warning"
    )

    def prepare_for_create(self, obj: Job) -> None:
        _drop_disabled_fields(obj.spec, None)
        if not obj.spec.manual_selector:
            _generate_selector(obj)

    def prepare_for_update(self, new: Job, old: Job) -> None:
        _drop_disabled_fields(new.spec, old.spec)

    def validate(self, obj: Job) -> FieldErrors:
        yield from validate_job(obj)

    def validate_update(self, new: Job, old: Job) -> FieldErrors:
        yield from validate_job_update(new, old)

    def validate_status_update(self, new: Job, old: Job) -> FieldErrors:
        yield from validate_job_status_update(new, old)

    def warnings(self, obj: Job, old: Job | None = None) -> Iterable[str]:
        if old is None:
            yield from _name_warnings(obj.metadata.name)
        if old is None or obj.metadata.generation != old.metadata.generation:
            yield from _spec_warnings(obj.spec, Path("spec"))


class CronJobStrategy(Strategy[CronJob]):
    """Schedules with a time zone of their own are kept, and warned about."""

    qualified_finalizers = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: CronJob) -> None:
        _drop_disabled_fields(obj.spec.job_template.spec, None)

    def prepare_for_update(self, new: CronJob, old: CronJob) -> None:
        _drop_disabled_fields(new.spec.job_template.spec, old.spec.job_template.spec)

    def validate(self, obj: CronJob) -> FieldErrors:
        yield from validate_cron_job(obj)

    def validate_update(self, new: CronJob, old: CronJob) -> FieldErrors:
        yield from validate_cron_job_update(new, old)

    def warnings(self, obj: CronJob, old: CronJob | None = None) -> Iterable[str]:
        if old is None:
            yield from _name_warnings(obj.metadata.name)
        if old is None or obj.metadata.generation != old.metadata.generation:
            path = Path("spec", "jobTemplate", "spec")
            yield from _spec_warnings(obj.spec.job_template.spec, path)
        if old is not None and "TZ" in obj.spec.schedule:
            yield (
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see"
                " https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more"
                " details"
            )


def _generate_selector(job: Job) -> None:
    """Label the pods with the name and the UID of their job, and select them by the UID.

    Labels that a client has set are kept: validation refuses those that differ.
    """
    labels = job.spec.template.metadata.labels
    # Defaulting shares the labels; those that the client has set stay as they are, even if equal.
    inherits = not job.metadata.labels or job.metadata.labels is labels
    for name in NAME_LABELS:
        labels.setdefault(name, job.metadata.name)
    for name in UID_LABELS:
        labels.setdefault(name, job.metadata.uid)
    if inherits:
        job.metadata.labels = dict(labels)
    if job.spec.selector is None:
        job.spec.selector = LabelSelector()
    job.spec.selector.match_labels.setdefault(UID_LABEL, job.metadata.uid)


def _drop_disabled_fields(spec: JobSpec, old: JobSpec | None) -> None:
    """Drop fields that Kubernetes does not enable by default, except those that *old* uses."""
    if old is None or old.scheduling is None:
        spec.scheduling = None
    drop_disabled_template_fields(spec.template, None if old is None else old.template)


def _name_warnings(name: str) -> Iterator[str]:
    if errors := is_dns1123_label(name):
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in"
            f" surprising behavior; a DNS label is recommended: [{' '.join(errors)}]"
        )


def _spec_warnings(spec: JobSpec, path: Path) -> Iterator[str]:
    completions, parallelism = spec.completions or 0, spec.parallelism or 0
    many = completions > MANY_COMPLETIONS and parallelism > MAX_PARALLELISM_OF_MANY
    if spec.completion_mode == INDEXED and many:
        yield (
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a"
            " parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes"
            " when a big number of indexes fail"
        )
    yield from template_warnings(spec.template, path.child("template"))
