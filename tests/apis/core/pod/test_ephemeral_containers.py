"""The subresource ephemeralcontainers: containers can be added, and only that."""

import pytest

from apis.core.validation.pod import validate_pod_ephemeral_containers_update
from tests.apis.core.pod.building import Fields, changed, update_errors
from tests.apis.core.pod.rules import (
    NOT_EPHEMERAL,
)

EPHEMERAL: list[tuple[list[Fields], Fields, list[Fields], list[str]]] = [
    ([], {}, [{"name": "e", "image": "i", "targetContainerName": "c"}], []),
    ([], {}, [{"name": "", "image": "i"}], ["spec.ephemeralContainers[0].name: Required value"]),
    (
        [],
        {},
        [{"name": "c", "image": "i"}],
        ['spec.ephemeralContainers[0].name: Duplicate value: "c"'],
    ),
    (
        [],
        {},
        [{"name": "e", "image": "i"}, {"name": "e", "image": "i"}],
        ['spec.ephemeralContainers[1].name: Duplicate value: "e"'],
    ),
    (
        [],
        {},
        [{"name": "e", "image": " i "}],
        [
            (
                'spec.ephemeralContainers[0].image: Invalid value: " i ": must not have '
                "leading or trailing whitespace"
            )
        ],
    ),
    (
        [],
        {},
        [{"name": "e", "image": "i", "targetContainerName": "x"}],
        ['spec.ephemeralContainers[0].targetContainerName: Not found: "x"'],
    ),
    (
        [],
        {},
        [
            {
                "name": "e",
                "image": "i",
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "1"}},
                "livenessProbe": {"tcpSocket": {"port": 1}},
                "readinessProbe": {"tcpSocket": {"port": 1}},
                "startupProbe": {"tcpSocket": {"port": 1}},
                "lifecycle": {"preStop": {"exec": {"command": ["a"]}}},
                "restartPolicy": "Always",
                "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            }
        ],
        [
            f"spec.ephemeralContainers[0].ports: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].resources: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].resizePolicy: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].restartPolicy: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].livenessProbe: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].readinessProbe: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].startupProbe: Forbidden: {NOT_EPHEMERAL}",
            f"spec.ephemeralContainers[0].lifecycle: Forbidden: {NOT_EPHEMERAL}",
        ],
    ),
    (
        [],
        {},
        [
            {
                "name": "e",
                "image": "i",
                "volumeMounts": [
                    {"name": "data", "mountPath": "/a", "subPath": "b"},
                    {"name": "data", "mountPath": "/b", "subPathExpr": "c"},
                ],
            }
        ],
        [
            (f"spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: {NOT_EPHEMERAL}"),
            (
                "spec.ephemeralContainers[0].volumeMounts[1].subPathExpr: Forbidden: "
                f"{NOT_EPHEMERAL}"
            ),
        ],
    ),
    (
        [{"name": "e", "image": "i"}],
        {},
        [],
        [
            (
                'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may '
                "not be removed\n"
            )
        ],
    ),
    (
        [{"name": "e", "image": "i"}],
        {},
        [{"name": "e", "image": "j", "args": ["x"]}],
        [
            (
                'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may '
                "not be changed\n"
                "@@ -1,8 +1,10 @@\n"
                " {\n"
                '  "Name": "e",\n'
                '- "Image": "i",\n'
                '+ "Image": "j",\n'
                '  "Command": null,\n'
                '- "Args": null,\n'
                '+ "Args": [\n'
                '+  "x"\n'
                "+ ],\n"
                '  "WorkingDir": "",\n'
                '  "Ports": null,\n'
                '  "EnvFrom": null,\n'
            )
        ],
    ),
    (
        [{"name": "e", "image": "i"}],
        {},
        [{"name": "f", "image": "i"}, {"name": "e", "image": "i"}],
        [],
    ),
    (
        [],
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        [{"name": "e", "image": "i"}],
        ["[]: Forbidden: static pods do not support ephemeral containers"],
    ),
]


@pytest.mark.parametrize(("stored", "metadata", "containers", "expected"), EPHEMERAL)
def test_ephemeral_containers(
    stored: list[Fields], metadata: Fields, containers: list[Fields], expected: list[str]
) -> None:
    spec = {
        "nodeName": "n",
        "volumes": [{"name": "data", "emptyDir": {}}],
        "ephemeralContainers": stored,
    }
    old, new = changed({"spec": {"ephemeralContainers": containers}}, spec, metadata)

    assert update_errors(validate_pod_ephemeral_containers_update, new, old) == expected
