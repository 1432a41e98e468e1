"""The group apps as a server installs it."""

from typing import Final

from apis.apps import GROUP, printers, strategy, v1
from apis.apps.register import add_to_scheme
from apiserver import STATUS, Group, Resource, scale

SCALE: Final = scale(
    spec_replicas="spec.replicas", status_replicas="status.replicas", selector="spec.selector"
)

APPS: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "controllerrevisions",
            v1.ControllerRevision,
            strategy.ControllerRevisionStrategy(),
            columns=printers.CONTROLLER_REVISION_COLUMNS,
        ),
        Resource(
            "daemonsets",
            v1.DaemonSet,
            strategy.DaemonSetStrategy(),
            short_names=("ds",),
            categories=("all",),
            subresources=(STATUS,),
            columns=printers.DAEMON_SET_COLUMNS,
        ),
        Resource(
            "deployments",
            v1.Deployment,
            strategy.DeploymentStrategy(),
            short_names=("deploy",),
            categories=("all",),
            subresources=(SCALE, STATUS),
            columns=printers.DEPLOYMENT_COLUMNS,
        ),
        Resource(
            "replicasets",
            v1.ReplicaSet,
            strategy.ReplicaSetStrategy(),
            short_names=("rs",),
            categories=("all",),
            subresources=(SCALE, STATUS),
            columns=printers.REPLICA_SET_COLUMNS,
        ),
        Resource(
            "statefulsets",
            v1.StatefulSet,
            strategy.StatefulSetStrategy(),
            short_names=("sts",),
            categories=("all",),
            subresources=(SCALE, STATUS),
            columns=printers.STATEFUL_SET_COLUMNS,
        ),
    ),
)
