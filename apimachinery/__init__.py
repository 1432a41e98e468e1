"""Versioned, declarative API types: define, convert, encode, select, patch and compare them.

A tour, in the order a newcomer meets things:

- `Model`, `field` and `Object` define types (`apimachinery.model.model`);
- `Scheme` registers which class is which kind, and converts between versions;
- `Path`, `required`, `invalid` and their neighbours are the errors of validation
  (`apimachinery.fieldpath`);
- `Codec` decodes and encodes documents: JSON, YAML and protobuf;
- `apimachinery.selectors`, `apimachinery.patch`, `apimachinery.mapper` and `apimachinery.openapi`
  do what their names say;
- `apimachinery.errors` has the errors of the API, one class per Status reason;
- `apimachinery.testing` checks that your conversions lose nothing.
"""

from apimachinery.codec import Codec, FieldValidation
from apimachinery.errors import APIError
from apimachinery.fieldpath import (
    FieldError,
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_found,
    not_supported,
    required,
    too_few,
    too_long,
    too_many,
    too_short,
    type_invalid,
)
from apimachinery.meta.types import (
    Condition,
    LabelSelector,
    Object,
    ObjectList,
    ObjectMeta,
    OwnerReference,
)
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from apimachinery.schema import (
    INTERNAL,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from apimachinery.scheme import Scheme
from apimachinery.storage_codec import StorageCodec

__all__ = [
    "INTERNAL",
    "APIError",
    "Bytes",
    "Codec",
    "Condition",
    "Duration",
    "FieldError",
    "FieldErrors",
    "FieldValidation",
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "Int32",
    "IntOrString",
    "LabelSelector",
    "MicroTime",
    "Model",
    "Object",
    "ObjectList",
    "ObjectMeta",
    "OwnerReference",
    "Path",
    "Quantity",
    "RawExtension",
    "Scheme",
    "StorageCodec",
    "Time",
    "Unstructured",
    "duplicate",
    "field",
    "forbidden",
    "immutable",
    "invalid",
    "not_found",
    "not_supported",
    "required",
    "too_few",
    "too_long",
    "too_many",
    "too_short",
    "type_invalid",
]
