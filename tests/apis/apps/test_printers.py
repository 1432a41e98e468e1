"""Workloads as `kubectl get` shows them, and the names of their resources."""

from typing import Any

import pytest

from apimachinery.meta.types import Object
from apis.apps import printers
from apis.apps.install import APPS
from apis.apps.v1 import ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet
from apiserver import Column
from tests.apis.apps.templates import template, workload
from tests.apis.validating import decoded

TWO = template(
    containers=[{"name": "web", "image": "web:1"}, {"name": "log", "image": "log:2"}],
    nodeSelector={"disk": "ssd", "arch": "arm"},
)


def shown(columns: tuple[Column, ...], obj: Object) -> dict[str, Any]:
    return {column.name: column.cell(obj) for column in columns}


def wide(columns: tuple[Column, ...]) -> list[str]:
    return [column.name for column in columns if column.priority]


@pytest.mark.parametrize(
    ("columns", "cls", "spec", "status", "cells"),
    [
        (
            printers.DEPLOYMENT_COLUMNS,
            Deployment,
            {"replicas": 3, "template": TWO},
            {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2},
            {
                "Ready": "2/3",
                "Up-to-date": 1,
                "Available": 2,
                "Containers": "web,log",
                "Images": "web:1,log:2",
                "Selector": "app=web",
            },
        ),
        (
            printers.REPLICA_SET_COLUMNS,
            ReplicaSet,
            {"replicas": 3, "template": TWO},
            {"replicas": 2, "readyReplicas": 1},
            {
                "Desired": 3,
                "Current": 2,
                "Ready": 1,
                "Containers": "web,log",
                "Images": "web:1,log:2",
                "Selector": "app=web",
            },
        ),
        (
            printers.STATEFUL_SET_COLUMNS,
            StatefulSet,
            {"replicas": 3, "template": TWO},
            {"readyReplicas": 1},
            {"Ready": "1/3", "Containers": "web,log", "Images": "web:1,log:2"},
        ),
        (
            printers.DAEMON_SET_COLUMNS,
            DaemonSet,
            {"template": TWO},
            {
                "desiredNumberScheduled": 5,
                "currentNumberScheduled": 4,
                "numberReady": 3,
                "updatedNumberScheduled": 2,
                "numberAvailable": 1,
            },
            {
                "Desired": 5,
                "Current": 4,
                "Ready": 3,
                "Up-to-date": 2,
                "Available": 1,
                "Node Selector": "arch=arm,disk=ssd",
                "Containers": "web,log",
                "Images": "web:1,log:2",
                "Selector": "app=web",
            },
        ),
    ],
)
def test_columns(
    columns: tuple[Column, ...],
    cls: type[Object],
    spec: dict[str, Any],
    status: dict[str, Any],
    cells: dict[str, Any],
) -> None:
    assert shown(columns, decoded(cls, workload(spec, status))) == cells


def test_the_columns_of_a_wide_table() -> None:
    assert wide(printers.DEPLOYMENT_COLUMNS) == ["Containers", "Images", "Selector"]
    assert wide(printers.STATEFUL_SET_COLUMNS) == ["Containers", "Images"]


def test_a_daemon_set_for_every_node() -> None:
    cells = shown(printers.DAEMON_SET_COLUMNS, decoded(DaemonSet, workload()))

    assert cells["Node Selector"] == "<none>"


@pytest.mark.parametrize(
    ("owners", "cell"),
    [
        ([], "<none>"),
        (
            [
                {
                    "apiVersion": "apps/v1",
                    "kind": "DaemonSet",
                    "name": "web",
                    "uid": "u",
                    "controller": True,
                }
            ],
            "daemonset.apps/web",
        ),
    ],
)
def test_the_owner_of_a_revision(owners: list[dict[str, Any]], cell: str) -> None:
    document = {"metadata": {"name": "web-1", "ownerReferences": owners}, "revision": 3}

    cells = shown(printers.CONTROLLER_REVISION_COLUMNS, decoded(ControllerRevision, document))

    assert list(cells) == ["Name", "Controller", "Revision", "Age"]
    assert (cells["Controller"], cells["Revision"]) == (cell, 3)


def test_names_are_those_of_kubernetes() -> None:
    found = {
        resource.name: (
            resource.short_names,
            resource.categories,
            [subresource.name for subresource in resource.subresources],
        )
        for resource in APPS.resources
    }

    assert found == {
        "controllerrevisions": ((), (), []),
        "daemonsets": (("ds",), ("all",), ["status"]),
        "deployments": (("deploy",), ("all",), ["scale", "status"]),
        "replicasets": (("rs",), ("all",), ["scale", "status"]),
        "statefulsets": (("sts",), ("all",), ["scale", "status"]),
    }
