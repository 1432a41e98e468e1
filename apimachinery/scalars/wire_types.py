"""Wire types without a Python type of their own: Int32, Bytes, RawExtension, FieldsV1.

Each is an `Annotated` alias of a plain Python type, so values are ordinary ints, bytes and dicts;
protobuf, OpenAPI and the fuzzer read the wire type from the marker.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class WireType:
    """The name of a wire type that cannot be inferred from the Python type."""

    name: str


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that OpenAPI names and describes, without saying what its values consist of."""

    definition: str
    description: str


INT32 = WireType("int32")
RAW = WireType("raw")
FIELDS_V1 = WireType("fields-v1")
OBJECT_OR_LIST = WireType("object-or-list")
"""An object in whose place a list is decoded, too; protobuf has a field for each of them."""
OWN_DECODER = WireType("own-decoder")
"""A type that decodes itself in Kubernetes: strict decoding reports no field within it."""


class _Unsorted:
    """Serializes a map in its own order, not sorted by key."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.dict_schema(
            core_schema.str_schema(), serialization=core_schema.filter_dict_schema()
        )


class _Base64:
    """Validates and serializes bytes, which are padded standard base64 on the wire."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.json_or_python_schema(
            core_schema.no_info_after_validator_function(
                _decode_base64, core_schema.str_schema(strict=True)
            ),
            core_schema.bytes_schema(strict=True),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _encode_base64, when_used="json"
            ),
        )


def _decode_base64(text: str) -> bytes:
    try:
        # Go's decoder ignores line breaks, and no other characters.
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "illegal base64 data") from None


def _encode_base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


BASE64 = _Base64()

Int32 = Annotated[int, Field(ge=INT32_MIN, le=INT32_MAX), INT32]
"""A 32-bit integer. A plain `int` field of a Model has 64 bits."""

Bytes = Annotated[bytes, BASE64]

RawExtension = Annotated[dict[str, Any], RAW]
"""A document of any type, kept as it was received."""

FieldsV1 = Annotated[Mapping[str, Any], FIELDS_V1, _Unsorted()]
"""A set of field paths in its wire format, which `apimachinery.apply` decodes and encodes.

It is a dict that is never changed in place: copies of an object share it. Field management stores
every set in canonical order; sorting it again would cost more than the rest of the encoding."""
