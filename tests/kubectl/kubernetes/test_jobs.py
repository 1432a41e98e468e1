"""Walks through batch/v1: jobs, cron jobs, and jobs from cron jobs."""

import json
from typing import Any

from tests.kubectl.runner import Kubectl, one_version


def report(kubectl: Kubectl, **status: Any) -> None:
    """Write the status of the job `sum`, as its controller does."""
    body = json.dumps({"status": status})
    kubectl.output("patch", "job", "sum", "--subresource=status", "--type=merge", "-p", body)


@one_version
def test_a_job_from_creation_to_completion(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create job sum --image=sum:1 -- add 1 2
        job.batch/sum created
        $ kubectl get jobs
        NAME   STATUS    COMPLETIONS   DURATION   AGE
        sum    Running   0/1                      AGE
        $ kubectl patch job sum --type=merge -p '{"spec":{"completions":3}}'
        The Job "sum" is invalid: spec.completions: Invalid value: 3: field is immutable
        (exit 1)
        $ kubectl patch job sum --type=merge -p '{"spec":{"suspend":true,"parallelism":2}}'
        job.batch/sum patched
        $ kubectl patch job sum --type=merge -p '{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}'
        job.batch/sum patched
    """)  # noqa: E501
    job = json.loads(kubectl.output("get", "job", "sum", "-o", "json"))
    uid = job["metadata"]["uid"]
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert job["spec"]["template"]["metadata"]["labels"]["job-name"] == "sum"

    conditions = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    report(kubectl, startTime="2026-01-01T00:00:00Z", active=1)
    report(
        kubectl,
        completionTime="2026-01-01T00:00:30Z",
        active=0,
        succeeded=1,
        conditions=conditions,
    )

    kubectl.replays("""
        $ kubectl wait --for=condition=complete job/sum --timeout=5s
        job.batch/sum condition met
        $ kubectl get jobs --field-selector=status.successful=1 -o name
        job.batch/sum
        $ kubectl delete job sum
        job.batch "sum" deleted
    """)


@one_version
def test_the_columns_of_a_completed_job(kubectl: Kubectl) -> None:
    kubectl.output("create", "job", "sum", "--image=sum:1")
    conditions = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    report(
        kubectl,
        startTime="2026-01-01T00:00:00Z",
        completionTime="2026-01-01T00:05:30Z",
        succeeded=1,
        conditions=conditions,
    )

    row = kubectl.output("get", "job", "sum", "-o", "wide", "--no-headers").split()

    assert row[:4] == ["sum", "Complete", "1/1", "5m30s"]
    assert row[5:7] == ["sum", "sum:1"]
    assert row[7].startswith("batch.kubernetes.io/controller-uid=")


@one_version
def test_a_deletion_that_does_not_name_the_pods_is_warned_of(kubectl: Kubectl) -> None:
    kubectl.output("create", "job", "sum", "--image=sum:1")
    path = f"/apis/batch/v1/namespaces/{kubectl.namespace}/jobs/sum"

    deleted = kubectl("delete", "--raw", path)

    assert deleted.stderr.strip() == (
        "Warning: child pods are preserved by default when jobs are deleted; set"
        " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
        " this warning"
    )


@one_version
def test_cron_jobs_and_jobs_from_them(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create cronjob nightly --image=sum:1 --schedule='0 3 * * *' -- add 1 2
        cronjob.batch/nightly created
        $ kubectl get cj
        NAME      SCHEDULE    TIMEZONE   SUSPEND   ACTIVE   LAST SCHEDULE   AGE
        nightly   0 3 * * *   <none>     False     0        <none>          AGE
        $ kubectl create cronjob wrong --image=sum:1 --schedule='61 3 * * *'
        error: failed to create cronjob: CronJob.batch "wrong" is invalid: spec.schedule: Invalid value: "61 3 * * *": end of range (61) above maximum (59): 61
        (exit 1)
        $ kubectl patch cronjob nightly --type=merge -p '{"spec":{"suspend":true,"timeZone":"Europe/Paris"}}'
        cronjob.batch/nightly patched
        $ kubectl get cronjob nightly --no-headers
        nightly   0 3 * * *   Europe/Paris   True   0   <none>   AGE
        $ kubectl create job once --from=cronjob/nightly
        job.batch/once created
        $ kubectl get job once -o jsonpath={.spec.template.spec.containers[0].command}
        ["add","1","2"]
        $ kubectl get job once -o jsonpath={.metadata.ownerReferences[0].kind}
        CronJob
        $ kubectl delete cronjob nightly
        cronjob.batch "nightly" deleted
    """)  # noqa: E501
