"""The group batch as a server installs it."""

from typing import Final

from apis.batch import GROUP, v1
from apis.batch.printers import CRON_JOB_COLUMNS, JOB_COLUMNS
from apis.batch.register import JOB_FIELDS, add_to_scheme
from apis.batch.strategy import CronJobStrategy, JobStrategy
from apiserver import STATUS, Group, Resource

BATCH: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "cronjobs",
            v1.CronJob,
            CronJobStrategy(),
            short_names=("cj",),
            categories=("all",),
            subresources=(STATUS,),
            columns=CRON_JOB_COLUMNS,
        ),
        Resource(
            "jobs",
            v1.Job,
            JobStrategy(),
            categories=("all",),
            subresources=(STATUS,),
            columns=JOB_COLUMNS,
            fields=JOB_FIELDS,
        ),
    ),
)
