"""Validation of CustomResourceDefinitions.

Where all versions are equal in some respect (and thus always with a single version), Kubernetes
reports the path of the former top-level field: `spec.validation`, not `spec.versions[0].schema`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    immutable,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import is_dns1035_label, is_dns1123_subdomain
from apis.apiextensions.conditions import ESTABLISHED, is_true
from apis.apiextensions.v1 import (
    CustomResourceDefinition,
    CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
)
from apis.apiextensions.v1.definition import CLUSTER, NAMESPACED
from apis.apiextensions.validation.columns import validate_columns, validate_selectable
from apis.apiextensions.validation.conversion import validate_conversion
from apis.apiextensions.validation.names import APPROVED, is_protected, validate_names
from apis.apiextensions.validation.schema import validate_schema
from apis.apiextensions.validation.shown_values import shown_versions
from apis.apiextensions.validation.subresources import validate_subresources

_SPEC: Final = Path("spec")
"""The annotation with the approval of a definition in one of Kubernetes' own groups."""


def validate_definition(definition: CustomResourceDefinition) -> FieldErrors:
    """Validate a new definition."""
    yield from _validate_spec(definition)
    yield from validate_names(definition.status.accepted_names, Path("status", "acceptedNames"))
    yield from validate_stored_versions(definition)
    yield from _validate_approval(definition)


def validate_definition_update(
    new: CustomResourceDefinition, old: CustomResourceDefinition
) -> FieldErrors:
    """Validate an update of a definition."""
    before = old.spec
    yield from _validate_spec(new, old)
    if is_true(old, ESTABLISHED):
        yield from _validate_immutable(new.spec.scope, before.scope, _SPEC.child("scope"))
        yield from _validate_immutable(
            new.spec.names.kind, before.names.kind, _SPEC.child("names", "kind")
        )
    yield from _validate_immutable(new.spec.group, before.group, _SPEC.child("group"))
    plural = _SPEC.child("names", "plural")
    yield from _validate_immutable(new.spec.names.plural, before.names.plural, plural)
    yield from validate_names(new.status.accepted_names, Path("status", "acceptedNames"))
    yield from validate_stored_versions(new)
    if APPROVED in new.metadata.annotations or APPROVED in old.metadata.annotations:
        yield from _validate_approval(new)


def validate_stored_versions(definition: CustomResourceDefinition) -> FieldErrors:
    """Validate that every version in which objects are stored still exists."""
    path = Path("status", "storedVersions")
    stored = definition.status.stored_versions
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    names = {version.name for version in definition.spec.versions}
    for version in definition.spec.versions:
        if version.storage and version.name not in stored:
            yield invalid(path, stored, f"must have the storage version {version.name}")
    for position, name in enumerate(stored):
        if name not in names:
            rule = (
                f"missing from spec.versions; {name} was previously a storage version, and must"
                " remain in spec.versions until a storage migration ensures no data remains"
                f" persisted in {name} and removes {name} from status.storedVersions"
            )
            yield invalid(path.index(position), name, rule)


def validate_status_update(new: CustomResourceDefinition) -> FieldErrors:
    yield from validate_names(new.status.accepted_names, Path("status", "acceptedNames"))


def _validate_spec(
    definition: CustomResourceDefinition, before: CustomResourceDefinition | None = None
) -> FieldErrors:
    spec = definition.spec
    yield from _validate_group(spec.group, _SPEC.child("group"))
    yield from _validate_choice(spec.scope, _SPEC.child("scope"), (CLUSTER, NAMESPACED))
    yield from _validate_versions(spec, before.spec if before is not None else None)
    for name in ("plural", "singular", "kind", "listKind"):
        attribute = "list_kind" if name == "listKind" else name
        if not getattr(spec.names, attribute):
            yield required(_SPEC.child("names", name))
    yield from validate_names(spec.names, _SPEC.child("names"))
    yield from validate_conversion(definition, before)
    if spec.preserve_unknown_fields:
        rule = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
            " spec.versions[*].schema instead"
        )
        yield invalid(_SPEC.child("preserveUnknownFields"), True, rule)


def _validate_group(group: str, path: Path) -> FieldErrors:
    if not group:
        yield required(path)
    elif problems := is_dns1123_subdomain(group):
        yield invalid(path, group, ",".join(problems))
    elif "." not in group:
        yield invalid(path, group, "should be a domain with at least one dot")


def _validate_choice(value: str, path: Path, supported: Sequence[str]) -> FieldErrors:
    if not value:
        yield required(path)
    elif value not in supported:
        yield not_supported(path, value, supported)


def _validate_versions(
    spec: CustomResourceDefinitionSpec, before: CustomResourceDefinitionSpec | None
) -> FieldErrors:
    path, versions = _SPEC.child("versions"), spec.versions
    for position, version in enumerate(versions):
        here = path.index(position)
        if version.schema_ is None or version.schema_.open_apiv3_schema is None:
            yield required(here.child("schema", "openAPIV3Schema"))
        if problems := is_dns1035_label(version.name):
            yield invalid(here.child("name"), version.name, ",".join(problems))
        for problem in _deprecation_problems(version):
            yield invalid(here.child("deprecationWarning"), version.deprecation_warning, problem)
    yield from _validate_content(spec, before)
    names = [version.name for version in versions]
    if len(set(names)) < len(names):
        yield invalid(path, shown_versions(versions), "must contain unique version names")
    if sum(version.storage for version in versions) != 1:
        rule = "must have exactly one version marked as storage version"
        yield invalid(path, shown_versions(versions), rule)


def _validate_content(
    spec: CustomResourceDefinitionSpec, before: CustomResourceDefinitionSpec | None
) -> FieldErrors:
    stored = {version.name: version.schema_ for version in before.versions} if before else {}
    for version, path in _versions_to_validate(spec, lambda v: v.schema_, "schema", "validation"):
        if version.schema_ is not None and version.schema_.open_apiv3_schema is not None:
            has_status = bool(version.subresources and version.subresources.status)
            yield from validate_schema(
                version.schema_.open_apiv3_schema,
                path.child("openAPIV3Schema"),
                has_status=has_status,
                check_costs=stored.get(version.name) != version.schema_,
            )
    for version, path in _versions_to_validate(
        spec, lambda v: v.subresources, "subresources", "subresources"
    ):
        if version.subresources is not None:
            yield from validate_subresources(version.subresources, path)
    columns = "additionalPrinterColumns"
    for version, path in _versions_to_validate(
        spec, lambda v: v.additional_printer_columns, columns, columns
    ):
        yield from validate_columns(version.additional_printer_columns, path)
    selectable = "selectableFields"
    for version, path in _versions_to_validate(
        spec, lambda v: v.selectable_fields, selectable, selectable
    ):
        yield from validate_selectable(version, path)


def _versions_to_validate(
    spec: CustomResourceDefinitionSpec,
    value: Callable[[CustomResourceDefinitionVersion], Any],
    field: str,
    shared_field: str,
) -> Iterator[tuple[CustomResourceDefinitionVersion, Path]]:
    """Yield each version with its path, or only the first if all have equal values."""
    versions = spec.versions
    first = value(versions[0]) if versions else None
    if first and all(value(version) == first for version in versions):
        yield versions[0], _SPEC.child(shared_field)
        return
    for position, version in enumerate(versions):
        yield version, _SPEC.child("versions").index(position).child(field)


def _deprecation_problems(version: CustomResourceDefinitionVersion) -> Iterator[str]:
    text = version.deprecation_warning
    if text is None:
        return
    if not version.deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(text.encode()) > 256:
        yield "must be <= 256 characters long"
    if not text:
        yield "must not be an empty string"
    for position, character in enumerate(text):
        if not character.isprintable():
            yield (
                "must only contain printable UTF-8 characters; non-printable character found at"
                f" index {len(text[:position].encode())}"
            )
            break


def _validate_immutable(new: str, old: str, path: Path) -> FieldErrors:
    if new != old:
        yield immutable(path, new)


def _validate_approval(definition: CustomResourceDefinition) -> FieldErrors:
    if not is_protected(definition.spec.group):
        return
    path = Path("metadata", "annotations").key(APPROVED)
    approval = definition.metadata.annotations.get(APPROVED, "")
    rule = "protected groups must have approval annotation"
    link = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not approval:
        yield required(path, f'{rule} "{APPROVED}", {link}')
    elif not approval.startswith(("http://", "https://", "unapproved")):
        rule = f'{rule} "{APPROVED}" with either a URL or'
        yield invalid(path, approval, f'{rule} a reason starting with "unapproved", {link}')
