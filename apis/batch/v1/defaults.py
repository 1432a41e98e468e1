"""Defaults of batch/v1."""

from typing import Final

from apimachinery.scalars.wire_types import INT32_MAX
from apis.batch.v1.cron_job import ALLOW, CronJobSpec
from apis.batch.v1.job import (
    FAILED,
    NON_INDEXED,
    TERMINATING_OR_FAILED,
    Job,
    JobSpec,
    PodFailurePolicyOnPodConditionsPattern,
)

BACKOFF_LIMIT: Final = 6
SUCCESSFUL_JOBS: Final = 3
FAILED_JOBS: Final = 1


def set_job_defaults(job: Job) -> None:
    """Set the defaults of a job; those of a cron job's template are set when it creates one."""
    _set_counts(job.spec)
    _set_modes(job.spec)
    if not job.metadata.labels:
        # The same map, as in Kubernetes: a strategy that adds labels to the pods adds them to both.
        job.metadata.labels = job.spec.template.metadata.labels


def set_cron_job_spec_defaults(spec: CronJobSpec) -> None:
    spec.concurrency_policy = spec.concurrency_policy or ALLOW
    if spec.suspend is None:
        spec.suspend = False
    if spec.successful_jobs_history_limit is None:
        spec.successful_jobs_history_limit = SUCCESSFUL_JOBS
    if spec.failed_jobs_history_limit is None:
        spec.failed_jobs_history_limit = FAILED_JOBS


def set_condition_pattern_defaults(pattern: PodFailurePolicyOnPodConditionsPattern) -> None:
    pattern.status = pattern.status or "True"


def _set_counts(spec: JobSpec) -> None:
    if spec.parallelism is None:
        if spec.completions is None:
            spec.completions = 1
        spec.parallelism = 1
    if spec.backoff_limit is None:
        unlimited = spec.backoff_limit_per_index is not None
        spec.backoff_limit = INT32_MAX if unlimited else BACKOFF_LIMIT


def _set_modes(spec: JobSpec) -> None:
    if spec.completion_mode is None:
        spec.completion_mode = NON_INDEXED
    if spec.suspend is None:
        spec.suspend = False
    if spec.pod_replacement_policy is None:
        strict = spec.pod_failure_policy is not None
        spec.pod_replacement_policy = FAILED if strict else TERMINATING_OR_FAILED
    if spec.manual_selector is None:
        spec.manual_selector = False
