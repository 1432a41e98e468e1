"""The subresource resize: the CPU and memory of containers, and nothing else."""

import pytest

from apis.core.pod_resources import quality_of_service
from apis.core.validation.pod import validate_pod_resize
from tests.apis.core.pod.building import Fields, changed, update_errors
from tests.apis.core.pod.rules import (
    NOT_NEGATIVE,
)

RESIZES: list[tuple[Fields, Fields, Fields, list[str]]] = [
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]
            }
        },
        [],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "resources": {
                            "requests": {"cpu": "2", "memory": "1Gi"},
                            "limits": {"memory": "2Gi"},
                        },
                    }
                ]
            }
        },
        [],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}},
                    {"name": "d", "image": "i"},
                ]
            }
        },
        ["spec.containers: Forbidden: containers may not be added or removed on resize"],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [{"name": "d", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
            }
        },
        [
            (
                "spec.containers[0].name: Forbidden: containers may not be renamed or "
                "reordered on resize"
            )
        ],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {"spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]}},
        [
            (
                'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result '
                "of resizing"
            ),
            (
                "spec.containers[0].resources.requests: Forbidden: resource requests cannot "
                "be removed"
            ),
        ],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [{"name": "c", "image": "j", "resources": {"requests": {"cpu": "1"}}}]
            }
        },
        ["spec: Forbidden: only cpu and memory resources are mutable"],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "resources": {
                            "requests": {"cpu": "1", "example.com/a": "1"},
                            "limits": {"example.com/a": "1"},
                        },
                    }
                ]
            }
        },
        ["spec: Forbidden: only cpu and memory resources are mutable"],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "resources": {
                            "requests": {"cpu": "1", "memory": "1"},
                            "limits": {"cpu": "1", "memory": "1"},
                        },
                    }
                ]
            }
        },
        [
            (
                'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result '
                "of resizing"
            )
        ],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {
            "spec": {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "-1"}}}
                ]
            }
        },
        [(f'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": {NOT_NEGATIVE}')],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {"spec": {"hostname": "x"}},
        ["spec: Forbidden: only cpu and memory resources are mutable"],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
        {},
        {"spec": {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]}},
        [
            (
                "spec.volumes: Forbidden: volumes are immutable on resize when "
                "InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled"
            )
        ],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "os": {"name": "windows"},
        },
        {},
        {
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]
            }
        },
        ["[]: Forbidden: windows pods cannot be resized"],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "nodeName": "n",
        },
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]
            }
        },
        ["[]: Forbidden: static pods cannot be resized"],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [
                {"name": "x", "image": "i", "resources": {"requests": {"cpu": "1"}}}
            ],
        },
        {},
        {
            "spec": {
                "initContainers": [
                    {"name": "x", "image": "i", "resources": {"requests": {"cpu": "2"}}}
                ]
            }
        },
        [],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [
                {
                    "name": "x",
                    "image": "i",
                    "restartPolicy": "Always",
                    "resources": {"requests": {"cpu": "1"}},
                }
            ],
        },
        {},
        {
            "spec": {
                "initContainers": [
                    {
                        "name": "x",
                        "image": "j",
                        "restartPolicy": "Always",
                        "resources": {"limits": {"memory": "1"}},
                    }
                ]
            }
        },
        [
            (
                "spec.initContainers[0].resources.requests: Forbidden: resource requests "
                "cannot be removed"
            ),
            (
                "spec.initContainers[0]: Forbidden: only cpu and memory resources for init "
                "or sidecar containers are mutable"
            ),
        ],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [{"name": "x", "image": "i"}],
        },
        {},
        {"spec": {"initContainers": []}},
        [("spec.initContainers: Forbidden: initContainers may not be added or removed on resize")],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "resources": {"requests": {"cpu": "1"}},
        },
        {},
        {"spec": {"resources": {"requests": {"cpu": "2"}}}},
        [],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "resources": {"requests": {"cpu": "1"}},
        },
        {},
        {"spec": {"resources": None}},
        ["spec.resources: Forbidden: pod-level resources cannot be removed"],
    ),
    (
        {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        },
        {},
        {"spec": {"resources": {"requests": {"cpu": "1"}, "limits": None}}},
        [("spec.resources.limits: Forbidden: pod-level resource limits cannot be removed")],
    ),
    (
        {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        {},
        {"spec": {"resources": {"requests": {"cpu": "2"}}}},
        [],
    ),
    (
        {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "a"}]},
                }
            ],
            "resourceClaims": [{"name": "a", "resourceClaimName": "b"}],
        },
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "resources": {"requests": {"cpu": "2"}, "claims": [{"name": "a"}]},
                    }
                ]
            }
        },
        [],
    ),
]


@pytest.mark.parametrize(("spec", "metadata", "changes", "expected"), RESIZES)
def test_resizes(spec: Fields, metadata: Fields, changes: Fields, expected: list[str]) -> None:
    old, new = changed(changes, spec, metadata)
    old.status.qos_class = new.status.qos_class = quality_of_service(old)

    assert update_errors(validate_pod_resize, new, old) == expected
