"""The batch group: jobs, which run until they have succeeded, and cron jobs, which start them."""

GROUP = "batch"
