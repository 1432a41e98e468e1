"""Status updates of pods, which nodes and the scheduler write."""

import pytest

from apis.core.validation.pod import validate_pod_status_update
from tests.apis.core.pod.building import Fields, changed, update_errors
from tests.apis.core.pod.rules import (
    ID_RANGE,
    LABEL,
    NOT_ON_WINDOWS,
    NOT_REVIVED,
    QUALIFIED,
    SUBDOMAIN,
)

STATUSES: list[tuple[Fields, Fields, Fields, list[str]]] = [
    (
        {},
        {},
        {"status": {"phase": "Running", "podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}]}},
        [],
    ),
    (
        {},
        {},
        {
            "status": {
                "conditions": [
                    {"type": "a b", "status": "True"},
                    {"type": "Ready", "status": "True", "observedGeneration": -1},
                ]
            }
        },
        [
            f'status.conditions[0].Type: Invalid value: "a b": {QUALIFIED}',
            (
                "status.conditions[1].observedGeneration: Invalid value: -1: must be a "
                "non-negative integer"
            ),
        ],
    ),
    (
        {},
        {},
        {"status": {"nominatedNodeName": "A"}},
        [f'status.nominatedNodeName: Invalid value: "A": {SUBDOMAIN}'],
    ),
    (
        {"nodeName": "n"},
        {},
        {"status": {"nominatedNodeName": "m"}},
        [
            (
                "status.nominatedNodeName: Forbidden: may not be set on pods that are "
                "already bound to a node"
            )
        ],
    ),
    (
        {},
        {},
        {"status": {"observedGeneration": -1}},
        ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"],
    ),
    (
        {},
        {},
        {"status": {"qosClass": "Guaranteed"}},
        ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    ),
    (
        {"restartPolicy": "Never"},
        {
            "containerStatuses": [
                {
                    "name": "c",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 0}},
                }
            ]
        },
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [f"status.containerStatuses[0].state: Forbidden: {NOT_REVIVED}"],
    ),
    (
        {"restartPolicy": "OnFailure"},
        {
            "containerStatuses": [
                {
                    "name": "c",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 0}},
                }
            ]
        },
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [f"status.containerStatuses[0].state: Forbidden: {NOT_REVIVED}"],
    ),
    (
        {"restartPolicy": "OnFailure"},
        {
            "containerStatuses": [
                {
                    "name": "c",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 1}},
                }
            ]
        },
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [],
    ),
    (
        {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "restartPolicy": "Never",
                    "restartPolicyRules": [
                        {"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}
                    ],
                }
            ],
        },
        {
            "containerStatuses": [
                {
                    "name": "c",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 3}},
                }
            ]
        },
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [],
    ),
    (
        {"restartPolicy": "Never", "initContainers": [{"name": "x", "image": "i"}]},
        {
            "initContainerStatuses": [
                {
                    "name": "x",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 1}},
                }
            ]
        },
        {
            "status": {
                "initContainerStatuses": [
                    {
                        "name": "x",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [f"status.initContainerStatuses[0].state: Forbidden: {NOT_REVIVED}"],
    ),
    (
        {},
        {
            "ephemeralContainerStatuses": [
                {
                    "name": "x",
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "restartCount": 0,
                    "state": {"terminated": {"exitCode": 1}},
                }
            ]
        },
        {
            "status": {
                "ephemeralContainerStatuses": [
                    {
                        "name": "x",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {}},
                    }
                ]
            }
        },
        [f"status.ephemeralContainerStatuses[0].state: Forbidden: {NOT_REVIVED}"],
    ),
    ({}, {}, {"status": {"podIP": "1.2.3.4"}}, []),
    ({}, {}, {"status": {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.5"}]}}, []),
    (
        {},
        {},
        {"status": {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}]}},
        [
            (
                'status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may '
                "specify no more than one IP for each IP family"
            )
        ],
    ),
    (
        {},
        {},
        {"status": {"podIP": "x", "podIPs": [{"ip": "x"}, {"ip": "::1"}]}},
        [
            (
                'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.'
                "9.8.7 or 2001:db8::ffff)"
            ),
            (
                "status.podIPs: Internal error: failed to check for dual stack with "
                "error:invalid IP[0]: x"
            ),
            (
                'status.podIPs: Invalid value: [{"IP":"x"},{"IP":"::1"}]: may specify no '
                "more than one IP for each IP family"
            ),
        ],
    ),
    (
        {},
        {},
        {"status": {"podIP": "01.2.3.4", "podIPs": [{"ip": "01.2.3.4"}]}},
        ['status.podIPs[0]: Invalid value: "01.2.3.4": must not have leading 0s'],
    ),
    (
        {},
        {},
        {
            "status": {
                "hostIP": "1.2.3.4",
                "hostIPs": [{"ip": "1.2.3.5"}, {"ip": "::1"}, {"ip": "::2"}],
            }
        },
        [
            'status.hostIPs[0].ip: Invalid value: "1.2.3.5": must be equal to `hostIP`',
            (
                'status.hostIPs: Invalid value: [{"IP":"1.2.3.5"},{"IP":"::1"},'
                '{"IP":"::2"}]: may specify no more than one IP for each IP family'
            ),
        ],
    ),
    (
        {},
        {},
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "user": {"linux": {"uid": -1, "gid": -1, "supplementalGroups": [-1]}},
                    }
                ]
            }
        },
        [
            (
                "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be "
                "between 0 and 4294967295, inclusive"
            ),
            f"status.containerStatuses[0].user.linux.gid: Invalid value: -1: {ID_RANGE}",
            (
                "status.containerStatuses[0].user.linux.supplementalGroups[0]: Invalid "
                f"value: -1: {ID_RANGE}"
            ),
        ],
    ),
    (
        {"os": {"name": "windows"}},
        {},
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "user": {"linux": {"uid": 1, "gid": 1}},
                    }
                ]
            }
        },
        [f"status.containerStatuses[0].user.linux: Forbidden: {NOT_ON_WINDOWS}"],
    ),
    (
        {},
        {},
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "c",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "allocatedResourcesStatus": [
                            {
                                "name": "example.com/a",
                                "resources": [
                                    {"resourceID": "a", "health": "Odd"},
                                    {"resourceID": "a", "health": "Healthy"},
                                ],
                            },
                            {"name": "claim:x"},
                        ],
                    }
                ],
                "ephemeralContainerStatuses": [
                    {
                        "name": "e",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "allocatedResourcesStatus": [{"name": "a"}],
                    }
                ],
            }
        },
        [
            (
                "status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid "
                'value: "example.com/a": must match one of the container\'s resource requests'
            ),
            (
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0]."
                'health: Unsupported value: "Odd": supported values: "Healthy", "Unhealthy", '
                '"Unknown"'
            ),
            (
                "status.containerStatuses[0].allocatedResourcesStatus[0].resources[1]."
                'resourceID: Duplicate value: "a"'
            ),
            (
                "status.containerStatuses[0].allocatedResourcesStatus[1].name: Invalid "
                'value: "claim:x": must match one of the container\'s resource claims as '
                "'claim:<claimName>/<requestName>' when container.resources.claims[*]."
                "request is set or 'claim:<claimName>' when it is empty"
            ),
            (
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: "
                "must not be specified in container status"
            ),
        ],
    ),
    (
        {},
        {},
        {
            "status": {
                "resourceClaimStatuses": [{"name": "a", "resourceClaimName": "A"}, {"name": "a"}]
            }
        },
        [
            (
                'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the '
                "name of an entry in `spec.resourceClaims`"
            ),
            (f'status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A": {SUBDOMAIN}'),
            (
                'status.resourceClaimStatuses[1].name: Invalid value: "a": must match the '
                "name of an entry in `spec.resourceClaims`"
            ),
            'status.resourceClaimStatuses[1].name: Duplicate value: "a"',
        ],
    ),
    (
        {},
        {},
        {
            "status": {
                "extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": ""}
            }
        },
        [
            (
                "status.extendedResourceClaimStatus.requestMappings: Required value: at "
                "least one request mapping is required"
            ),
            "status.extendedResourceClaimStatus.resourceClaimName: Required value",
        ],
    ),
    (
        {},
        {},
        {
            "status": {
                "extendedResourceClaimStatus": {
                    "requestMappings": [
                        {"containerName": "x", "resourceName": "r", "requestName": "R"},
                        {"containerName": "c", "resourceName": "r", "requestName": "a"},
                        {"containerName": "c", "resourceName": "r", "requestName": "a"},
                    ],
                    "resourceClaimName": "A",
                }
            }
        },
        [
            (
                "status.extendedResourceClaimStatus.requestMappings[0].containerName: "
                'Invalid value: "x": must match the name of an entry in spec.initContainers.'
                "name or spec.containers.name"
            ),
            f'status.extendedResourceClaimStatus.requestName: Invalid value: "R": {LABEL}',
            (
                "status.extendedResourceClaimStatus.requestMappings[1].resourceName: Invalid "
                'value: "r": must match the extended resource name of an entry in spec.'
                "initContainers.resources.requests or spec.containers.resources.requests"
            ),
            (
                "status.extendedResourceClaimStatus.requestMappings[2].resourceName: Invalid "
                'value: "r": must match the extended resource name of an entry in spec.'
                "initContainers.resources.requests or spec.containers.resources.requests"
            ),
            (
                "status.extendedResourceClaimStatus.requestMappings[2].containerName: "
                'Duplicate value: "c"'
            ),
            (
                "status.extendedResourceClaimStatus.requestMappings[2].resourceName: "
                'Duplicate value: "r"'
            ),
            (
                "status.extendedResourceClaimStatus.requestMappings[2].requestName: "
                'Duplicate value: "a"'
            ),
            (
                'status.extendedResourceClaimStatus.resourceClaimName: Invalid value: "A": '
                f"{SUBDOMAIN}"
            ),
        ],
    ),
]


@pytest.mark.parametrize(("spec", "status", "changes", "expected"), STATUSES)
def test_status_updates(spec: Fields, status: Fields, changes: Fields, expected: list[str]) -> None:
    old, new = changed(changes, spec, status=status)

    assert update_errors(validate_pod_status_update, new, old) == expected
