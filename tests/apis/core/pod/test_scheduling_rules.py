"""Affinity, tolerations and topology spread."""

import pytest

from tests.apis.core.pod.building import (
    Case,
    Fields,
    spec_errors,
)
from tests.apis.core.pod.rules import (
    LABEL,
    LABEL_VALUE,
    NOT_LOCAL,
    QUALIFIED,
    SUBDOMAIN,
)

SCHEDULING: list[Case] = [
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}
                }
            }
        },
        [
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms: Required value: must have at least one node selector term"
            )
        ],
    ),
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In"},
                                    {"key": "a", "operator": "Exists", "values": ["x"]},
                                    {"key": "a", "operator": "Gt"},
                                    {"key": "a b", "operator": "Is"},
                                    {"key": "a", "operator": "In", "values": ["a b"]},
                                ]
                            }
                        ]
                    }
                }
            }
        },
        [
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be "
                "specified when `operator` is 'In' or 'NotIn'"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be "
                "specified when `operator` is 'Exists' or 'DoesNotExist'"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be "
                "specified single value when `operator` is 'Lt' or 'Gt'"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchExpressions[3].operator: Invalid value: "Is": not '
                "a valid selector operator"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchExpressions[3].key: Invalid value: "a b": '
                f"{QUALIFIED}"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchExpressions[4].values[0]: Invalid value: "a b": '
                f"{LABEL_VALUE}"
            ),
        ],
    ),
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {
                                        "key": "metadata.name",
                                        "operator": "In",
                                        "values": ["a", "B"],
                                    },
                                    {"key": "spec.x", "operator": "Exists"},
                                    {"key": "metadata.name", "operator": "NotIn"},
                                ]
                            }
                        ]
                    }
                }
            }
        },
        [
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchFields[0].values: Required value: must be only "
                "one value when `operator` is 'In' or 'NotIn' for node field selector"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchFields[0].values[1]: Invalid value: "B": '
                f"{SUBDOMAIN}"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Exists": not '
                "a valid selector operator"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0].matchFields[1].key: Invalid value: "spec.x": not a '
                "valid field selector key"
            ),
            (
                "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchFields[2].values: Required value: must be only "
                "one value when `operator` is 'In' or 'NotIn' for node field selector"
            ),
        ],
    ),
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 0, "preference": {}},
                        {
                            "weight": 101,
                            "preference": {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In", "values": ["a b"]}
                                ]
                            },
                        },
                    ]
                }
            }
        },
        [
            (
                "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                "weight: Invalid value: 0: must be in the range 1-100"
            ),
            (
                "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]."
                "weight: Invalid value: 101: must be in the range 1-100"
            ),
        ],
    ),
    (
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "",
                            "namespaces": ["A"],
                            "labelSelector": {"matchLabels": {"a b": "c"}},
                            "namespaceSelector": {
                                "matchExpressions": [
                                    {"key": "a", "operator": "Is", "values": ["x y"]}
                                ]
                            },
                        }
                    ]
                }
            }
        },
        [
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f'labelSelector.matchLabels: Invalid value: "a b": {QUALIFIED}'
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                'namespaceSelector.matchExpressions[0].operator: Invalid value: "Is": not a '
                "valid selector operator"
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                'namespaceSelector.matchExpressions[0].values[0]: Invalid value: "x y": '
                f"{LABEL_VALUE}"
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f'namespace: Invalid value: "A": {LABEL}'
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                "topologyKey: Required value: can not be empty"
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                'topologyKey: Invalid value: "": name part must be non-empty'
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f'topologyKey: Invalid value: "": {QUALIFIED}'
            ),
        ],
    ),
    (
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "zone", "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"]}
                    ]
                }
            }
        },
        [
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f"matchLabelKeys: Forbidden: {NOT_LOCAL}"
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f"mismatchLabelKeys: Forbidden: {NOT_LOCAL}"
            ),
        ],
    ),
    (
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "zone",
                            "matchLabelKeys": ["a b", "c"],
                            "mismatchLabelKeys": ["c"],
                            "labelSelector": {},
                        }
                    ]
                }
            }
        },
        [
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                f'matchLabelKeys[0]: Invalid value: "a b": {QUALIFIED}'
            ),
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                'matchLabelKeys[1]: Invalid value: "c": exists in both matchLabelKeys and '
                "mismatchLabelKeys"
            ),
        ],
    ),
    (
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "zone",
                            "matchLabelKeys": ["app"],
                            "labelSelector": {
                                "matchLabels": {"app": "x"},
                                "matchExpressions": [
                                    {"key": "app", "operator": "In", "values": ["x"]}
                                ],
                            },
                        }
                    ]
                }
            }
        },
        [
            (
                "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]: "
                'Invalid value: "app": exists in both matchLabelKeys and labelSelector'
            )
        ],
    ),
    (
        {
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 0, "podAffinityTerm": {"topologyKey": "a b"}}
                    ]
                }
            }
        },
        [
            (
                "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                "weight: Invalid value: 0: must be in the range 1-100"
            ),
            (
                "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                f'podAffinityTerm.topologyKey: Invalid value: "a b": {QUALIFIED}'
            ),
        ],
    ),
    (
        {
            "tolerations": [
                {"key": "a b"},
                {"operator": "Equal"},
                {"key": "a", "operator": "Exists", "value": "x"},
                {"key": "a", "operator": "Is"},
                {"key": "a", "operator": "Gt", "value": "1"},
                {"key": "a", "value": "x y"},
                {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1},
                {"key": "a", "effect": "Odd"},
            ]
        },
        [
            f'tolerations[0].key: Invalid value: "a b": {QUALIFIED}',
            (
                'tolerations[1].operator: Invalid value: "Equal": operator must be Exists '
                'when `key` is empty, which means "match all values and all keys"'
            ),
            (
                'tolerations[2].operator: Invalid value: "x": value must be empty when '
                "`operator` is 'Exists'"
            ),
            (
                'tolerations[3].operator: Unsupported value: "Is": supported values: '
                '"Equal", "Exists"'
            ),
            (
                'tolerations[4].operator: Unsupported value: "Gt": supported values: '
                '"Equal", "Exists", "Lt", "Gt"'
            ),
            f'tolerations[5].operator: Invalid value: "x y": {LABEL_VALUE}',
            (
                'tolerations[6].effect: Invalid value: "NoSchedule": effect must be '
                "'NoExecute' when `tolerationSeconds` is set"
            ),
            (
                'tolerations[7].effect: Unsupported value: "Odd": supported values: '
                '"NoSchedule", "PreferNoSchedule", "NoExecute"'
            ),
        ],
    ),
    (
        {
            "topologySpreadConstraints": [
                {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ]
        },
        [
            ("topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"),
            (
                "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate "
                'value: "{zone, DoNotSchedule}"'
            ),
        ],
    ),
    (
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "",
                    "whenUnsatisfiable": "Maybe",
                    "minDomains": 0,
                    "nodeAffinityPolicy": "Maybe",
                    "nodeTaintsPolicy": "Maybe",
                }
            ]
        },
        [
            "topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            (
                'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": '
                'supported values: "DoNotSchedule", "ScheduleAnyway"'
            ),
            (
                "topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater "
                "than zero"
            ),
            (
                "topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use "
                "minDomains if whenUnsatisfiable=DoNotSchedule, not Maybe"
            ),
            (
                "topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "
                '"Maybe": supported values: "Honor", "Ignore"'
            ),
            (
                'topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Maybe": '
                'supported values: "Honor", "Ignore"'
            ),
        ],
    ),
    (
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "minDomains": 1,
                    "matchLabelKeys": ["a"],
                }
            ]
        },
        [
            (
                "topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use "
                "minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
            ),
            f"topologySpreadConstraints[0].matchLabelKeys: Forbidden: {NOT_LOCAL}",
        ],
    ),
    (
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "matchLabelKeys": ["a b", "app"],
                    "labelSelector": {
                        "matchLabels": {"app": "x"},
                        "matchExpressions": [{"key": "app", "operator": "In", "values": ["a b"]}],
                    },
                }
            ]
        },
        [
            (f'topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "a b": {QUALIFIED}'),
            (
                'topologySpreadConstraints[0][1]: Invalid value: "app": exists in both '
                "matchLabelKeys and labelSelector"
            ),
            (
                "topologySpreadConstraints[0].labelSelector.matchExpressions[0].values[0]: "
                f'Invalid value: "a b": {LABEL_VALUE}'
            ),
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), SCHEDULING)
def test_scheduling(fields: Fields, expected: list[str]) -> None:
    assert spec_errors(fields) == expected
