"""What `view` and `edit` grant of Kubernetes' own groups, beyond the small set of a server.

A server that serves one of these groups has its rules in `system:aggregate-to-view` and
`system:aggregate-to-edit`, as Kubernetes has. Some are about resources that it may not serve.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

_SCALABLE: Final = ("deployments", "replicasets", "statefulsets")
_SCALES: Final = tuple(f"{name}/scale" for name in _SCALABLE)
_LEGACY_APPS: Final = (
    *("daemonsets", "deployments", "deployments/scale", "replicasets", "replicasets/scale"),
    *("replicationcontrollers/scale", "ingresses", "networkpolicies"),
)

VIEWED: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("bindings", "endpoints", "limitranges", "resourcequotas", "resourcequotas/status"),
        *("persistentvolumeclaims", "persistentvolumeclaims/status"),
        *("pods", "pods/log", "pods/status"),
        *("replicationcontrollers", "replicationcontrollers/scale"),
        "replicationcontrollers/status",
    ),
    "apps": (
        *("controllerrevisions", "daemonsets", "daemonsets/status", *_SCALABLE, *_SCALES),
        *(f"{name}/status" for name in _SCALABLE),
    ),
    "autoscaling": ("horizontalpodautoscalers", "horizontalpodautoscalers/status"),
    "batch": ("cronjobs", "cronjobs/status", "jobs", "jobs/status"),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "extensions": (
        *_LEGACY_APPS,
        *("daemonsets/status", "deployments/status", "ingresses/status", "replicasets/status"),
    ),
    "networking.k8s.io": ("ingresses", "ingresses/status", "networkpolicies"),
    "policy": ("poddisruptionbudgets", "poddisruptionbudgets/status"),
    "resource.k8s.io": ("resourceclaims", "resourceclaims/status", "resourceclaimtemplates"),
}
"""Group -> what readers may read."""

EDITED: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("persistentvolumeclaims", "pods"),
        *("replicationcontrollers", "replicationcontrollers/scale"),
    ),
    "apps": ("daemonsets", "deployments/rollback", *_SCALABLE, *_SCALES),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "events.k8s.io": ("events",),
    "extensions": (*_LEGACY_APPS, "deployments/rollback"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
    "resource.k8s.io": ("resourceclaims", "resourceclaimtemplates"),
}
"""Group -> what writers may write."""

USED: Final = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy")
"""Parts of core resources that writers may use in every way."""
EVICTION: Final = "pods/eviction"


def ruled_groups(groups: Collection[str]) -> Iterator[str]:
    """Yield the groups with rules here that a server has; some come with another."""
    for group in VIEWED:
        companion = {"extensions": "apps", "events.k8s.io": ""}.get(group, group)
        if companion in groups:
            yield group
