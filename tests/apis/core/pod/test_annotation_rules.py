"""Metadata of pods: annotations that have a meaning, and what else a pod says beside its spec."""

import pytest

from tests.apis.core.pod.building import Fields, pod, pod_errors
from tests.apis.core.pod.rules import (
    LABEL,
    LABEL_VALUE,
    QUALIFIED,
)

METADATA: list[tuple[Fields, Fields, list[str]]] = [
    (
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {},
        [
            (
                'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must '
                "set spec.nodeName if mirror pod annotation is set"
            )
        ],
    ),
    (
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {"nodeName": "n", "resourceClaims": [{"name": "a", "resourceClaimName": "b"}]},
        ["[]: Forbidden: static pods do not support resource claims"],
    ),
    (
        {
            "annotations": {
                "scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a b","operator":"Exists"}]'
            }
        },
        {},
        [
            (
                "metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].key: "
                f'Invalid value: "a b": {QUALIFIED}'
            )
        ],
    ),
    (
        {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "+1"}},
        {},
        [
            (
                "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid "
                'value: "+1": must be a 32bit integer'
            )
        ],
    ),
    (
        {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "2147483648"}},
        {},
        [
            (
                "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid "
                'value: "2147483648": must be a 32bit integer'
            )
        ],
    ),
    ({"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-100"}}, {}, []),
    (
        {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "odd"}},
        {},
        [
            (
                "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid "
                'value: "odd": must be a valid seccomp profile'
            )
        ],
    ),
    (
        {"annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "localhost//a/../b"}},
        {},
        [
            (
                "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: "
                'Invalid value: "/a/../b": must be a relative path'
            ),
            (
                "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: "
                "Invalid value: \"/a/../b\": must not contain '..'"
            ),
        ],
    ),
    (
        {"annotations": {"container.apparmor.security.beta.kubernetes.io/x": "odd"}},
        {},
        [
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: "
                'Invalid value: "x": container not found'
            ),
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: "
                'Invalid value: "odd": invalid AppArmor profile name: "odd"'
            ),
        ],
    ),
    (
        {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}},
        {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}},
        [
            (
                "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in "
                "annotation and field must match"
            )
        ],
    ),
    (
        {"annotations": {"container.seccomp.security.alpha.kubernetes.io/c": "localhost/a"}},
        {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "securityContext": {
                        "seccompProfile": {"type": "Localhost", "localhostProfile": "b"}
                    },
                }
            ]
        },
        [
            (
                "spec.containers[0].securityContext.seccompProfile.localhostProfile: "
                "Forbidden: seccomp profile in annotation and field must match"
            )
        ],
    ),
    (
        {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}},
        {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}},
                }
            ]
        },
        [
            (
                "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: "
                "apparmor type in annotation and field must match"
            )
        ],
    ),
    (
        {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "localhost/a"}},
        {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "securityContext": {
                        "appArmorProfile": {"type": "Localhost", "localhostProfile": "b"}
                    },
                }
            ]
        },
        [
            (
                "spec.containers[0].securityContext.appArmorProfile.localhostProfile: "
                "Forbidden: apparmor profile in annotation and field must match"
            )
        ],
    ),
    (
        {"labels": {"a b": "c d"}, "annotations": {"x y": "z"}},
        {"hostname": "A"},
        [
            f'metadata.labels: Invalid value: "a b": {QUALIFIED}',
            f'metadata.labels: Invalid value: "c d": {LABEL_VALUE}',
            f'metadata.annotations: Invalid value: "x y": {QUALIFIED}',
            f'spec.hostname: Invalid value: "A": {LABEL}',
        ],
    ),
    (
        {},
        {
            "volumes": [
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}}
            ]
        },
        [
            (
                "spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must "
                "not be specified when serviceAccountName is not set"
            )
        ],
    ),
]


@pytest.mark.parametrize(("metadata", "spec", "expected"), METADATA)
def test_metadata(metadata: Fields, spec: Fields, expected: list[str]) -> None:
    assert pod_errors(pod(spec, metadata)) == expected
