"""Registration of batch/v1, for clients and servers: kinds, defaults and field labels."""

from collections.abc import Mapping
from typing import Final

from apimachinery.fieldpath import quote
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.batch import GROUP, v1
from apis.batch.v1 import defaults
from apis.core.v1.defaults.pod import POD_DEFAULTS

V1: Final = GroupVersion(GROUP, "v1")

JOB_FIELDS: Final[Mapping[str, str]] = {"status.successful": "status.succeeded"}
"""Field-selector label of jobs -> path of the value."""


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(V1, v1.CronJob, v1.Job, internal=True)
    scheme.add_defaults(
        *POD_DEFAULTS,
        defaults.set_condition_pattern_defaults,
        defaults.set_cron_job_spec_defaults,
        defaults.set_job_defaults,
    )
    scheme.add_field_labels(V1.with_kind("Job"), job_field_label)


def job_field_label(label: str, value: str) -> tuple[str, str]:
    """Return a field label of jobs with its value; raises ValueError in Kubernetes' words."""
    if label not in ("metadata.name", "metadata.namespace", *JOB_FIELDS):
        raise ValueError(f"field label {quote(label)} not supported for Job")
    return label, value
