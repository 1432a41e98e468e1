"""Documents of admissionregistration.k8s.io: minimal ones, and changes of them."""

from typing import Any

RULE = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["deployments"],
}
DEFAULTED_RULE = {**RULE, "scope": "*"}
DEFAULTED_MATCH = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
CONSTRAINTS = {"resourceRules": [RULE]}


def webhook(**changes: Any) -> dict[str, Any]:
    return {
        "name": "images.example.com",
        "clientConfig": {"url": "https://hooks/images"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **changes,
    }


def configuration(*webhooks: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "images"}, "webhooks": list(webhooks)}


def policy(**changes: Any) -> dict[str, Any]:
    """A ValidatingAdmissionPolicy."""
    spec = {"matchConstraints": CONSTRAINTS, "validations": [{"expression": "true"}], **changes}
    return {"metadata": {"name": "replicas"}, "spec": spec}


def mutating_policy(**changes: Any) -> dict[str, Any]:
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
    spec = {
        "matchConstraints": CONSTRAINTS,
        "mutations": [mutation],
        "reinvocationPolicy": "Never",
        **changes,
    }
    return {"metadata": {"name": "labels"}, "spec": spec}


def binding(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "bound"}, "spec": {"policyName": "replicas", **spec}}
