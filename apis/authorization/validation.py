"""Validation of access reviews."""

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.meta.metadata_validation import validate_label_name
from apimachinery.meta.types import ObjectMeta
from apis.authorization.v1 import (
    LocalSubjectAccessReview,
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)


def validate_self_subject_access_review(review: SelfSubjectAccessReview) -> FieldErrors:
    yield from _validate_attributes(review.spec, Path("spec"))
    yield from _validate_metadata(review.metadata)


def validate_subject_access_review(review: SubjectAccessReview) -> FieldErrors:
    yield from _validate_subject(review.spec, Path("spec"))
    yield from _validate_metadata(review.metadata)


def validate_local_subject_access_review(review: LocalSubjectAccessReview) -> FieldErrors:
    spec, namespace = review.spec, review.metadata.namespace
    yield from _validate_subject(spec, Path("spec"))
    yield from _validate_metadata(review.metadata, with_namespace=True)
    attributes = spec.resource_attributes
    if attributes is not None and attributes.namespace != namespace:
        path = Path("spec.resourceAttributes.namespace")
        yield invalid(path, attributes.namespace, "must match metadata.namespace")
    if spec.non_resource_attributes is not None:
        path = Path("spec.nonResourceAttributes")
        yield invalid(path, spec.non_resource_attributes, "disallowed on this kind of request")


def _validate_subject(spec: SubjectAccessReviewSpec, path: Path) -> FieldErrors:
    yield from _validate_attributes(spec, path)
    if not spec.user and not spec.groups:
        rule = "at least one of user or group must be specified"
        yield invalid(path.child("user"), spec.user, rule)


def _validate_attributes(
    spec: SelfSubjectAccessReviewSpec | SubjectAccessReviewSpec, path: Path
) -> FieldErrors:
    resource, other = spec.resource_attributes, spec.non_resource_attributes
    if resource is not None and other is not None:
        rule = "cannot be specified in combination with resourceAttributes"
        yield invalid(path.child("nonResourceAttributes"), other, rule)
    if resource is None and other is None:
        rule = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid(path.child("resourceAttributes"), None, rule)
    if resource is not None:
        yield from _validate_resource(resource, path.child("resourceAttributes"))


def _validate_resource(attributes: ResourceAttributes, path: Path) -> FieldErrors:
    fields, labels = attributes.field_selector, attributes.label_selector
    if fields is not None:
        selector = path.child("fieldSelector")
        yield from _validate_selector(fields.raw_selector, len(fields.requirements), selector)
        for position, requirement in enumerate(fields.requirements):
            here = selector.child("requirements").index(position)
            if not requirement.key:
                yield required(here.child("key"), "must be specified")
            yield from _validate_values(
                requirement.operator, requirement.values, here.child("values")
            )
    if labels is not None:
        selector = path.child("labelSelector")
        yield from _validate_selector(labels.raw_selector, len(labels.requirements), selector)
        for position, condition in enumerate(labels.requirements):
            here = selector.child("requirements").index(position)
            yield from _validate_values(condition.operator, condition.values, here.child("values"))
            yield from validate_label_name(condition.key, here.child("key"))


def _validate_selector(raw: str, requirements: int, path: Path) -> FieldErrors:
    if raw and requirements:
        rule = "may not specified at the same time as requirements"
        yield invalid(path.child("rawSelector"), raw, rule)
    if not raw and not requirements:
        rule = f"when {path} is specified, requirements or rawSelector is required"
        yield required(path.child("requirements"), rule)


def _validate_values(operator: str, values: list[str], path: Path) -> FieldErrors:
    # Unknown operators pass: newer clients may send operators that this server lacks.
    if operator in ("In", "NotIn") and not values:
        yield required(path, "must be specified when `operator` is 'In' or 'NotIn'")
    if operator in ("Exists", "DoesNotExist") and values:
        rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield forbidden(path, rule)


def _validate_metadata(meta: ObjectMeta, *, with_namespace: bool = False) -> FieldErrors:
    remaining = meta.deep_copy()
    remaining.managed_fields = []
    if with_namespace:
        remaining.namespace = ""
    if remaining != ObjectMeta():
        rule = "must be empty except for namespace" if with_namespace else "must be empty"
        yield invalid(Path("metadata"), meta, rule)
