"""Bulk decoding: JSON bytes -> Model, for the large numbers of objects in lists and watches.

pydantic records in every model which fields were set. For a pod these sets take about as much
memory as the pod itself, and building and freeing them takes a quarter of the time to decode a
list; nothing uses them. So each class gets a second validator here that builds it the way pydantic
builds dataclasses, which have no such set. Documents that this validator rejects are decoded again
leniently: whoever reads an object does not validate it, because the server has accepted it once.
"""

from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import CoreSchema, SchemaValidator, core_schema

from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.model.decoding import has_untyped_parts, reject_non_finite_numbers
from apimachinery.model.model import Model, drop_fields_set

ModelT = TypeVar("ModelT", bound=Model)


def bulk_decode_json(cls: type[ModelT], data: bytes | str) -> ModelT:
    """Decode a document of a server, without constraints; raises DecodeError.

    Unknown fields are ignored, and a required field that is missing gets its zero value.
    """
    if has_untyped_parts(cls):
        reject_non_finite_numbers(data)
    try:
        return cast(ModelT, _bulk_validator(cls).validate_json(data, by_alias=True, by_name=False))
    except ValidationError:
        obj = decode_leniently(cls, data)
    drop_fields_set(obj)
    return obj


def bulk_decode_document(cls: type[ModelT], document: dict[str, Any]) -> ModelT:
    """Decode parsed JSON; raises ValueError, even where `bulk_decode_json` would retry.

    Not for classes with `Bytes` fields: base64 is decoded only when pydantic reads JSON.
    """
    validator = _bulk_validator(cls)
    return cast(ModelT, validator.validate_python(document, by_alias=True, by_name=False))


def _bulk_validator(cls: type[BaseModel]) -> SchemaValidator:
    cached: SchemaValidator | None = cls.__dict__.get("__bulk_validator_cache__")
    if cached is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        cached = SchemaValidator(_without_fields_set(cls.__pydantic_core_schema__))
        type.__setattr__(cls, "__bulk_validator_cache__", cached)
    return cached


def _without_fields_set(schema: Any) -> Any:
    """Replace every model of a core schema by a dataclass, if it consists only of its fields."""
    if isinstance(schema, list):
        return [_without_fields_set(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model":
        return _as_dataclass(schema) if _is_plain(schema) else schema
    return {
        key: part if key in ("serialization", "metadata") else _without_fields_set(part)
        for key, part in schema.items()
    }


def _is_plain(model: dict[str, Any]) -> bool:
    """Return whether a model drops unknown fields and runs no code of its own on creation."""
    custom = ("root_model", "custom_init", "post_init")
    keeps_unknown = model.get("config", {}).get("extra_fields_behavior") == "allow"
    inner: str = model["schema"]["type"]
    return inner == "model-fields" and not keeps_unknown and not any(map(model.get, custom))


def _as_dataclass(model: dict[str, Any]) -> CoreSchema:
    cls, fields = model["cls"], model["schema"]["fields"]
    return core_schema.dataclass_schema(
        cls,
        core_schema.dataclass_args_schema(
            cls.__name__,
            [
                core_schema.dataclass_field(
                    name,
                    _without_fields_set(field["schema"]),
                    kw_only=True,
                    validation_alias=field.get("validation_alias"),
                )
                for name, field in fields.items()
            ],
        ),
        list(fields),
        # Otherwise pydantic reuses the validator of the class, which records the fields set.
        generic_origin=cls,
        strict=False,  # in strict mode parsed JSON is not an instance of the class
        ref=model.get("ref"),
        config=model.get("config"),
    )
