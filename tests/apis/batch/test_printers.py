"""Jobs and CronJobs as `kubectl get` shows them, and the names of their resources."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apis.batch.install import BATCH
from apis.batch.printers import CRON_JOB_COLUMNS, JOB_COLUMNS, completions, duration, job_status
from apis.batch.register import job_field_label
from tests.apis.batch.jobs import UID, created, read_cron

START = "2026-01-01T00:00:00Z"


def conditions(*true: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True"} for kind in true]}


@pytest.mark.parametrize(
    ("status", "cell"),
    [
        ({}, "Running"),
        (conditions("SuccessCriteriaMet", "Complete"), "Complete"),
        (conditions("FailureTarget", "Failed"), "Failed"),
        (conditions("Suspended"), "Suspended"),
        (conditions("FailureTarget"), "FailureTarget"),
        (conditions("SuccessCriteriaMet"), "SuccessCriteriaMet"),
        ({"conditions": [{"type": "Suspended", "status": "False"}]}, "Running"),
    ],
)
def test_the_status_of_a_job(status: dict[str, Any], cell: str) -> None:
    assert job_status(created({}, status)) == cell


def test_a_job_that_is_being_deleted() -> None:
    deleted = datetime(2026, 1, 1, tzinfo=UTC)
    job = created({}, conditions("Suspended"))
    job.metadata.deletion_timestamp = deleted

    assert job_status(job) == "Terminating"


@pytest.mark.parametrize(
    ("spec", "cell"),
    [
        ({"completions": 3}, "2/3"),
        ({"parallelism": 1}, "2/1"),
        ({"parallelism": 4}, "2/1 of 4"),
    ],
)
def test_completions(spec: dict[str, Any], cell: str) -> None:
    assert completions(created(spec, {"succeeded": 2})) == cell


@pytest.mark.parametrize(
    ("status", "cell"),
    [
        ({}, ""),
        ({"startTime": START}, datetime(2026, 1, 1, tzinfo=UTC)),
        ({"startTime": START, "completionTime": "2026-01-01T00:05:30Z"}, "5m30s"),
    ],
)
def test_the_duration_of_a_job(status: dict[str, Any], cell: object) -> None:
    assert duration(created({}, status)) == cell


def test_wide_columns_of_jobs() -> None:
    cells = {column.name: column.cell(created()) for column in JOB_COLUMNS if column.priority}

    assert cells == {
        "Containers": "sum",
        "Images": "sum:1",
        "Selector": f"batch.kubernetes.io/controller-uid={UID}",
    }


def test_columns_of_cron_jobs() -> None:
    cron_job = read_cron({"timeZone": "Europe/Paris", "suspend": True})
    plain = read_cron()

    assert {column.name: column.cell(cron_job) for column in CRON_JOB_COLUMNS} == {
        "Schedule": "0 3 * * *",
        "Timezone": "Europe/Paris",
        "Suspend": "True",
        "Active": 0,
        "Last Schedule": "<none>",
        "Containers": "sum",
        "Images": "sum:1",
        "Selector": "<none>",
    }
    assert [column.cell(plain) for column in CRON_JOB_COLUMNS][1:3] == ["<none>", "False"]


def test_names_are_those_of_kubernetes() -> None:
    assert [(r.name, r.short_names, r.categories) for r in BATCH.resources] == [
        ("cronjobs", ("cj",), ("all",)),
        ("jobs", (), ("all",)),
    ]


def test_jobs_are_selected_by_their_successes() -> None:
    assert job_field_label("status.successful", "1") == ("status.successful", "1")
    with pytest.raises(ValueError, match=r'field label "status\.failed" not supported for Job'):
        job_field_label("status.failed", "1")
