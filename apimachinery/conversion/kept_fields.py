"""Kept fields: preserve fields that one version lacks in annotations of its objects.

autoscaling/v1 does the same in Kubernetes: a field that only the newer version has is stored in an
annotation of the older one, so a client of the older version that reads and updates an object loses
nothing. A user may change the annotation; if it cannot be decoded it is left alone and the field
stays unset, because a conversion must not fail.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from apimachinery.meta.types import Object
from apimachinery.model.class_fields import ModelField, fields_of
from apimachinery.model.model import Model

Convert = Callable[[Any], Any]


class ConversionError(TypeError):
    """A conversion that cannot be registered because of a mistake in its declaration."""


@dataclass(frozen=True)
class _KeptField:
    """One kept field: its path in the class that has it, and its annotation in the other."""

    parent_path: tuple[str, ...]
    field: ModelField
    annotation: str
    adapter: TypeAdapter[Any]


def with_kept_fields(
    source: type[Model], target: type[Model], kept: Mapping[str, str], inner: Convert
) -> Convert:
    """Wrap the converter *inner* so that it preserves the *kept* fields in annotations."""
    if not kept:
        return inner
    if not (issubclass(source, Object) and issubclass(target, Object)):
        raise ConversionError(
            f"{source.__qualname__} -> {target.__qualname__}: only objects have annotations that"
            " can keep fields; declare the kept fields on the kind, with paths from there"
        )
    stored = [field for path, key in kept.items() if (field := _find(source, path, key))]
    restored = [field for path, key in kept.items() if (field := _find(target, path, key))]
    _check_sides(kept, _paths(stored), _paths(restored))

    def convert(obj: Any) -> Any:
        converted = inner(obj)
        for field in stored:
            _store(field, obj, converted)
        for field in restored:
            _restore(field, obj, converted)
        return converted

    return convert


def _find(cls: type[Model], path: str, annotation: str) -> _KeptField | None:
    *parent_path, name = path.split(".")
    parent: type[Model] = cls
    for step in parent_path:
        child = next((field for field in fields_of(parent) if field.name == step), None)
        if child is None or child.type.category != "model":
            return None
        parent = child.type.python
    field = next((field for field in fields_of(parent) if field.name == name), None)
    if field is None:
        return None
    annotated: Any = field.info.annotation
    for part in field.info.metadata:
        annotated = Annotated[annotated, part]
    config = None if field.type.category == "model" else ConfigDict(strict=True)
    adapter: TypeAdapter[Any] = TypeAdapter(annotated, config=config)
    return _KeptField(tuple(parent_path), field, annotation, adapter)


def _paths(fields: Iterable[_KeptField]) -> set[str]:
    return {".".join((*kept.parent_path, kept.field.name)) for kept in fields}


def _check_sides(kept: Iterable[str], stored: set[str], restored: set[str]) -> None:
    """Raise ConversionError unless exactly one of the classes has each kept field.

    A field inside a list or map would be lost silently. A field of both classes would return from
    the annotation with the value it had before an update.
    """
    for path in kept:
        if path in stored and path in restored:
            raise ConversionError(f"{path} is kept, but both classes have it")
        if path not in stored and path not in restored:
            raise ConversionError(
                f"{path} is inside a list or map, and one annotation cannot keep it for every item:"
                " keep the whole list or map"
            )


def _store(kept: _KeptField, source: Object, target: Object) -> None:
    parent = _parent(source, kept.parent_path)
    value = getattr(parent, kept.field.name, None) if parent is not None else None
    if parent is None or (not kept.field.required and value == kept.field.default):
        return
    text = kept.adapter.dump_json(value).decode()
    _set_annotations(target, {**target.metadata.annotations, kept.annotation: text})


def _restore(kept: _KeptField, source: Object, target: Object) -> None:
    text = source.metadata.annotations.get(kept.annotation)
    parent = _parent(target, kept.parent_path)
    if text is None or parent is None:
        return
    try:
        value = kept.adapter.validate_json(text)
    except ValidationError:
        return
    parent.__dict__[kept.field.name] = value
    annotations = dict(target.metadata.annotations)
    annotations.pop(kept.annotation, None)
    _set_annotations(target, annotations)


def _parent(obj: Model, path: tuple[str, ...]) -> Model | None:
    for step in path:
        obj = getattr(obj, step)
        if obj is None:
            return None
    return obj


def _set_annotations(obj: Object, annotations: dict[str, str]) -> None:
    # Copy the metadata: it is shared with the source of the conversion, which must not change.
    metadata = cast(Any, obj.metadata).model_copy()
    metadata.__dict__["annotations"] = annotations
    obj.__dict__["metadata"] = metadata
