"""CronJobs: defaults, schedules and time zones, and what else is wrong with one."""

from typing import Any

import pytest

from apis.batch.strategy import CronJobStrategy
from tests.apis.batch.jobs import read_cron, template
from tests.apis.validating import messages

STRATEGY = CronJobStrategy()
NOT_NEGATIVE = "must be greater than or equal to 0"


def errors(**spec: Any) -> list[str]:
    return messages(STRATEGY.validate(read_cron(spec)))


def test_the_smallest_cron_job_gets_its_defaults() -> None:
    spec = read_cron().spec.model_dump(by_alias=True, mode="json")

    job = spec.pop("jobTemplate")["spec"]
    assert set(job) == {"template"}  # a job gets its defaults when it is created
    assert job["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    assert spec == {
        "schedule": "0 3 * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 0-6 1,15 jan-MAR mon",
        "? ? ? ? ?",
        "5/10 * * * *",
        "1,,2 * * * *",
        "@daily",
        "@every 1h30m",
    ],
)
def test_schedules(schedule: str) -> None:
    assert errors(schedule=schedule) == []


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("daily", "expected exactly 5 fields, found 1: [daily]"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* 24 * * *", "end of range (24) above maximum (23): 24"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * 13 *", "end of range (13) above maximum (12): 13"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        (
            "a * * * *",
            'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax',
        ),
        (
            "99999999999999999999 * * * *",
            "failed to parse int from 99999999999999999999: strconv.Atoi: parsing"
            ' "99999999999999999999": value out of range',
        ),
        ("*/-1 * * * *", "negative number (-1) not allowed: -1"),
        ("@often", "unrecognized descriptor: @often"),
        (
            "@every day",
            'failed to parse duration @every day: time: invalid duration "day"',
        ),
    ],
)
def test_schedules_that_cannot_be_parsed(schedule: str, reason: str) -> None:
    assert errors(schedule=schedule) == [f'spec.schedule: Invalid value: "{schedule}": {reason}']


def test_a_schedule_has_no_time_zone_of_its_own() -> None:
    rule = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
    schedule = "TZ=UTC * * * * *"

    assert errors(schedule=schedule) == [f'spec.schedule: Invalid value: "{schedule}": {rule}']
    assert errors(schedule="TZ=0") == [
        'spec.schedule: Invalid value: "TZ=0": invalid schedule format: runtime error: slice'
        " bounds out of range [:-1]",
        f'spec.schedule: Invalid value: "TZ=0": {rule}',
    ]


def test_a_stored_schedule_with_a_time_zone_is_kept() -> None:
    old = read_cron({"schedule": "CRON_TZ=UTC * * * * *"})
    both = read_cron({"schedule": "CRON_TZ=UTC * * * * *", "timeZone": "Europe/Paris"})

    assert messages(STRATEGY.validate_update(old, old)) == []
    assert messages(STRATEGY.validate_update(both, old)) == [
        'spec.schedule: Invalid value: "CRON_TZ=UTC * * * * *":'
        " cannot use both timeZone field and TZ or CRON_TZ in schedule"
    ]
    (warning,) = STRATEGY.warnings(old, old)
    assert warning.startswith("cannot use TZ or CRON_TZ in spec.spec.schedule")


@pytest.mark.parametrize("zone", ["Europe/Paris", "UTC", "Etc/GMT+5"])
def test_time_zones(zone: str) -> None:
    assert errors(timeZone=zone) == []


@pytest.mark.parametrize(
    ("zone", "rule"),
    [
        ("", "timeZone must be nil or non-empty string"),
        ("Mars/Olympus", "unknown time zone Mars/Olympus"),
        ("../etc/passwd", "unknown time zone ../etc/passwd"),
        ("Europe//Paris", "unknown time zone Europe//Paris"),
        ("Europe", "unknown time zone Europe"),
        (
            "Local",
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        ),
    ],
)
def test_time_zones_that_do_not_exist(zone: str, rule: str) -> None:
    assert errors(timeZone=zone) == [f'spec.timeZone: Invalid value: "{zone}": {rule}']


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"schedule": ""}, ["spec.schedule: Required value"]),
        (
            {"concurrencyPolicy": "Queue"},
            [
                'spec.concurrencyPolicy: Unsupported value: "Queue":'
                ' supported values: "Allow", "Forbid", "Replace"'
            ],
        ),
        (
            {
                "startingDeadlineSeconds": -1,
                "successfulJobsHistoryLimit": -2,
                "failedJobsHistoryLimit": -3,
            },
            [
                f"spec.startingDeadlineSeconds: Invalid value: -1: {NOT_NEGATIVE}",
                f"spec.successfulJobsHistoryLimit: Invalid value: -2: {NOT_NEGATIVE}",
                f"spec.failedJobsHistoryLimit: Invalid value: -3: {NOT_NEGATIVE}",
            ],
        ),
        (
            {
                "jobTemplate": {
                    "spec": {
                        "template": template(restartPolicy="Always"),
                        "manualSelector": True,
                        "selector": {"matchLabels": {"a": "b"}},
                    }
                }
            },
            [
                "spec.jobTemplate.spec.template.spec.restartPolicy: Required value:"
                ' valid values: "OnFailure", "Never"',
                'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}:'
                " `selector` will be auto-generated",
                "spec.jobTemplate.spec.manualSelector: Unsupported value: true:"
                ' supported values: "nil", "false"',
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(**spec) == expected


def test_names_leave_room_for_those_of_jobs() -> None:
    long = read_cron(name="a" * 53)

    assert messages(STRATEGY.validate(long)) == [
        f'metadata.name: Invalid value: "{"a" * 53}": must be no more than 52 characters'
    ]
    assert messages(STRATEGY.validate_update(long, long)) == []
