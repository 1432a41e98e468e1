"""APIServices: what is wrong with one, how one is shown, and which ones a server keeps."""

import asyncio
from typing import Any

import pytest

from apimachinery.schema import GroupVersion
from apis.apiregistration.controllers.service_registration import (
    ServiceRegistrationController,
    local_service,
)
from apis.apiregistration.printers import API_SERVICE_COLUMNS
from apis.apiregistration.strategy import APIServiceStrategy
from apis.apiregistration.v1 import APIService, APIServiceCondition
from apis.apiregistration.v1.types import AUTOMANAGED
from apis.kubernetes import KUBERNETES
from client.testing import environment
from tests.apis.validating import decoded, messages

STRATEGY = APIServiceStrategy()
SPEC = {"group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
SERVICE = {"namespace": "n", "name": "s"}


def read(name: str = "v1.example.com", **changes: Any) -> APIService:
    return decoded(APIService, {"metadata": {"name": name}, "spec": {**SPEC, **changes}})


def test_a_service_has_a_default_port() -> None:
    service = read(service=SERVICE).spec.service

    assert service is not None and service.port == 443


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"service": SERVICE, "caBundle": "YQ=="}, []),
        (
            {"group": ""},
            [
                'metadata.name: Invalid value: "v1.example.com": must be'
                ' `spec.version+"."+spec.group`: "v1."',
            ],
        ),
        ({"name": "v1.", "group": ""}, []),
        (
            {"name": "v2.", "group": "", "version": "v2"},
            [
                "spec.group: Required value: only v1 may have an empty group and it better be"
                " legacy kube"
            ],
        ),
        (
            {"groupPriorityMinimum": 20001, "versionPriority": 0},
            [
                "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than"
                " 20000",
                "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
            ],
        ),
        (
            {"caBundle": "YQ==", "insecureSkipTLSVerify": True},
            [
                'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a'
                " caBundle",
                "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have"
                " insecureSkipTLSVerify",
            ],
        ),
        (
            {"service": SERVICE, "caBundle": "YQ==", "insecureSkipTLSVerify": True},
            [
                "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is"
                " present"
            ],
        ),
        (
            {"service": {"port": 70000}},
            [
                "spec.service.namespace: Required value",
                "spec.service.name: Required value",
                "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and"
                " 65535, inclusive",
            ],
        ),
    ],
)
def test_rules(changes: dict[str, Any], expected: list[str]) -> None:
    service = read(**changes)

    assert messages(STRATEGY.validate(service)) == expected
    assert messages(STRATEGY.validate_update(service, read())) == expected


def test_rules_of_conditions() -> None:
    changed = read()
    changed.status.conditions = [APIServiceCondition(type="Available", status="Maybe")]

    assert messages(STRATEGY.validate_status_update(changed, read())) == [
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True",'
        ' "False", "Unknown"'
    ]


def test_only_local_services_are_available_at_once() -> None:
    local, remote = read(), read(service=SERVICE)
    STRATEGY.prepare_for_create(local)
    STRATEGY.prepare_for_create(remote)

    assert [(one.type, one.status, one.reason) for one in local.status.conditions] == [
        ("Available", "True", "Local")
    ]
    assert remote.status.conditions == []


def test_columns() -> None:
    local, remote, failed = read(), read(service=SERVICE), read(service=SERVICE)
    STRATEGY.prepare_for_create(local)
    failed.status.conditions = [
        APIServiceCondition(type="Available", status="False", reason="MissingEndpoints")
    ]

    cells = [
        [column.cell(one) for column in API_SERVICE_COLUMNS] for one in (local, remote, failed)
    ]

    assert cells == [["Local", "True"], ["n/s", "Unknown"], ["n/s", "False (MissingEndpoints)"]]


async def test_a_server_registers_what_it_serves() -> None:
    served = [(GroupVersion("apps", "v1"), True), (GroupVersion("example.com", "v1"), False)]

    async with environment(KUBERNETES) as env:
        services = env.client.of(APIService)
        controller = ServiceRegistrationController(
            env.client, lambda: iter(served), asyncio.Event().wait
        )
        foreign = local_service(GroupVersion("other.example.com", "v1"), False)
        foreign.metadata.labels = {}
        await services.create(foreign)

        assert await controller.sync()
        before = {one.metadata.name: one for one in (await services.list().all()).items}
        await services.delete("v1.apps")
        del served[1]
        assert await controller.sync()
        after = {one.metadata.name for one in (await services.list().all()).items}

        assert {
            name: (one.metadata.labels.get(AUTOMANAGED), one.spec.group_priority_minimum)
            for name, one in before.items()
        } == {
            "v1.apps": ("onstart", 17800),
            "v1.example.com": ("true", 1000),
            "v1.other.example.com": (None, 1000),
        }
        assert after == {"v1.other.example.com"}


async def test_a_registered_service_is_corrected() -> None:
    version = GroupVersion("example.com", "v1")

    async with environment(KUBERNETES) as env:
        services = env.client.of(APIService)
        changed = local_service(version, False)
        changed.spec.version_priority = 7
        await services.create(changed)
        controller = ServiceRegistrationController(
            env.client, lambda: iter([(version, False)]), asyncio.Event().wait
        )

        assert await controller.sync()

        assert (await services.get("v1.example.com")).spec.version_priority == 100
