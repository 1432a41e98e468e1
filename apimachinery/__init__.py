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

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apimachinery.codec import Codec as Codec
    from apimachinery.codec import FieldValidation as FieldValidation
    from apimachinery.errors import APIError as APIError
    from apimachinery.fieldpath import FieldError as FieldError
    from apimachinery.fieldpath import FieldErrors as FieldErrors
    from apimachinery.fieldpath import Path as Path
    from apimachinery.fieldpath import duplicate as duplicate
    from apimachinery.fieldpath import forbidden as forbidden
    from apimachinery.fieldpath import immutable as immutable
    from apimachinery.fieldpath import invalid as invalid
    from apimachinery.fieldpath import not_found as not_found
    from apimachinery.fieldpath import not_supported as not_supported
    from apimachinery.fieldpath import required as required
    from apimachinery.fieldpath import too_few as too_few
    from apimachinery.fieldpath import too_long as too_long
    from apimachinery.fieldpath import too_many as too_many
    from apimachinery.fieldpath import too_short as too_short
    from apimachinery.fieldpath import type_invalid as type_invalid
    from apimachinery.meta.types import Condition as Condition
    from apimachinery.meta.types import LabelSelector as LabelSelector
    from apimachinery.meta.types import Object as Object
    from apimachinery.meta.types import ObjectList as ObjectList
    from apimachinery.meta.types import ObjectMeta as ObjectMeta
    from apimachinery.meta.types import OwnerReference as OwnerReference
    from apimachinery.meta.unstructured import Unstructured as Unstructured
    from apimachinery.model.model import Model as Model
    from apimachinery.model.model import field as field
    from apimachinery.scalars.duration import Duration as Duration
    from apimachinery.scalars.intstr import IntOrString as IntOrString
    from apimachinery.scalars.quantity import Quantity as Quantity
    from apimachinery.scalars.time import MicroTime as MicroTime
    from apimachinery.scalars.time import Time as Time
    from apimachinery.scalars.wire_types import Bytes as Bytes
    from apimachinery.scalars.wire_types import Int32 as Int32
    from apimachinery.scalars.wire_types import RawExtension as RawExtension
    from apimachinery.schema import INTERNAL as INTERNAL
    from apimachinery.schema import GroupKind as GroupKind
    from apimachinery.schema import GroupResource as GroupResource
    from apimachinery.schema import GroupVersion as GroupVersion
    from apimachinery.schema import GroupVersionKind as GroupVersionKind
    from apimachinery.schema import GroupVersionResource as GroupVersionResource
    from apimachinery.scheme import Scheme as Scheme
    from apimachinery.storage_codec import StorageCodec as StorageCodec
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "codec": "Codec FieldValidation",
            "errors": "APIError",
            "fieldpath": (
                "FieldError FieldErrors Path duplicate forbidden immutable invalid not_found"
                " not_supported required too_few too_long too_many too_short type_invalid"
            ),
            "meta.types": "Condition LabelSelector Object ObjectList ObjectMeta OwnerReference",
            "meta.unstructured": "Unstructured",
            "model.model": "Model field",
            "scalars.duration": "Duration",
            "scalars.intstr": "IntOrString",
            "scalars.quantity": "Quantity",
            "scalars.time": "MicroTime Time",
            "scalars.wire_types": "Bytes Int32 RawExtension",
            "schema": (
                "INTERNAL GroupKind GroupResource GroupVersion GroupVersionKind"
                " GroupVersionResource"
            ),
            "scheme": "Scheme",
            "storage_codec": "StorageCodec",
        },
    )
