"""PodSecurity on a server: namespaces, pods, templates and the warnings about them.

The answers are those of a kube-apiserver.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from apis.core.pod_security.configuration import CONFIGURATION, PodSecurityConfiguration
from apis.core.pod_security.levels import PREFIX
from apis.core.pod_security.plugin import NAME
from apis.kubernetes import KUBERNETES
from apiserver.admission.configuration import AdmissionConfiguration, InvalidAdmissionConfiguration
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.http.driver import Answer, Driver

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNSAFE = {"containers": [{"name": "c", "image": "i", "securityContext": {"privileged": True}}]}
PORT = {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 1, "hostPort": 1}]}]}
PRIVILEGED = 'privileged (container "c" must not set securityContext.privileged=true)'
VIOLATION = f'violates PodSecurity "baseline:latest": {PRIVILEGED}'
WARNING = f'would violate PodSecurity "baseline:latest": {PRIVILEGED}'
EXISTING = [
    'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
    "a (and 2 other pods): privileged",
    "port: hostPort",
]
STRATEGIC = "strategic-merge-patch+json"
CORE = "/api/v1/namespaces"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Driver]:
    """A server with pods that were created before their namespace had any labels."""
    running = InMemoryServer(KUBERNETES)
    async with ASGITransport(running.app):
        driver = Driver(running.app, authorization=f"Bearer {running.token}")
        await created(driver, CORE, "n")
        for name in ("c", "a", "b"):
            await created(driver, f"{CORE}/n/pods", name, spec=UNSAFE)
        await created(driver, f"{CORE}/n/pods", "port", spec=PORT)
        yield driver


async def created(driver: Driver, path: str, name: str, **parts: Any) -> Answer:
    answer = await driver.post(path, {"metadata": {"name": name}, **parts})
    assert answer.code == 201, answer.body
    return answer


async def label(driver: Driver, **labels: str) -> Answer:
    named = {PREFIX + name: text for name, text in labels.items()}
    return await driver.patch(f"{CORE}/n", {"metadata": {"labels": named}})


def warnings(answer: Answer) -> list[str]:
    """Return the texts of the warnings of an answer."""
    return [
        header.removeprefix('299 - "').removesuffix('"').replace('\\"', '"')
        for header in answer.all("warning")
    ]


async def test_labels_that_say_nothing_are_refused(server: Driver) -> None:
    labels = {PREFIX + "enforce": "strict", PREFIX + "warn-version": "1"}
    answer = await server.post(CORE, {"metadata": {"name": "bad", "labels": labels}})

    assert answer.code == 422
    assert answer.json["message"] == (
        'Namespace "bad" is invalid:'
        f' [metadata.labels[{PREFIX}enforce]: Invalid value: "strict": must be one of'
        f" privileged, baseline, restricted, metadata.labels[{PREFIX}warn-version]:"
        ' Invalid value: "1": must be "latest" or "v1.x"]'
    )
    assert len(answer.json["details"]["causes"]) == 2


async def test_a_stricter_level_warns_about_the_pods_that_are_there(server: Driver) -> None:
    assert warnings(await label(server, enforce="baseline")) == EXISTING
    assert warnings(await label(server, warn="baseline")) == []
    assert warnings(await label(server, enforce="privileged")) == []
    refused = await label(server, enforce="x")
    assert (refused.code, warnings(refused)) == (422, [])
    assert warnings(await label(server, enforce="baseline")) == EXISTING


async def test_pods_are_refused_and_others_may_change(server: Driver) -> None:
    await label(server, enforce="baseline")
    pods = f"{CORE}/n/pods"

    refused = await server.post(pods, {"metadata": {"name": "d"}, "spec": UNSAFE})

    assert (refused.code, refused.json["reason"]) == (403, "Forbidden")
    assert refused.json["message"] == f'pods "d" is forbidden: {VIOLATION}'
    assert refused.json["details"] == {"name": "d", "kind": "pods"}

    assert (await server.patch(f"{pods}/a", {"metadata": {"labels": {"x": "y"}}})).code == 200

    image = {"spec": {"containers": [{"name": "c", "image": "j"}]}}
    refused = await server.patch(f"{pods}/a", image, STRATEGIC)
    assert refused.json["message"] == f'pods "a" is forbidden: {VIOLATION}'

    added = {"name": "e", "image": "i", "securityContext": {"privileged": True}}
    refused = await server.patch(
        f"{pods}/port/ephemeralcontainers", {"spec": {"ephemeralContainers": [added]}}, STRATEGIC
    )
    assert refused.json["message"] == (
        'pods "port" is forbidden: violates PodSecurity "baseline:latest": hostPort (container'
        ' "c" uses hostPort 1), privileged (container "e" must not set'
        " securityContext.privileged=true)"
    )


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (
            "/apis/apps/v1/namespaces/n/deployments",
            {
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": UNSAFE},
                }
            },
        ),
        (
            "/apis/batch/v1/namespaces/n/cronjobs",
            {
                "spec": {
                    "schedule": "* * * * *",
                    "jobTemplate": {
                        "spec": {"template": {"spec": {**UNSAFE, "restartPolicy": "Never"}}}
                    },
                }
            },
        ),
        ("/api/v1/namespaces/n/podtemplates", {"template": {"spec": UNSAFE}}),
    ],
)
async def test_templates_are_warned_about(server: Driver, path: str, parts: dict[str, Any]) -> None:
    await label(server, enforce="baseline")

    assert warnings(await created(server, path, "d", **parts)) == [WARNING]


async def test_a_level_to_warn_about_refuses_nothing(server: Driver) -> None:
    labels = {PREFIX + "warn": "baseline", PREFIX + "warn-version": "v1.30"}
    await server.post(CORE, {"metadata": {"name": "warned", "labels": labels}})

    answer = await created(server, f"{CORE}/warned/pods", "d", spec=UNSAFE)

    assert warnings(answer) == [WARNING.replace("latest", "v1.30")]


def configured(folder: Path, document: str) -> AdmissionConfiguration:
    file = folder / "admission.yaml"
    indented = document.replace("\n", "\n    ")
    file.write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
        f"- name: {NAME}\n  configuration:\n"
        "    apiVersion: pod-security.admission.config.k8s.io/v1\n"
        f"    kind: PodSecurityConfiguration\n    {indented}\n"
    )
    return AdmissionConfiguration.read(file)


async def test_a_configuration_has_defaults_and_exemptions(tmp_path: Path) -> None:
    document = (
        "defaults: {enforce: baseline, enforce-version: v1.30}\n"
        "exemptions: {usernames: [u], namespaces: [kube-system], runtimeClasses: [r]}"
    )
    read = configured(tmp_path, document).of(NAME, CONFIGURATION)

    assert isinstance(read, PodSecurityConfiguration)
    assert str(read.default_policy().enforce) == "baseline:v1.30"
    assert str(read.default_policy().warn) == "privileged:latest"
    assert read.exemptions.runtime_classes == ["r"]


async def test_every_error_of_a_configuration_is_named(tmp_path: Path) -> None:
    document = (
        "defaults: {warn: strict, audit-version: '1'}\n"
        "exemptions: {usernames: [u, u, ''], namespaces: [A]}"
    )
    with pytest.raises(InvalidAdmissionConfiguration) as raised:
        configured(tmp_path, document).of(NAME, CONFIGURATION)

    assert [
        problem.split("configuration.")[-1].split(":")[0] for problem in raised.value.problems
    ] == [
        "defaults.warn",
        "defaults.audit-version",
        "exemptions.namespaces[0]",
        "exemptions.usernames[1]",
        "exemptions.usernames[2]",
    ]
