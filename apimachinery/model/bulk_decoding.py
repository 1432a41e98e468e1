"""JSON bytes -> Model, for objects that come in great numbers.

pydantic notes in every model which of its fields were given. The notes of a pod take about as much
memory as the pod, making and dropping them a quarter of the time of a list, and nothing asks for
them. So a class is compiled here once more, for reading alone, in the way pydantic makes
dataclasses, which is the same without the notes. What cannot be read so is read by `decode_json`,
which knows how to say why.
"""

from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import CoreSchema, SchemaValidator, core_schema

from apimachinery.model.decoding import decode_json, has_untyped_parts, refuse_non_numbers
from apimachinery.model.model import Model, forget_given

ModelT = TypeVar("ModelT", bound=Model)


def read_json(cls: type[ModelT], data: bytes | str) -> ModelT:
    """The object that `decode_json` would give, unknown fields left out, or DecodeError."""
    if has_untyped_parts(cls):
        refuse_non_numbers(data)
    try:
        return cast(ModelT, _reader(cls).validate_json(data, by_alias=True, by_name=False))
    except ValidationError:
        found = decode_json(cls, data, find_unknown=False).object
    forget_given(found)
    return found


def read_document(cls: type[ModelT], document: dict[str, Any]) -> ModelT:
    """The same of parsed JSON, for a class without bytes in it; ValueError for what is odd."""
    return cast(ModelT, _reader(cls).validate_python(document, by_alias=True, by_name=False))


def _reader(cls: type[BaseModel]) -> SchemaValidator:
    known: SchemaValidator | None = cls.__dict__.get("__reader_cache__")
    if known is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        known = SchemaValidator(_without_notes(cls.__pydantic_core_schema__))
        type.__setattr__(cls, "__reader_cache__", known)
    return known


def _without_notes(schema: Any) -> Any:
    """The same schema with a dataclass for each model that is nothing but its fields."""
    if isinstance(schema, list):
        return [_without_notes(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model":
        return _as_dataclass(schema) if _is_plain(schema) else schema
    return {
        key: part if key in ("serialization", "metadata") else _without_notes(part)
        for key, part in schema.items()
    }


def _is_plain(model: dict[str, Any]) -> bool:
    """Whether a model keeps no unknown fields, and no code of its own runs when it is made."""
    odd = ("root_model", "custom_init", "post_init")
    keeps_unknown = model.get("config", {}).get("extra_fields_behavior") == "allow"
    inner: str = model["schema"]["type"]
    return inner == "model-fields" and not keeps_unknown and not any(map(model.get, odd))


def _as_dataclass(model: dict[str, Any]) -> CoreSchema:
    cls, fields = model["cls"], model["schema"]["fields"]
    return core_schema.dataclass_schema(
        cls,
        core_schema.dataclass_args_schema(
            cls.__name__,
            [
                core_schema.dataclass_field(
                    name,
                    _without_notes(field["schema"]),
                    kw_only=True,
                    validation_alias=field.get("validation_alias"),
                )
                for name, field in fields.items()
            ],
        ),
        list(fields),
        # Or pydantic would take what it has compiled of the class already, and that takes notes.
        generic_origin=cls,
        strict=False,  # strictly, parsed JSON is no object of the class
        ref=model.get("ref"),
        config=model.get("config"),
    )
