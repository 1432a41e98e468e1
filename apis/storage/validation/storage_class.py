"""Validation of StorageClasses."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import is_qualified_name
from apis.core.v1.topology_selectors import TopologySelectorTerm
from apis.storage.v1 import StorageClass
from apis.storage.v1.storage_class import (
    DELETE,
    IMMEDIATE,
    RETAIN,
    WAIT_FOR_FIRST_CONSUMER,
)
from apis.storage.validation.parameters import validate_parameters, validate_provisioner

_POLICIES: Final = (DELETE, RETAIN)
_BINDING_MODES: Final = (IMMEDIATE, WAIT_FOR_FIRST_CONSUMER)
_Topology = frozenset[tuple[str, frozenset[str]]]


def validate_storage_class(storage_class: StorageClass) -> FieldErrors:
    yield from validate_provisioner(storage_class.provisioner, Path("provisioner"))
    yield from validate_parameters(storage_class.parameters, Path("parameters"))
    policy = storage_class.reclaim_policy
    if policy and policy not in _POLICIES:
        yield not_supported(Path("reclaimPolicy"), policy, _POLICIES)
    mode = storage_class.volume_binding_mode
    if mode is None:
        yield required(Path("volumeBindingMode"))
    elif mode not in _BINDING_MODES:
        yield not_supported(Path("volumeBindingMode"), mode, _BINDING_MODES)
    yield from _validate_topologies(storage_class.allowed_topologies, Path("allowedTopologies"))


def validate_storage_class_update(new: StorageClass, old: StorageClass) -> FieldErrors:
    yield from validate_storage_class(new)
    for wire, after, before in (
        ("provisioner", new.provisioner, old.provisioner),
        ("parameters", new.parameters, old.parameters),
        ("reclaimPolicy", new.reclaim_policy, old.reclaim_policy),
        ("volumeBindingMode", new.volume_binding_mode, old.volume_binding_mode),
    ):
        if after != before:
            # As in Kubernetes, the message does not show the new value.
            yield immutable(Path(wire), NULL)


def _validate_topologies(terms: Sequence[TopologySelectorTerm], path: Path) -> FieldErrors:
    # As in Kubernetes, a term without requirements is a duplicate of nothing.
    seen: set[_Topology] = {frozenset()}
    for position, term in enumerate(terms):
        here = path.index(position).child("matchLabelExpressions")
        yield from _validate_term(term, here)
        topology = frozenset(
            (requirement.key, frozenset(requirement.values))
            for requirement in term.match_label_expressions
        )
        if topology in seen:
            yield duplicate(here, "")
        seen.add(topology)


def _validate_term(term: TopologySelectorTerm, path: Path) -> FieldErrors:
    keys: set[str] = set()
    for position, requirement in enumerate(term.match_label_expressions):
        here = path.index(position)
        if not requirement.values:
            yield required(here.child("values"))
        values: set[str] = set()
        for index, value in enumerate(requirement.values):
            if value in values:
                yield duplicate(here.child("values").index(index), value)
            values.add(value)
        for error in is_qualified_name(requirement.key):
            yield invalid(here.child("key"), requirement.key, error)
        if requirement.key in keys:
            yield duplicate(here.child("key"), requirement.key)
        keys.add(requirement.key)
