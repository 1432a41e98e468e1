"""What the ServiceAccount plugin adds to pods, and which pods it refuses."""

from typing import Any, cast

import pytest

from apimachinery.errors import Forbidden
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.core.admission.service_account import DEFAULT_ATTEMPTS, ServiceAccountAdmission
from apis.core.v1.pod import Pod
from apiserver import Attributes, RequestContext, ServerParts, User
from apiserver.admission.chain import Operation
from tests.apis.admitted import STRATEGIC, Admitted, container, reason
from tests.apis.validating import decoded

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {
        "configMap": {
            "name": "kube-root-ca.crt",
            "items": [{"key": "ca.crt", "path": "ca.crt"}],
        }
    },
    {
        "downwardAPI": {
            "items": [
                {
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                }
            ]
        }
    },
]
NOT_LISTED = "is not allowed because service account {} does not reference that secret"


async def account(admitted: Admitted, **parts: Any) -> str:
    name = admitted.new_name()
    metadata = {"name": name, **parts.pop("metadata", {})}
    await admitted.create("serviceaccounts", {"metadata": metadata, **parts})
    return name


async def strict_account(admitted: Admitted, value: str = "true") -> str:
    annotations = {"kubernetes.io/enforce-mountable-secrets": value}
    return await account(
        admitted,
        metadata={"annotations": annotations},
        secrets=[{"name": "listed"}],
        imagePullSecrets=[{"name": "pull"}],
    )


def mounted(spec: Any) -> list[bool]:
    """Whether each container has the token volume: init containers first."""
    return [
        any(
            mount["mountPath"] == PATH and mount["name"].startswith("kube-api-access-")
            for mount in each.get("volumeMounts", [])
        )
        for each in (*spec.get("initContainers", []), *spec["containers"])
    ]


async def test_a_pod_runs_as_the_default_account_with_its_token(admitted: Admitted) -> None:
    spec = await admitted.pod()

    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    [volume] = spec["volumes"]
    assert volume["projected"] == {"sources": SOURCES, "defaultMode": 420}
    assert len(volume["name"]) == len("kube-api-access-") + 5
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": PATH}
    ]


async def test_the_writer_does_not_own_what_admission_sets(admitted: Admitted) -> None:
    name = admitted.new_name()
    spec = {"containers": [container("c")]}
    pod = await admitted.create("pods", {"metadata": {"name": name}, "spec": spec})

    [entry] = pod["metadata"]["managedFields"]
    owned = entry["fieldsV1"]["f:spec"]
    assert "f:containers" in owned
    assert not owned.keys() & {"f:volumes", "f:tolerations", "f:priority", "f:serviceAccountName"}


async def test_an_account_that_does_not_exist_is_refused(admitted: Admitted) -> None:
    assert await admitted.refusal(serviceAccountName="nobody") == (
        'error looking up service account default/nobody: serviceaccount "nobody" not found'
    )
    assert await admitted.refusal(serviceAccountName="no/body") == (
        'error looking up service account default/no/body: serviceaccount "no/body" not found'
    )


@pytest.mark.parametrize(
    ("of_account", "of_pod", "expected"),
    [
        (None, None, True),
        (False, None, False),
        (True, False, False),
        (False, True, True),
    ],
)
async def test_the_choice_of_the_pod_counts_before_that_of_the_account(
    admitted: Admitted, of_account: bool | None, of_pod: bool | None, expected: bool
) -> None:
    parts = {"automountServiceAccountToken": of_account} if of_account is not None else {}
    choice: dict[str, Any] = {"automountServiceAccountToken": of_pod} if of_pod is not None else {}

    spec = await admitted.pod(serviceAccountName=await account(admitted, **parts), **choice)

    assert mounted(spec) == [expected]
    assert bool(spec.get("volumes")) is expected


async def test_nothing_is_mounted_over_a_mount_of_the_pod(admitted: Admitted) -> None:
    own = {"volumeMounts": [{"name": "v", "mountPath": PATH}]}
    volumes = [{"name": "v", "emptyDir": {}}]

    some = await admitted.pod(
        containers=[container("c", **own), container("d")],
        initContainers=[container("i")],
        volumes=volumes,
    )
    none = await admitted.pod(containers=[container("c", **own)], volumes=volumes)

    assert mounted(some) == [True, False, True]
    assert len(some["volumes"]) == 2
    assert mounted(none) == [False]
    assert len(none["volumes"]) == 1


async def test_a_volume_of_that_name_is_used(admitted: Admitted) -> None:
    volume = {"name": "kube-api-access-mine", "emptyDir": {}}

    spec = await admitted.pod(volumes=[volume])

    assert spec["volumes"] == [volume]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-mine"


async def test_secrets_for_images_are_those_of_the_account(admitted: Admitted) -> None:
    name = await account(admitted, imagePullSecrets=[{"name": "a"}, {"name": "b"}])

    without = await admitted.pod(serviceAccountName=name)
    own = await admitted.pod(serviceAccountName=name, imagePullSecrets=[{"name": "c"}])

    assert without["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]
    assert own["imagePullSecrets"] == [{"name": "c"}]


VARIABLE = {"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]}
VARIABLES = {"envFrom": [{"secretRef": {"name": "other"}}]}


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "other"}}]},
            'volume with secret.secretName="other"',
        ),
        (
            {"containers": [container("c", **VARIABLE)]},
            'container c with envVar E referencing secret.secretName="other"',
        ),
        (
            {"initContainers": [container("i", **VARIABLES)]},
            'init container i with envFrom referencing secret.secretName="other"',
        ),
    ],
)
async def test_an_account_can_restrict_its_pods_to_its_secrets(
    admitted: Admitted, parts: dict[str, Any], what: str
) -> None:
    name = await strict_account(admitted)

    refusal = await admitted.refusal(serviceAccountName=name, **parts)

    assert refusal == f"{what} {NOT_LISTED.format(name)}"


async def test_an_account_can_restrict_secrets_for_images(admitted: Admitted) -> None:
    name = await strict_account(admitted)

    refusal = await admitted.refusal(serviceAccountName=name, imagePullSecrets=[{"name": "x"}])

    assert refusal == (
        f'imagePullSecrets[0].name="x" is not allowed because service account {name} does not'
        " reference that imagePullSecret"
    )


@pytest.mark.parametrize(("value", "name"), [("T", "listed"), ("false", "x"), ("yes", "x")])
async def test_other_secrets_are_allowed(admitted: Admitted, value: str, name: str) -> None:
    volumes = [{"name": "v", "secret": {"secretName": name}}]

    await admitted.pod(serviceAccountName=await strict_account(admitted, value), volumes=volumes)


async def test_new_ephemeral_containers_are_restricted(admitted: Admitted) -> None:
    name, pod = await strict_account(admitted), admitted.new_name()
    await admitted.pod(serviceAccountName=name, metadata={"name": pod})
    path = f"/api/v1/namespaces/default/pods/{pod}/ephemeralcontainers"

    def patch(**parts: Any) -> Any:
        return {"spec": {"ephemeralContainers": [container("e", **parts)]}}

    refused = await admitted.server.patch(path, patch(**VARIABLE), kind=STRATEGIC)
    accepted = await admitted.server.patch(path, patch(), kind=STRATEGIC)

    assert reason(refused) == (
        'ephemeral container e with envVar E referencing secret.secretName="other"'
        f" {NOT_LISTED.format(name)}"
    )
    assert accepted.code == 200


MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}


@pytest.mark.parametrize(
    ("parts", "refusal"),
    [
        ({"serviceAccountName": "default"}, "a mirror pod may not reference service accounts"),
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "x"}}]},
            "a mirror pod may not reference secrets",
        ),
        (
            {"volumes": [{"name": "v", "iscsi": {"secretRef": {"name": "x"}}}]},
            "a mirror pod may not reference secrets",
        ),
        (
            {"volumes": [{"name": "v", "csi": {"nodePublishSecretRef": {"name": "x"}}}]},
            "a mirror pod may not reference secrets",
        ),
        (
            {"containers": [container("c", **VARIABLE)]},
            "a mirror pod may not reference secrets",
        ),
        (
            {
                "volumes": [
                    {
                        "name": "v",
                        "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]},
                    }
                ]
            },
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
async def test_a_mirror_pod_refers_to_no_account(
    admitted: Admitted, parts: dict[str, Any], refusal: str
) -> None:
    assert await admitted.refusal(metadata=MIRROR, nodeName="n", **parts) == refusal


async def test_a_mirror_pod_is_left_alone(admitted: Admitted) -> None:
    spec = await admitted.pod(metadata=MIRROR, nodeName="n")

    assert "serviceAccountName" not in spec
    assert "volumes" not in spec


async def test_the_default_account_is_awaited() -> None:
    """The server creates it a moment after its namespace."""
    pauses = 0

    async def pause() -> None:
        nonlocal pauses
        pauses += 1

    def no_store(resource: object) -> Any:
        raise KeyError(resource)

    class Parts:
        find_store = staticmethod(no_store)

    plugin = ServiceAccountAdmission(cast(ServerParts, Parts()), pause=pause)
    resource = GroupVersionResource("", "v1", "pods")
    context = RequestContext(User("jo"), "create", resource, namespace="n")
    pod = decoded(Pod, {"metadata": {"name": "p"}})
    attributes = Attributes(context, Operation.CREATE, GroupKind("", "Pod"), pod)

    with pytest.raises(Forbidden, match='serviceaccount "default" not found'):
        await plugin.mutate(attributes)

    assert pauses == DEFAULT_ATTEMPTS - 1
