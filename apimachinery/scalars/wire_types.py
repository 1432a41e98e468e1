"""Scalar types of the wire that Python has no type of its own for.

Each is an `Annotated` alias of a plain Python type, so values stay ordinary ints, bytes and dicts;
the markers tell protobuf, OpenAPI and the fuzzer what the wire calls them.
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
    """The name of a scalar on the wire, when its Python type does not tell."""

    name: str


INT32 = WireType("int32")
RAW = WireType("raw")
FIELDS_V1 = WireType("fields-v1")


class _AsItIs:
    """A map that is written in the order that it has."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.dict_schema(
            core_schema.str_schema(), serialization=core_schema.filter_dict_schema()
        )


class _Base64:
    """bytes in Python, standard padded base64 on the wire."""

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
        # Line breaks are the one thing the original's decoder ignores.
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "illegal base64 data") from None


def _encode_base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


BASE64 = _Base64()

Int32 = Annotated[int, Field(ge=INT32_MIN, le=INT32_MAX), INT32]
"""An integer of 32 bits. A plain `int` field of a Model has 64."""

Bytes = Annotated[bytes, BASE64]

RawExtension = Annotated[dict[str, Any], RAW]
"""A whole document of some other type, kept as it came."""

FieldsV1 = Annotated[Mapping[str, Any], FIELDS_V1, _AsItIs()]
"""A set of field paths in its wire form; `apimachinery.apply` reads and writes it.

It is a plain dict to read, and never changed in place: copies of an object share it.

Whoever tracks fields writes every set in its one order. To sort it again would cost a write more
than all the rest of its encoding."""
