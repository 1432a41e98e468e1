"""A document of each kind that a server accepts, with many of its fields set.

The fuzz campaign spoils them. Kinds that are missing here are made from samples of their classes,
which validation refuses more often.
"""

from typing import Any, Final

from tests.apiserver.extensions.definitions import definition, having
from tests.faults.worst_definitions import BLOB, FUZZED_GROUP, RACK, RACK_SCHEMA

_RULE: Final = {"apiGroups": ["", "apps"], "resources": ["pods", "*"], "verbs": ["get", "*"]}
_REFERENCE: Final = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_SUBJECTS: Final = [
    {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"},
    {"kind": "ServiceAccount", "name": "default", "namespace": "default"},
]
_ATTRIBUTES: Final = {
    "namespace": "default",
    "verb": "get",
    "group": "",
    "resource": "configmaps",
    "labelSelector": {
        "requirements": [{"key": "a", "operator": "In", "values": ["b", "c"]}],
    },
    "fieldSelector": {
        "requirements": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}],
    },
}
_EXTRA: Final = {"example.io/scopes": ["a", "b"]}
_FLOW_SUBJECTS: Final = [
    {"kind": "User", "user": {"name": "jane"}},
    {"kind": "Group", "group": {"name": "*"}},
    {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "default"}},
]

SENSIBLE: Final[dict[str, dict[str, Any]]] = {
    "Rack": RACK,
    "Blob": BLOB,
    "One": RACK,
    "ConfigMap": {"data": {"a": "b", "c.d": ""}, "binaryData": {"e": "YQ=="}, "immutable": False},
    "Secret": {"data": {"a": "YQ=="}, "stringData": {"b": "c"}, "type": "Opaque"},
    "ServiceAccount": {"secrets": [{"name": "x"}], "automountServiceAccountToken": False},
    "Service": {
        "spec": {
            "ports": [
                {"name": "a", "port": 80, "targetPort": "http", "protocol": "TCP"},
                {"name": "b", "port": 53, "targetPort": 53, "protocol": "UDP"},
            ],
            "selector": {"app": "x"},
            "type": "ClusterIP",
            "sessionAffinity": "None",
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}},
    },
    "Gadget": {
        "spec": {"model": "a1", "replicas": 2, "parts": [{"name": "bulb"}, {"name": "wire"}]},
        "status": {"readyReplicas": 1},
    },
    "Lease": {
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": "2024-02-29T12:30:45.123456Z",
            "renewTime": "2024-02-29T12:30:45.123456Z",
            "leaseTransitions": 3,
        }
    },
    "Role": {"rules": [_RULE, {**_RULE, "resourceNames": ["one"]}]},
    "ClusterRole": {
        "rules": [_RULE, {"nonResourceURLs": ["/x/*"], "verbs": ["get"]}],
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    },
    "RoleBinding": {"roleRef": _REFERENCE, "subjects": _SUBJECTS},
    "ClusterRoleBinding": {"roleRef": _REFERENCE, "subjects": _SUBJECTS},
    "TokenReview": {"spec": {"token": "x", "audiences": ["a"]}},
    "TokenRequest": {"spec": {"audiences": [], "expirationSeconds": 3600}},
    "SubjectAccessReview": {
        "spec": {
            "user": "jane",
            "groups": ["a"],
            "uid": "1",
            "extra": _EXTRA,
            "resourceAttributes": _ATTRIBUTES,
        }
    },
    "LocalSubjectAccessReview": {"spec": {"user": "jane", "resourceAttributes": _ATTRIBUTES}},
    "SelfSubjectAccessReview": {"spec": {"resourceAttributes": _ATTRIBUTES}},
    "SelfSubjectRulesReview": {"spec": {"namespace": "default"}},
    "Event": {
        "involvedObject": {"namespace": "default", "name": "x", "kind": "Gadget"},
        "reason": "Fell",
        "message": "over",
        "type": "Warning",
        "count": 3,
    },
    "Event.events.k8s.io": {
        "eventTime": "2024-02-29T12:30:45.123456Z",
        "reportingController": "example.io/x",
        "reportingInstance": "x",
        "action": "Falling",
        "reason": "Fell",
        "regarding": {"namespace": "default", "name": "x", "kind": "Gadget"},
        "note": "over",
        "type": "Warning",
        "series": {"count": 2, "lastObservedTime": "2024-02-29T12:30:45.123456Z"},
    },
    "CustomResourceDefinition": definition(having(RACK_SCHEMA), plural="ones", group=FUZZED_GROUP),
    "FlowSchema": {
        "spec": {
            "priorityLevelConfiguration": {"name": "one"},
            "matchingPrecedence": 500,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [
                {
                    "subjects": _FLOW_SUBJECTS,
                    "resourceRules": [
                        {
                            "verbs": ["get", "list"],
                            "apiGroups": ["*"],
                            "resources": ["*"],
                            "clusterScope": True,
                            "namespaces": ["*"],
                        }
                    ],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/x/*"]}],
                }
            ],
        }
    },
    "PriorityLevelConfiguration": {
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 5,
                "lendablePercent": 50,
                "borrowingLimitPercent": 100,
                "limitResponse": {
                    "type": "Queue",
                    "queuing": {"queues": 16, "handSize": 4, "queueLengthLimit": 10},
                },
            },
        }
    },
}
