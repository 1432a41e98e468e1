"""AdmissionRequest: a write as the document that webhooks receive, and that expressions read.

It is the same in admission.k8s.io/v1 and v1beta1. Its uid and the objects are added by those who
need them: expressions have the objects as variables of their own.
"""

from typing import Any, Final

from apimachinery.codec import dump_json
from apimachinery.meta.types import TypeMeta
from apimachinery.meta.unstructured import load_content
from apimachinery.model.model import new_model
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apiserver import User
from apiserver.served_versions import ServedVersion

OPTIONS_VERSION: Final = "meta.k8s.io/v1"


def admission_request(write: ReviewedWrite, shown: ServedVersion) -> dict[str, Any]:
    """Return the request without uid, object and oldObject, as seen in the version *shown*.

    As in Kubernetes, what is empty is left out.
    """
    own, attributes = write.own, write.attributes
    subresource = write.target.subresource
    request = {
        "kind": _kind(shown.kind),
        "resource": _resource(shown.resource),
        "subResource": subresource,
        "requestKind": _kind(own.kind),
        "requestResource": _resource(own.resource),
        "requestSubResource": subresource,
        "name": write.name,
        "namespace": write.namespace,
        "operation": str(attributes.operation),
        "userInfo": _user_info(attributes.user),
        "dryRun": attributes.dry_run,
        "options": _options(attributes.options),
    }
    return {key: value for key, value in request.items() if value != ""}


def _kind(kind: GroupVersionKind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(resource: GroupVersionResource) -> dict[str, str]:
    return {
        "group": resource.group,
        "version": resource.version,
        "resource": resource.resource,
    }


def _user_info(user: User) -> dict[str, Any]:
    info = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {key: value for key, value in info.items() if value}


def _options(options: TypeMeta | None) -> dict[str, Any] | None:
    if options is None:
        return None
    values = {**options.__dict__, "kind": type(options).__name__, "api_version": OPTIONS_VERSION}
    return load_content(dump_json(new_model(type(options), values)))
