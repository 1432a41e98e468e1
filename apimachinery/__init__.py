"""Versioned, declarative API types: define, convert, encode, select, patch and compare them.

A tour, in the order a newcomer meets things:

- `Model`, `field` and `Object` define types (`apimachinery.model.model`);
- `Scheme` knows which class is which kind and converts between versions;
- `Codec` reads and writes documents, JSON, YAML and protobuf;
- `apimachinery.selectors`, `apimachinery.patch`, `apimachinery.mapper` and `apimachinery.openapi`
  do what their names say;
- `apimachinery.errors` is what goes wrong, one class per Status reason;
- `apimachinery.testing` checks that your conversions lose nothing.
"""

from apimachinery.codec import Codec, FieldValidation, StorageCodec
from apimachinery.errors import APIError
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

__all__ = [
    "INTERNAL",
    "APIError",
    "Bytes",
    "Codec",
    "Condition",
    "Duration",
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
    "Quantity",
    "RawExtension",
    "Scheme",
    "StorageCodec",
    "Time",
    "Unstructured",
    "field",
]
