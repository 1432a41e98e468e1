"""Validation of nodes and of updates of their spec and status.

As in Kubernetes, errors of taints have paths in `metadata`, and an update reports what is wrong
with the node in both of its steps.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from apimachinery.fieldpath import (
    NULL,
    FieldError,
    FieldErrors,
    GoStruct,
    Path,
    duplicate,
    forbidden,
    internal_error,
    invalid,
    not_supported,
    quote,
    required,
)
from apimachinery.ip_addresses import is_strict_cidr, parse_cidr, unmapped
from apimachinery.names import is_label_value, is_qualified_name
from apis.core.v1.node import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Node, NodeSpec, Taint
from apis.core.v1.node_status import NodeAddress, NodeStatus
from apis.core.validation.node_config import (
    validate_config_source_spec,
    validate_config_status,
)
from apis.core.validation.resource_names import validate_resource_quantity

TAINTS_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/taints"
AVOID_PODS_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"

_EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
_METADATA: Final = Path("metadata")
_POD_CIDRS: Final = Path("spec", "podCIDRs")
_PROVIDER_ID: Final = Path("spec", "providerID")
_FEATURE: Final = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_FEATURE_MAX: Final = 253


def validate_node(node: Node) -> FieldErrors:
    yield from _validate_annotations(node.metadata.annotations, _METADATA.child("annotations"))
    yield from _validate_taints(node.spec.taints, _METADATA.child("taints"))
    yield from _validate_resources(node.status)
    yield from _validate_swap(node.status, _METADATA.child("nodeSwapStatus"))
    yield from _validate_features(node.status.declared_features)
    yield from _validate_pod_cidrs(node.spec.pod_cidrs)


def validate_node_update(new: Node, old: Node) -> FieldErrors:
    """Validate a change of a node or of its status."""
    yield from _validate_annotations(new.metadata.annotations, _METADATA.child("annotations"))
    yield from _validate_resources(new.status)
    yield from _validate_features(new.status.declared_features)
    yield from _validate_addresses(new.status.addresses)
    yield from _validate_fixed_fields(new.spec, old.spec)
    if new.spec.config_source is not None:
        path = Path("spec", "configSource")
        yield from validate_config_source_spec(new.spec.config_source, path)
    if new.status.config is not None:
        yield from validate_config_status(new.status.config, Path("status", "config"))
    yield from _validate_taints(new.spec.taints, _METADATA.child("taints"))
    if new.spec.external_id != old.spec.external_id:
        yield forbidden(Path("spec", "externalID"), "may not be updated")


def _validate_annotations(annotations: dict[str, str], path: Path) -> FieldErrors:
    if text := annotations.get(TAINTS_ANNOTATION):
        yield from _validate_annotated_taints(text, path)
    if text := annotations.get(AVOID_PODS_ANNOTATION):
        yield from _validate_avoided_pods(text, path)


def _validate_annotated_taints(text: str, path: Path) -> FieldErrors:
    """Validate taints in the annotation that nodes had before the field."""
    document = _parse(text)
    if document is None or not all(isinstance(item, dict) for item in document):
        yield invalid(path, TAINTS_ANNOTATION, "invalid JSON: expected a list of taints")
        return
    taints = [
        Taint(
            key=str(item.get("key", "")),
            value=str(item.get("value", "")),
            effect=str(item.get("effect", "")),
        )
        for item in document
    ]
    yield from _validate_taints(taints, path.child(TAINTS_ANNOTATION))


def _validate_avoided_pods(text: str, path: Path) -> FieldErrors:
    document = _parse(text, key="preferAvoidPods")
    if document is None or not all(isinstance(item, dict) for item in document):
        yield invalid(path.child("AvoidPods"), AVOID_PODS_ANNOTATION, "invalid JSON")
        return
    for position, item in enumerate(document):
        here = path.child(AVOID_PODS_ANNOTATION).index(position).child("PodSignature")
        signature = item.get("podSignature")
        controller = signature.get("podController") if isinstance(signature, dict) else None
        if not isinstance(controller, dict):
            yield required(here)
        elif not controller.get("controller"):
            rule = "must point to a controller"
            yield invalid(here.child("PodController", "Controller"), False, rule)


def _parse(text: str, *, key: str = "") -> list[Any] | None:
    """Return the list in a JSON document, or under a key of it; None if there is no such list."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if key:
        document = document.get(key, []) if isinstance(document, dict) else None
    return document if isinstance(document, list) else None


def _validate_taints(taints: Sequence[Taint], path: Path) -> FieldErrors:
    seen: set[tuple[str, str]] = set()
    for position, taint in enumerate(taints):
        here = path.index(position)
        for error in is_qualified_name(taint.key):
            yield invalid(here.child("key"), taint.key, error)
        if errors := is_label_value(taint.value):
            yield invalid(here.child("value"), taint.value, ";".join(errors))
        if not taint.effect:
            yield required(here.child("effect"))
        elif taint.effect not in _EFFECTS:
            yield not_supported(here.child("effect"), taint.effect, _EFFECTS)
        identity = (taint.key, taint.effect)
        if identity in seen:
            yield _repeated_taint(taint, here)
        seen.add(identity)


def _repeated_taint(taint: Taint, path: Path) -> FieldError:
    added = taint.time_added
    shown = GoStruct(
        Key=taint.key,
        Value=taint.value,
        Effect=taint.effect,
        TimeAdded=added.strftime("%Y-%m-%dT%H:%M:%SZ") if added else None,
    )
    rule = "taints must be unique by key and effect pair"
    return replace(duplicate(path, shown), detail=rule)


def _validate_resources(status: NodeStatus) -> FieldErrors:
    for name, resources in (("capacity", status.capacity), ("allocatable", status.allocatable)):
        for resource in sorted(resources):
            path = Path("status", name, resource)
            yield from validate_resource_quantity(resource, resources[resource], path)


def _validate_swap(status: NodeStatus, path: Path) -> FieldErrors:
    swap = status.node_info.swap
    if swap is not None and swap.capacity is not None and swap.capacity <= 0:
        yield invalid(path.child("capacity"), swap.capacity, "must be greater than zero")


def _validate_features(features: Sequence[str]) -> FieldErrors:
    path = Path("status", "declaredFeatures")
    for position, feature in enumerate(features):
        yield from _validate_feature(feature, path.index(position))
        if position + 1 == len(features):
            return
        following = features[position + 1]
        if feature == following:
            yield duplicate(path.index(position + 1), following)
        elif feature > following:
            rule = "list must be sorted alphabetically"
            yield invalid(path.index(position + 1), following, rule)


def _validate_feature(feature: str, path: Path) -> FieldErrors:
    if len(feature) > _FEATURE_MAX:
        rule = f"must be no more than {_FEATURE_MAX} characters"
    elif not _FEATURE.fullmatch(feature):
        rule = (
            "must start with an UpperCamelCase segment, with subsequent segments separated by '/'"
            " (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters"
            " and slashes"
        )
    else:
        return
    yield invalid(path, feature, f"invalid feature name {quote(feature)}: {rule}")


def _validate_pod_cidrs(cidrs: Sequence[str]) -> FieldErrors:
    for position, cidr in enumerate(cidrs):
        for error in is_strict_cidr(cidr):
            yield invalid(_POD_CIDRS.index(position), cidr, error)
    if len(cidrs) < 2:
        return
    families, malformed = _families(cidrs)
    if malformed is not None:
        position = cidrs.index(malformed)
        problem = f"invalid CIDR[{position}]: <nil> (invalid CIDR address: {malformed})"
        text = f"invalid PodCIDRs. failed to check with dual stack with error:{problem}"
        yield internal_error(_POD_CIDRS, ValueError(text))
    if malformed is not None or len(families) < 2 or len(cidrs) > 2:
        rule = "may specify no more than one CIDR for each IP family"
        yield invalid(_POD_CIDRS, list(cidrs), rule)


def _families(cidrs: Sequence[str]) -> tuple[set[int], str | None]:
    """Return the IP versions of the networks, and the first that is none."""
    families: set[int] = set()
    for cidr in cidrs:
        parsed = parse_cidr(cidr)
        if parsed is None:
            return families, cidr
        families.add(unmapped(parsed.address).version)
    return families, None


def _validate_addresses(addresses: Sequence[NodeAddress]) -> FieldErrors:
    for position, address in _repeated_addresses(addresses):
        shown = GoStruct(Type=address.type, Address=address.address)
        yield duplicate(Path("status", "addresses").index(position), shown)


def _repeated_addresses(addresses: Sequence[NodeAddress]) -> Iterator[tuple[int, NodeAddress]]:
    seen: set[tuple[str, str]] = set()
    for position, address in enumerate(addresses):
        identity = (address.type, address.address)
        if identity in seen:
            yield position, address
        seen.add(identity)


def _validate_fixed_fields(new: NodeSpec, old: NodeSpec) -> FieldErrors:
    """Validate that the pod ranges and the provider's ID are kept once they are set."""
    if old.pod_cidrs and new.pod_cidrs != old.pod_cidrs:
        rule = 'node updates may not change podCIDR except from "" to valid'
        same_length = len(new.pod_cidrs) == len(old.pod_cidrs)
        pairs = zip(new.pod_cidrs, old.pod_cidrs, strict=True) if same_length else [("", "-")]
        for after, before in pairs:
            if after != before:
                yield forbidden(_POD_CIDRS, rule)
    if old.provider_id and not new.provider_id:
        yield invalid(_PROVIDER_ID, NULL, "field cannot be cleared once set")
    elif old.provider_id and new.provider_id != old.provider_id:
        yield invalid(_PROVIDER_ID, NULL, "field cannot be modified once set")
