"""The defaults of pods, pod templates and ReplicationControllers are those of Kubernetes."""

from typing import Any

import pytest

from apis.core import v1
from apis.core.v1.defaults.image_name import image_tag, pull_policy
from tests.apis.validating import decoded

DIGEST = "sha256:" + "a" * 64

CONTAINER_DEFAULTS: dict[str, Any] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
}
SPEC_DEFAULTS: dict[str, Any] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}


def pod(**spec: Any) -> v1.Pod:
    containers = [{"name": "web", "image": "nginx"}]
    return decoded(v1.Pod, {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})


def document(value: Any) -> Any:
    return value.model_dump(mode="json")


def volume(**source: Any) -> Any:
    found = document(pod(volumes=[{"name": "v", **source}]).spec.volumes[0])
    assert found.pop("name") == "v"
    return found


def test_a_minimal_pod() -> None:
    assert document(pod().spec) == {
        "containers": [{"name": "web", "image": "nginx", **CONTAINER_DEFAULTS}],
        **SPEC_DEFAULTS,
        "enableServiceLinks": True,
    }


def test_a_template_has_no_defaults_that_only_pods_have() -> None:
    container = {"name": "web", "image": "nginx", "resources": {"limits": {"cpu": "1"}}}
    spec = {"hostNetwork": True, "containers": [{**container, "ports": [{"containerPort": 80}]}]}

    template = decoded(v1.PodTemplate, {"template": {"spec": spec}}).template

    assert document(template.spec) == {
        "containers": [
            {
                "name": "web",
                "image": "nginx",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                **CONTAINER_DEFAULTS,
                "resources": {"limits": {"cpu": "1"}},
            }
        ],
        **SPEC_DEFAULTS,
        "hostNetwork": True,
    }


def test_requests_default_to_limits() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}
    found = pod(
        containers=[{"name": "a", "image": "a", "resources": resources}],
        initContainers=[{"name": "b", "image": "b", "resources": resources}],
    )

    for container in (*found.spec.containers, *found.spec.init_containers):
        assert document(container.resources)["requests"] == {"cpu": "100m", "memory": "1Gi"}


def test_the_defaults_leave_the_resources_of_the_whole_pod() -> None:
    """The strategy completes them: nobody owns them, and templates are not completed."""
    resources = {"limits": {"cpu": "1"}}

    found = pod(resources=resources, containers=[{"name": "a", "image": "a"}])

    assert document(found.spec.resources) == resources
    assert pod(resources={}).spec.resources == v1.ResourceRequirements()


def test_amounts_are_rounded_up_to_thousandths() -> None:
    resources = {"requests": {"cpu": "0.0001", "memory": "1.5Gi"}}
    found = pod(
        containers=[{"name": "a", "image": "a", "resources": resources}],
        overhead={"cpu": "1500u"},
    )

    assert document(found.spec.containers[0].resources) == {
        "requests": {"cpu": "1m", "memory": "1536Mi"}
    }
    assert document(found.spec)["overhead"] == {"cpu": "2m"}


def test_host_ports_of_the_host_network() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82}]
    found = pod(hostNetwork=True, containers=[{"name": "a", "image": "a", "ports": ports}])

    assert [port.host_port for port in found.spec.containers[0].ports] == [80, 82]


def test_a_negative_grace_period_is_a_second() -> None:
    assert pod(terminationGracePeriodSeconds=-5).spec.termination_grace_period_seconds == 1
    assert pod(terminationGracePeriodSeconds=0).spec.termination_grace_period_seconds == 0


@pytest.mark.parametrize("field", ["serviceAccount", "serviceAccountName"])
def test_both_names_of_the_service_account_are_the_same(field: str) -> None:
    spec = pod(**{field: "robot"}).spec

    assert (spec.service_account, spec.service_account_name) == ("robot", "robot")


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe", "startupProbe"])
def test_probes(probe: str) -> None:
    container = {"name": "a", "image": "a", probe: {"httpGet": {"port": 80}}}
    found = document(pod(containers=[container]).spec.containers[0])

    assert found[probe] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_actions_and_environment() -> None:
    container = {
        "name": "a",
        "image": "a",
        "livenessProbe": {"grpc": {"port": 1}},
        "lifecycle": {"preStop": {"httpGet": {"port": "web"}}},
        "env": [
            {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {
                "name": "C",
                "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}},
            },
        ],
    }

    found = document(pod(containers=[container]).spec.containers[0])

    assert found["livenessProbe"]["grpc"] == {"port": 1, "service": ""}
    assert found["lifecycle"]["preStop"]["httpGet"] == {
        "path": "/",
        "port": "web",
        "scheme": "HTTP",
    }
    assert [variable["valueFrom"] for variable in found["env"]] == [
        {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
        {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
        {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k", "optional": False}},
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({}, {"emptyDir": {}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
        ({"configMap": {"defaultMode": 256}}, {"configMap": {"defaultMode": 256}}),
        (
            {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "p", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.uid"}}
                    ],
                    "defaultMode": 420,
                }
            },
        ),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
            {
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3600, "path": "token"}}
                    ],
                    "defaultMode": 420,
                }
            },
        ),
        (
            {"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0}},
            {"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "iscsiInterface": "default"}},
        ),
        (
            {"rbd": {"monitors": ["m"], "image": "i"}},
            {
                "rbd": {
                    "monitors": ["m"],
                    "image": "i",
                    "pool": "rbd",
                    "user": "admin",
                    "keyring": "/etc/ceph/keyring",
                }
            },
        ),
        (
            {"azureDisk": {"diskName": "d", "diskURI": "u"}},
            {
                "azureDisk": {
                    "diskName": "d",
                    "diskURI": "u",
                    "cachingMode": "ReadWrite",
                    "fsType": "ext4",
                    "readOnly": False,
                    "kind": "Shared",
                }
            },
        ),
        (
            {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "n"}}},
            {
                "scaleIO": {
                    "gateway": "g",
                    "system": "s",
                    "secretRef": {"name": "n"},
                    "storageMode": "ThinProvisioned",
                    "fsType": "xfs",
                }
            },
        ),
        (
            {"image": {"reference": "data:v1"}},
            {"image": {"reference": "data:v1", "pullPolicy": "IfNotPresent"}},
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "metadata": {},
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "resources": {},
                            "volumeMode": "Filesystem",
                        },
                    }
                }
            },
        ),
    ],
)
def test_volumes(source: dict[str, Any], expected: dict[str, Any]) -> None:
    assert volume(**source) == expected


@pytest.mark.parametrize(
    ("status", "ip", "ips"),
    [
        ({"podIP": "10.0.0.1"}, "10.0.0.1", ["10.0.0.1"]),
        ({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}, "10.0.0.1", ["10.0.0.1", "fd00::1"]),
        ({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.2"}]}, "10.0.0.1", ["10.0.0.1"]),
        ({}, "", []),
    ],
)
def test_addresses_of_a_pod(status: dict[str, Any], ip: str, ips: list[str]) -> None:
    found = decoded(v1.Pod, {"status": status}).status

    assert (found.pod_ip, [address.ip for address in found.pod_ips]) == (ip, ips)


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"),
        ("nginx:latest", "latest"),
        ("nginx:1.27", "1.27"),
        ("registry.example.io:5000/team/nginx", "latest"),
        ("localhost/nginx:v1", "v1"),
        (f"nginx@{DIGEST}", None),
        (f"nginx:latest@{DIGEST}", "latest"),
        ("nginx@sha256:short", None),
        ("", None),
        ("Nginx", None),
        ("nginx:", None),
        ("nginx:a/b", None),
        ("-bad.example.io/nginx", None),
        ("a" * 64, None),
        ("a" * 300, None),
        ("[::1]:5000/nginx", "latest"),
        ("a" + "_" * 50000, None),
    ],
)
def test_the_tag_of_an_image(image: str, tag: str | None) -> None:
    assert image_tag(image) == tag
    assert pull_policy(image) == ("Always" if tag == "latest" else "IfNotPresent")


def test_a_replication_controller_takes_labels_from_its_template() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}
    found = decoded(v1.ReplicationController, {"spec": {"template": template}})

    assert found.spec.replicas == 1
    assert found.spec.selector == found.metadata.labels == {"app": "web"}
