"""Jobs and cron jobs as tests write them."""

from typing import Any

from apis.batch.strategy import JobStrategy
from apis.batch.v1 import CronJob, Job
from tests.apis.validating import decoded

UID = "b7e1f8d8-0000-4000-8000-000000000000"
LABELS = {
    "job-name": "sum",
    "batch.kubernetes.io/job-name": "sum",
    "controller-uid": UID,
    "batch.kubernetes.io/controller-uid": UID,
}


def template(labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "sum", "image": "sum:1"}], **spec}
    return {"metadata": {"labels": labels or {}}, "spec": pod}


def read(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any
) -> Job:
    """A job as a server reads it."""
    document = {
        "metadata": {"name": "sum", "uid": UID, **meta},
        "spec": {"template": template(), **(spec or {})},
        "status": status or {},
    }
    return decoded(Job, document)


def created(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any
) -> Job:
    """A job as a server stores it."""
    job = read(spec, status, **meta)
    JobStrategy().prepare_for_create(job)
    return job


def read_cron(spec: dict[str, Any] | None = None, **meta: Any) -> CronJob:
    document = {
        "metadata": {"name": "nightly", **meta},
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {"spec": {"template": template()}},
            **(spec or {}),
        },
    }
    return decoded(CronJob, document)
