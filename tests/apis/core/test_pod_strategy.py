"""What the server sets, keeps and drops in pods, and how it deletes them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import OwnerReference
from apis.core import v1
from apis.core.strategy.pod import PodStrategy
from apis.core.strategy.pod_preparation import qos_class
from apis.core.strategy.pod_template import ReplicationControllerStrategy
from apis.core.validation.replication_controller import validate_replication_controller
from apiserver.registry.deletion import plan_deletion
from apiserver.storage.objects import Keep, Put, Remove
from tests.apis.validating import decoded, messages

STRATEGY = PodStrategy()
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def pod(*, metadata: Any = None, status: Any = None, **spec: Any) -> v1.Pod:
    containers = [{"name": "web", "image": "nginx"}]
    document = {
        "metadata": {"name": "p", "creationTimestamp": "2030-01-01T00:00:00Z", **(metadata or {})},
        "spec": {"containers": containers, **spec},
        "status": status or {},
    }
    return decoded(v1.Pod, document)


def created(**given: Any) -> v1.Pod:
    obj = pod(**given)
    STRATEGY.prepare_for_create(obj)
    return obj


def resources(limits: Any = None, requests: Any = None) -> dict[str, Any]:
    return {"limits": limits or {}, "requests": requests or {}}


ALL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([resources()], "BestEffort"),
        ([resources(ALL)], "Guaranteed"),
        ([resources(ALL, ALL), resources(ALL)], "Guaranteed"),
        ([resources({"cpu": "1"})], "Burstable"),
        ([resources(requests={"memory": "1Gi"})], "Burstable"),
        ([resources(ALL), resources()], "Burstable"),
        ([resources(ALL, {"cpu": "100m"})], "Burstable"),
        ([resources({"example.io/gpu": "1"})], "BestEffort"),
    ],
)
def test_quality_of_service(given: list[Any], expected: str) -> None:
    containers = [
        {"name": f"c{position}", "image": "i", "resources": each}
        for position, each in enumerate(given)
    ]

    assert qos_class(pod(containers=containers)) == expected


def test_resources_of_the_pod_decide_first() -> None:
    assert qos_class(pod(resources=resources(ALL, ALL))) == "Guaranteed"


def test_a_new_pod_is_pending() -> None:
    found = created(status={"phase": "Running", "podIP": "10.0.0.1"})

    assert found.status == v1.PodStatus(phase="Pending", qos_class="BestEffort")


def test_scheduling_gates_have_a_condition() -> None:
    (condition,) = created(schedulingGates=[{"name": "example.io/gate"}]).status.conditions

    assert (condition.type, condition.status) == ("PodScheduled", "False")
    assert condition.reason == "SchedulingGated"
    assert condition.last_transition_time == NOW


def test_label_keys_become_requirements() -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "web"}},
        "topologyKey": "zone",
        "matchLabelKeys": ["pod-template-hash"],
        "mismatchLabelKeys": ["tenant", "missing"],
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["tenant"],
    }
    rules = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    found = created(
        metadata={"labels": {"pod-template-hash": "abc", "tenant": "t"}},
        affinity={"podAffinity": rules},
        topologySpreadConstraints=[spread],
    ).spec

    assert found.affinity is not None and found.affinity.pod_affinity is not None
    (term_found,) = found.affinity.pod_affinity.required_during_scheduling_ignored_during_execution
    assert term_found.label_selector is not None
    assert [
        (each.key, each.operator, each.values)
        for each in term_found.label_selector.match_expressions
    ] == [("pod-template-hash", "In", ["abc"]), ("tenant", "NotIn", ["t"])]
    selector = found.topology_spread_constraints[0].label_selector
    assert selector is not None and selector.match_expressions[0].values == ["t"]


@pytest.mark.parametrize(
    ("annotation", "profile"),
    [
        ("runtime/default", ("RuntimeDefault", None)),
        ("unconfined", ("Unconfined", None)),
        ("localhost/web", ("Localhost", "web")),
        ("nonsense", None),
    ],
)
def test_profiles_from_annotations(annotation: str, profile: tuple[str, str | None] | None) -> None:
    name = "container.apparmor.security.beta.kubernetes.io/web"
    found = created(metadata={"annotations": {name: annotation}})

    context = found.spec.containers[0].security_context
    own = context.app_armor_profile if context else None
    assert (own and (own.type, own.localhost_profile)) == profile
    warning = f'metadata.annotations[{name}]: deprecated since v1.30; use the "appArmorProfile"'
    assert list(STRATEGY.warnings(found)) == [f"{warning} field instead"]


def test_fields_of_disabled_features_are_dropped() -> None:
    given: dict[str, Any] = {
        "schedulingGroup": {"podGroupName": "g"},
        "volumes": [{"name": "v", "emptyDir": {"mode": 448}}],
        "containers": [
            {
                "name": "web",
                "image": "nginx",
                "livenessProbe": {"httpGet": {"port": 80, "protocol": "H2C"}},
            }
        ],
    }
    old = pod(**given)
    new = pod(**given)

    dropped = created(**given)
    STRATEGY.prepare_for_update(new, old)

    assert dropped.spec.scheduling_group is None
    assert dropped.spec.volumes[0].empty_dir == v1.EmptyDirVolumeSource()
    probe = dropped.spec.containers[0].liveness_probe
    assert probe is not None and probe.http_get is not None and probe.http_get.protocol is None
    assert new.spec == old.spec


def test_the_status_keeps_what_old_kubelets_omit() -> None:
    old = pod(
        status={
            "qosClass": "Guaranteed",
            "observedGeneration": 3,
            "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "r"}],
            "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}],
        }
    )
    new = pod(status={"conditions": [{"type": "Ready", "status": "False"}]})
    new.metadata.owner_references = [
        OwnerReference(api_version="v1", kind="Node", name="n", uid="u")
    ]

    STRATEGY.prepare_for_status_update(new, old)

    assert new.status.qos_class == "Guaranteed"
    assert new.status.observed_generation == 3
    assert new.status.resource_claim_statuses == old.status.resource_claim_statuses
    assert new.status.conditions[0].observed_generation == 2
    assert new.metadata.owner_references == []


def deletion(obj: v1.Pod, seconds: int | None = None) -> Any:
    options = DeleteOptions(grace_period_seconds=seconds)
    return plan_deletion(STRATEGY, obj, options, now=NOW)


def test_a_pod_without_a_node_is_removed_at_once() -> None:
    removed = deletion(pod(), 60)

    assert isinstance(removed, Remove)
    assert removed.object.metadata.deletion_grace_period_seconds == 0
    assert removed.object.metadata.deletion_timestamp == NOW
    assert isinstance(deletion(pod()), Remove)


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_finished_pod_is_removed_at_once(phase: str) -> None:
    assert isinstance(deletion(pod(nodeName="n", status={"phase": phase})), Remove)


def test_a_running_pod_has_its_grace_period() -> None:
    marked = deletion(pod(nodeName="n"))

    assert isinstance(marked, Put)
    assert marked.object.metadata.deletion_grace_period_seconds == 30
    assert marked.object.metadata.deletion_timestamp == datetime(2030, 1, 1, 0, 0, 30, tzinfo=UTC)
    assert isinstance(deletion(marked.object), Keep)
    assert isinstance(deletion(marked.object, 0), Remove)
    shorter = deletion(marked.object, 5)
    assert shorter.object.metadata.deletion_grace_period_seconds == 5


def test_force_removes_a_running_pod() -> None:
    assert isinstance(deletion(pod(nodeName="n"), 0), Remove)


ENV = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
PORTS = [{"containerPort": 80}, {"containerPort": 80, "hostPort": 8080}]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
            "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use"
            ' "kubernetes.io/os" instead',
        ),
        (
            {"volumes": [{"name": "v", "rbd": {"monitors": ["m"], "image": "i"}}]},
            "spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+",
        ),
        (
            {"imagePullSecrets": [{"name": "a"}, {"name": "a"}]},
            'spec.imagePullSecrets[1].name: duplicate name "a"',
        ),
        (
            {"imagePullSecrets": [{}]},
            'spec.imagePullSecrets[0].name: invalid empty name ""',
        ),
        (
            {"hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]},
            'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
        ),
        (
            {"containers": [{"name": "c", "image": "i", "env": ENV}]},
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped'
            " when using apply",
        ),
        (
            {"containers": [{"name": "c", "image": "i", "ports": PORTS}]},
            "spec.containers[0].ports[1]: overlapping port definition with"
            " spec.containers[0].ports[0]",
        ),
        (
            {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"limits": {"memory": "100m"}}}
                ]
            },
            "spec.containers[0].resources.limits[memory]: fractional byte value"
            ' "100m" is invalid, must be an integer',
        ),
        (
            {
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
                ]
            },
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in"
            " matching no pod",
        ),
    ],
)
def test_warnings(given: dict[str, Any], expected: str) -> None:
    assert next(iter(STRATEGY.warnings(pod(**given)))) == expected


def test_many_equal_ports_are_compared_quickly() -> None:
    """A pod of the largest size must not hold up a worker."""
    ports = [{"containerPort": 80, "hostPort": 1 + port} for port in range(20_000)]

    found = pod(containers=[{"name": "c", "image": "i", "ports": ports}])

    assert list(STRATEGY.warnings(found)) == []


def test_a_name_that_is_no_host_name_is_warned_about() -> None:
    found = pod(metadata={"name": "a.b"})

    (warning,) = STRATEGY.warnings(found)

    assert warning == (
        "metadata.name: this is used in the Pod's hostname, which can result in surprising"
        " behavior; a DNS label is recommended: [must not contain dots]"
    )


TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"template": TEMPLATE}, []),
        ({}, ["spec.selector: Required value", "spec.template: Required value"]),
        (
            {"template": TEMPLATE, "replicas": -1, "minReadySeconds": -1},
            [
                "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
        (
            {"template": TEMPLATE, "selector": {"app": "db"}},
            [
                'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not'
                " match template `labels`"
            ],
        ),
        (
            {
                "template": {
                    **TEMPLATE,
                    "spec": {
                        **TEMPLATE["spec"],
                        "restartPolicy": "Never",
                        "activeDeadlineSeconds": 5,
                    },
                }
            },
            [
                'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values:'
                ' "Always"',
                "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in"
                " ReplicationController is not Supported",
            ],
        ),
    ],
)
def test_replication_controllers_are_validated(given: Any, expected: list[str]) -> None:
    controller = decoded(v1.ReplicationController, {"spec": given})

    assert messages(validate_replication_controller(controller)) == expected


def test_the_status_of_a_replication_controller_is_validated() -> None:
    status = {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}
    controller = decoded(v1.ReplicationController, {"status": status})

    errors = ReplicationControllerStrategy().validate_status_update(controller, controller)

    assert messages(errors) == [
        "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
    ]
