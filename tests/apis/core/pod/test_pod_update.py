"""Updates of pods: what may change, and how the rest is refused."""

import pytest

from apis.core.validation.pod import validate_pod_update
from tests.apis.core.pod.building import Fields, changed, update_errors
from tests.apis.core.pod.rules import (
    FIXED,
    ID_RANGE,
    QUALIFIED,
)

UPDATES: list[tuple[Fields, Fields, Fields, list[str]]] = [
    (
        {},
        {},
        {"spec": {"containers": [{"name": "c", "image": "j"}]}, "metadata": {"labels": {"a": "b"}}},
        [],
    ),
    (
        {},
        {},
        {"spec": {"containers": [{"name": "c", "image": ""}]}},
        [
            "spec.containers[0].image: Required value",
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -27,7 +27,7 @@\n"
                '    "Lifecycle": null,\n'
                '    "TerminationMessagePath": "/dev/termination-log",\n'
                '    "TerminationMessagePolicy": "File",\n'
                '-   "ImagePullPolicy": "Always",\n'
                '+   "ImagePullPolicy": "IfNotPresent",\n'
                '    "SecurityContext": null,\n'
                '    "Stdin": false,\n'
                '    "StdinOnce": false,\n'
            ),
        ],
    ),
    (
        {},
        {},
        {"spec": {"containers": [{"name": "c", "image": " j"}]}},
        [
            (
                'spec.containers[0].image: Invalid value: " j": must not have leading or '
                "trailing whitespace"
            ),
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -27,7 +27,7 @@\n"
                '    "Lifecycle": null,\n'
                '    "TerminationMessagePath": "/dev/termination-log",\n'
                '    "TerminationMessagePolicy": "File",\n'
                '-   "ImagePullPolicy": "Always",\n'
                '+   "ImagePullPolicy": "IfNotPresent",\n'
                '    "SecurityContext": null,\n'
                '    "Stdin": false,\n'
                '    "StdinOnce": false,\n'
            ),
        ],
    ),
    (
        {},
        {},
        {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}},
        ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ),
    (
        {"initContainers": [{"name": "x", "image": "i"}]},
        {},
        {"spec": {"initContainers": []}},
        ["spec.initContainers: Forbidden: pod updates may not add or remove containers"],
    ),
    (
        {},
        {},
        {"spec": {"containers": [{"name": "d", "image": "i"}]}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -3,7 +3,7 @@\n"
                '  "InitContainers": null,\n'
                '  "Containers": [\n'
                "   {\n"
                '-   "Name": "c",\n'
                '+   "Name": "d",\n'
                '    "Image": "i",\n'
                '    "Command": null,\n'
                '    "Args": null,\n'
            )
        ],
    ),
    (
        {},
        {},
        {"spec": {"hostname": "h"}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -64,7 +64,7 @@\n"
                '   "SELinuxChangePolicy": null\n'
                "  },\n"
                '  "ImagePullSecrets": null,\n'
                '- "Hostname": "",\n'
                '+ "Hostname": "h",\n'
                '  "Subdomain": "",\n'
                '  "Affinity": null,\n'
                '  "SchedulerName": "default-scheduler",\n'
            )
        ],
    ),
    (
        {},
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "args": ["x", "y"],
                        "resources": {"limits": {"cpu": "1"}},
                    }
                ]
            }
        },
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -6,14 +6,21 @@\n"
                '    "Name": "c",\n'
                '    "Image": "i",\n'
                '    "Command": null,\n'
                '-   "Args": null,\n'
                '+   "Args": [\n'
                '+    "x",\n'
                '+    "y"\n'
                "+   ],\n"
                '    "WorkingDir": "",\n'
                '    "Ports": null,\n'
                '    "EnvFrom": null,\n'
                '    "Env": null,\n'
                '    "Resources": {\n'
                '-    "Limits": null,\n'
                '-    "Requests": null,\n'
                '+    "Limits": {\n'
                '+     "cpu": "1"\n'
                "+    },\n"
                '+    "Requests": {\n'
                '+     "cpu": "1"\n'
                "+    },\n"
                '     "Claims": null\n'
                "    },\n"
                '    "ResizePolicy": null,\n'
            )
        ],
    ),
    (
        {},
        {},
        {
            "spec": {
                "nodeSelector": {"a": "b"},
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]}
                                    ]
                                }
                            ]
                        }
                    }
                },
            }
        },
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -39,7 +39,9 @@\n"
                '  "TerminationGracePeriodSeconds": 30,\n'
                '  "ActiveDeadlineSeconds": null,\n'
                '  "DNSPolicy": "ClusterFirst",\n'
                '- "NodeSelector": null,\n'
                '+ "NodeSelector": {\n'
                '+  "a": "b"\n'
                "+ },\n"
                '  "ServiceAccountName": "",\n'
                '  "DeprecatedServiceAccount": "",\n'
                '  "AutomountServiceAccountToken": null,\n'
                "@@ -66,7 +68,29 @@\n"
                '  "ImagePullSecrets": null,\n'
                '  "Hostname": "",\n'
                '  "Subdomain": "",\n'
                '- "Affinity": null,\n'
                '+ "Affinity": {\n'
                '+  "NodeAffinity": {\n'
                '+   "RequiredDuringSchedulingIgnoredDuringExecution": {\n'
                '+    "NodeSelectorTerms": [\n'
                "+     {\n"
                '+      "MatchExpressions": [\n'
                "+       {\n"
                '+        "Key": "a",\n'
                '+        "Operator": "In",\n'
                '+        "Values": [\n'
                '+         "x"\n'
                "+        ]\n"
                "+       }\n"
                "+      ],\n"
                '+      "MatchFields": null\n'
                "+     }\n"
                "+    ]\n"
                "+   },\n"
                '+   "PreferredDuringSchedulingIgnoredDuringExecution": null\n'
                "+  },\n"
                '+  "PodAffinity": null,\n'
                '+  "PodAntiAffinity": null\n'
                "+ },\n"
                '  "SchedulerName": "default-scheduler",\n'
                '  "Tolerations": null,\n'
                '  "HostAliases": null,\n'
            )
        ],
    ),
    ({}, {}, {"spec": {"activeDeadlineSeconds": 10}}, []),
    (
        {},
        {},
        {"spec": {"activeDeadlineSeconds": -1}},
        [
            (
                "spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and "
                "2147483647, inclusive"
            ),
            f"spec.activeDeadlineSeconds: Invalid value: -1: {ID_RANGE}",
        ],
    ),
    (
        {"activeDeadlineSeconds": 10},
        {},
        {"spec": {"activeDeadlineSeconds": 11}},
        [
            (
                "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal "
                "to previous value"
            )
        ],
    ),
    ({"activeDeadlineSeconds": 10}, {}, {"spec": {"activeDeadlineSeconds": 5}}, []),
    (
        {"activeDeadlineSeconds": 10},
        {},
        {"spec": {"activeDeadlineSeconds": None}},
        [
            (
                "spec.activeDeadlineSeconds: Invalid value: null: must not update from a "
                "positive integer to nil value"
            )
        ],
    ),
    (
        {"activeDeadlineSeconds": 10},
        {},
        {"spec": {"activeDeadlineSeconds": 0}},
        [
            (
                "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and "
                "2147483647, inclusive"
            )
        ],
    ),
    (
        {
            "tolerations": [
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
            ]
        },
        {},
        {
            "spec": {
                "tolerations": [
                    {
                        "key": "a",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 9,
                    },
                    {"key": "b", "operator": "Exists"},
                ]
            }
        },
        [],
    ),
    (
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        {},
        {"spec": {"tolerations": []}},
        [
            (
                "spec.tolerations: Forbidden: existing toleration can not be modified except "
                "its tolerationSeconds"
            )
        ],
    ),
    (
        {},
        {},
        {"spec": {"tolerations": [{"key": "a b", "operator": "Exists"}]}},
        [f'spec.tolerations[0].key: Invalid value: "a b": {QUALIFIED}'],
    ),
    (
        {},
        {},
        {"spec": {"terminationGracePeriodSeconds": 31}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -36,7 +36,7 @@\n"
                "  ],\n"
                '  "EphemeralContainers": null,\n'
                '  "RestartPolicy": "Always",\n'
                '- "TerminationGracePeriodSeconds": 30,\n'
                '+ "TerminationGracePeriodSeconds": 31,\n'
                '  "ActiveDeadlineSeconds": null,\n'
                '  "DNSPolicy": "ClusterFirst",\n'
                '  "NodeSelector": null,\n'
            )
        ],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {"spec": {"schedulingGates": [{"name": "b"}]}},
        [],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {"spec": {"schedulingGates": [{"name": "b"}, {"name": "c"}]}},
        [
            (
                "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but "
                "found new scheduling gate 'c'"
            )
        ],
    ),
    (
        {},
        {},
        {"spec": {"schedulingGates": [{"name": "c"}]}},
        [
            (
                "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but "
                "found new scheduling gate 'c'"
            )
        ],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {"spec": {"nodeSelector": {"a": "b"}}},
        [],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"a": "b"}},
        {},
        {"spec": {"nodeSelector": {"a": "c", "d": "e"}}},
        [
            (
                'spec.nodeSelector: Invalid value: {"a":"c","d":"e"}: only additions to spec.'
                "nodeSelector are allowed (no mutations or deletions)"
            )
        ],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"a": "b"}},
        {},
        {"spec": {"nodeSelector": None}},
        [
            (
                "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector "
                "are allowed (no mutations or deletions)"
            )
        ],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]}
                                    ]
                                }
                            ]
                        }
                    }
                }
            }
        },
        [],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
                        ]
                    }
                }
            },
        },
        {},
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]},
                                        {"key": "b", "operator": "Exists"},
                                    ]
                                }
                            ]
                        }
                    }
                }
            }
        },
        [],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
                        ]
                    }
                }
            },
        },
        {},
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "b", "operator": "Exists"},
                                        {"key": "a", "operator": "In", "values": ["x"]},
                                    ]
                                }
                            ]
                        }
                    }
                }
            }
        },
        [
            (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0]: Invalid value: {"MatchExpressions":[{"Key":"b",'
                '"Operator":"Exists","Values":null},{"Key":"a","Operator":"In",'
                '"Values":["x"]}],"MatchFields":null}: only additions are allowed (no '
                "mutations or deletions)"
            )
        ],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
                        ]
                    }
                }
            },
        },
        {},
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]}
                                    ]
                                },
                                {"matchExpressions": [{"key": "b", "operator": "Exists"}]},
                            ]
                        }
                    }
                }
            }
        },
        [
            (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms: Invalid value: [{"MatchExpressions":[{"Key":"a",'
                '"Operator":"In","Values":["x"]}],"MatchFields":null},'
                '{"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],'
                '"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms '
                "list are allowed"
            )
        ],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
                        ]
                    }
                }
            },
        },
        {},
        {"spec": {"affinity": None}},
        [
            (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms: Invalid value: null: no additions/deletions to non-empty "
                "NodeSelectorTerms list are allowed"
            )
        ],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}
                }
            },
        },
        {},
        {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]}
                                    ]
                                }
                            ]
                        }
                    }
                }
            }
        },
        [
            (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                'nodeSelectorTerms[0]: Invalid value: {"MatchExpressions":[{"Key":"a",'
                '"Operator":"In","Values":["x"]}],"MatchFields":null}: only additions are '
                "allowed (no mutations or deletions)"
            )
        ],
    ),
    (
        {
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "preference": {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In", "values": ["x"]}
                                ]
                            },
                        }
                    ]
                }
            },
        },
        {},
        {"spec": {"affinity": None}},
        [],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {
            "spec": {
                "affinity": {
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]
                    },
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "In", "values": ["x"]}
                                    ]
                                }
                            ]
                        }
                    },
                }
            }
        },
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -66,7 +66,23 @@\n"
                '  "ImagePullSecrets": null,\n'
                '  "Hostname": "",\n'
                '  "Subdomain": "",\n'
                '- "Affinity": null,\n'
                '+ "Affinity": {\n'
                '+  "NodeAffinity": null,\n'
                '+  "PodAffinity": {\n'
                '+   "RequiredDuringSchedulingIgnoredDuringExecution": [\n'
                "+    {\n"
                '+     "LabelSelector": null,\n'
                '+     "Namespaces": null,\n'
                '+     "TopologyKey": "z",\n'
                '+     "NamespaceSelector": null,\n'
                '+     "MatchLabelKeys": null,\n'
                '+     "MismatchLabelKeys": null\n'
                "+    }\n"
                "+   ],\n"
                '+   "PreferredDuringSchedulingIgnoredDuringExecution": null\n'
                "+  },\n"
                '+  "PodAntiAffinity": null\n'
                "+ },\n"
                '  "SchedulerName": "default-scheduler",\n'
                '  "Tolerations": null,\n'
                '  "HostAliases": null,\n'
            )
        ],
    ),
    (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {},
        {"spec": {"hostname": "x"}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -64,7 +64,7 @@\n"
                '   "SELinuxChangePolicy": null\n'
                "  },\n"
                '  "ImagePullSecrets": null,\n'
                '- "Hostname": "",\n'
                '+ "Hostname": "x",\n'
                '  "Subdomain": "",\n'
                '  "Affinity": null,\n'
                '  "SchedulerName": "default-scheduler",\n'
            )
        ],
    ),
    (
        {},
        {
            "annotations": {
                "container.apparmor.security.beta.kubernetes.io/c": "unconfined",
                "a": "b",
            }
        },
        {
            "metadata": {
                "annotations": {
                    "container.apparmor.security.beta.kubernetes.io/c": "runtime/default",
                    "a": "c",
                }
            }
        },
        [
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
                "Forbidden: may not remove or update AppArmor annotations"
            )
        ],
    ),
    (
        {},
        {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}},
        {"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": None}}},
        [
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
                "Forbidden: may not remove or update AppArmor annotations"
            )
        ],
    ),
    (
        {},
        {},
        {
            "metadata": {
                "annotations": {
                    "container.apparmor.security.beta.kubernetes.io/c": "unconfined",
                    "kubernetes.io/config.mirror": "x",
                }
            }
        },
        [
            (
                'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must '
                "set spec.nodeName if mirror pod annotation is set"
            ),
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
                "Forbidden: may not add AppArmor annotations"
            ),
            (
                "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add "
                "mirror pod annotation"
            ),
        ],
    ),
    (
        {"nodeName": "n"},
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {"metadata": {"annotations": {"kubernetes.io/config.mirror": "y"}}},
        [
            (
                "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not "
                "remove or update mirror pod annotation"
            )
        ],
    ),
    (
        {},
        {},
        {
            "metadata": {
                "labels": {"a b": "c"},
                "annotations": {"controller.kubernetes.io/pod-deletion-cost": "x"},
            }
        },
        [
            f'metadata.labels: Invalid value: "a b": {QUALIFIED}',
            (
                "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid "
                'value: "x": must be a 32bit integer'
            ),
        ],
    ),
    (
        {
            "volumes": [
                {"name": "v", "rbd": {"monitors": ["a"], "image": "x"}},
                {"name": "w", "secret": {"secretName": "a"}},
            ]
        },
        {},
        {
            "spec": {
                "volumes": [
                    {
                        "name": "v",
                        "iscsi": {"targetPortal": "a", "iqn": "eui.0123456789ABCDEF", "lun": 1},
                    },
                    {"name": "w", "secret": {"secretName": "b"}},
                ]
            }
        },
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -9,21 +9,22 @@\n"
                '    "GitRepo": null,\n'
                '    "Secret": null,\n'
                '    "NFS": null,\n'
                '-   "ISCSI": null,\n'
                '+   "ISCSI": {\n'
                '+    "TargetPortal": "a",\n'
                '+    "IQN": "eui.0123456789ABCDEF",\n'
                '+    "Lun": 1,\n'
                '+    "ISCSIInterface": "default",\n'
                '+    "FSType": "",\n'
                '+    "ReadOnly": false,\n'
                '+    "Portals": null,\n'
                '+    "DiscoveryCHAPAuth": false,\n'
                '+    "SessionCHAPAuth": false,\n'
                '+    "SecretRef": null,\n'
                '+    "InitiatorName": null\n'
                "+   },\n"
                '    "Glusterfs": null,\n'
                '    "PersistentVolumeClaim": null,\n'
                '-   "RBD": {\n'
                '-    "CephMonitors": [\n'
                '-     "a"\n'
                "-    ],\n"
                '-    "RBDImage": "x",\n'
                '-    "FSType": "",\n'
                '-    "RBDPool": "rbd",\n'
                '-    "RadosUser": "admin",\n'
                '-    "Keyring": "/etc/ceph/keyring",\n'
                '-    "SecretRef": null,\n'
                '-    "ReadOnly": false\n'
                "-   },\n"
                '+   "RBD": null,\n'
                '    "FlexVolume": null,\n'
                '    "Cinder": null,\n'
                '    "CephFS": null,\n'
                "@@ -52,7 +53,7 @@\n"
                '    "AWSElasticBlockStore": null,\n'
                '    "GitRepo": null,\n'
                '    "Secret": {\n'
                '-    "SecretName": "a",\n'
                '+    "SecretName": "b",\n'
                '     "Items": null,\n'
                '     "DefaultMode": 420,\n'
                '     "Optional": null,\n'
            )
        ],
    ),
    (
        {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "env": [{"name": "a", "value": "b"}],
                    "ports": [{"containerPort": 80}],
                    "securityContext": {"runAsUser": 1},
                }
            ]
        },
        {},
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "livenessProbe": {"httpGet": {"port": "http"}},
                        "env": [{"name": "a", "value": "c"}],
                        "ports": [{"containerPort": 81}],
                        "securityContext": {"runAsUser": 2},
                    }
                ]
            }
        },
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -12,7 +12,7 @@\n"
                "     {\n"
                '      "Name": "",\n'
                '      "HostPort": 0,\n'
                '-     "ContainerPort": 80,\n'
                '+     "ContainerPort": 81,\n'
                '      "Protocol": "TCP",\n'
                '      "HostIP": ""\n'
                "     }\n"
                "@@ -21,7 +21,7 @@\n"
                '    "Env": [\n'
                "     {\n"
                '      "Name": "a",\n'
                '-     "Value": "b",\n'
                '+     "Value": "c",\n'
                '      "ValueFrom": null\n'
                "     }\n"
                "    ],\n"
                "@@ -39,7 +39,7 @@\n"
                '     "Exec": null,\n'
                '     "HTTPGet": {\n'
                '      "Path": "/",\n'
                '-     "Port": 80,\n'
                '+     "Port": "http",\n'
                '      "Host": "",\n'
                '      "Scheme": "HTTP",\n'
                '      "HTTPHeaders": null,\n'
                "@@ -65,7 +65,7 @@\n"
                '     "Privileged": null,\n'
                '     "SELinuxOptions": null,\n'
                '     "WindowsOptions": null,\n'
                '-    "RunAsUser": 1,\n'
                '+    "RunAsUser": 2,\n'
                '     "RunAsGroup": null,\n'
                '     "RunAsNonRoot": null,\n'
                '     "ReadOnlyRootFilesystem": null,\n'
            )
        ],
    ),
    (
        {},
        {},
        {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -34,7 +34,40 @@\n"
                '    "TTY": false\n'
                "   }\n"
                "  ],\n"
                '- "EphemeralContainers": null,\n'
                '+ "EphemeralContainers": [\n'
                "+  {\n"
                '+   "Name": "e",\n'
                '+   "Image": "i",\n'
                '+   "Command": null,\n'
                '+   "Args": null,\n'
                '+   "WorkingDir": "",\n'
                '+   "Ports": null,\n'
                '+   "EnvFrom": null,\n'
                '+   "Env": null,\n'
                '+   "Resources": {\n'
                '+    "Limits": null,\n'
                '+    "Requests": null,\n'
                '+    "Claims": null\n'
                "+   },\n"
                '+   "ResizePolicy": null,\n'
                '+   "RestartPolicy": null,\n'
                '+   "RestartPolicyRules": null,\n'
                '+   "VolumeMounts": null,\n'
                '+   "VolumeDevices": null,\n'
                '+   "LivenessProbe": null,\n'
                '+   "ReadinessProbe": null,\n'
                '+   "StartupProbe": null,\n'
                '+   "Lifecycle": null,\n'
                '+   "TerminationMessagePath": "/dev/termination-log",\n'
                '+   "TerminationMessagePolicy": "File",\n'
                '+   "ImagePullPolicy": "Always",\n'
                '+   "SecurityContext": null,\n'
                '+   "Stdin": false,\n'
                '+   "StdinOnce": false,\n'
                '+   "TTY": false,\n'
                '+   "TargetContainerName": ""\n'
                "+  }\n"
                "+ ],\n"
                '  "RestartPolicy": "Always",\n'
                '  "TerminationGracePeriodSeconds": 30,\n'
                '  "ActiveDeadlineSeconds": null,\n'
            )
        ],
    ),
    (
        {},
        {},
        {"spec": {"nodeName": "n"}},
        [
            (
                f"spec: Forbidden: {FIXED}\n"
                "@@ -43,7 +43,7 @@\n"
                '  "ServiceAccountName": "",\n'
                '  "DeprecatedServiceAccount": "",\n'
                '  "AutomountServiceAccountToken": null,\n'
                '- "NodeName": "",\n'
                '+ "NodeName": "n",\n'
                '  "HostNetwork": false,\n'
                '  "HostPID": false,\n'
                '  "HostIPC": false,\n'
            )
        ],
    ),
]


@pytest.mark.parametrize(("spec", "metadata", "changes", "expected"), UPDATES)
def test_updates(spec: Fields, metadata: Fields, changes: Fields, expected: list[str]) -> None:
    old, new = changed(changes, spec, metadata)

    assert update_errors(validate_pod_update, new, old) == expected
