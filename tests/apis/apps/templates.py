"""Pod templates, and workloads with one, as tests of workloads write them."""

from typing import Any

CONTAINER = {"name": "web", "image": "web:1"}
LABELS = {"app": "web"}
SELECTOR = {"matchLabels": LABELS}


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER], **spec}}


def workload(
    spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any
) -> dict[str, Any]:
    """A document with the selector and template that every workload has."""
    return {
        "metadata": {"name": "web", **meta},
        "spec": {"selector": SELECTOR, "template": template(), **(spec or {})},
        "status": status or {},
    }


DEFAULTED_POD = {
    "containers": [
        {
            "name": "web",
            "image": "web:1",
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    ],
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
DEFAULTED_TEMPLATE = {"metadata": {"labels": LABELS}, "spec": DEFAULTED_POD}

MISMATCH = "`selector` does not match template `labels`"
NOT_NEGATIVE = "must be greater than or equal to 0"
PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or"
    " '93%', regex used for validation is '[0-9]+%')"
)
TOO_MANY = "cannot be greater than status.replicas"
