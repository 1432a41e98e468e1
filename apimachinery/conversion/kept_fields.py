"""Fields that one version cannot express, kept in annotations of its objects.

autoscaling/v1 is the model: what only the newer form has travels through the older one in an
annotation, so a client of the old version that reads and writes back loses nothing. An annotation
is text a user may have changed; one that cannot be read as the field's value is left alone and the
field stays unset, because a conversion cannot fail.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from apimachinery.meta.types import Object
from apimachinery.model.class_fields import ModelField, fields_of
from apimachinery.model.model import Model

Convert = Callable[[Any], Any]


class ConversionError(TypeError):
    """A conversion that cannot be registered: its author must change something."""


@dataclass(frozen=True)
class _Kept:
    """One kept field: where it is on the side that has it, and its annotation on the other."""

    container: tuple[str, ...]
    field: ModelField
    annotation: str
    adapter: TypeAdapter[Any]


def keep(
    source: type[Model], target: type[Model], kept: Mapping[str, str], inner: Convert
) -> Convert:
    """Wrap the conversion *inner* of objects so that the *kept* fields survive it."""
    if not kept:
        return inner
    if not (issubclass(source, Object) and issubclass(target, Object)):
        raise ConversionError(
            f"{source.__qualname__} -> {target.__qualname__}: only an object has annotations to"
            " keep fields in; declare kept fields on its kind, with the path from there"
        )
    stored = [found for path, key in kept.items() if (found := _find(source, path, key))]
    restored = [found for path, key in kept.items() if (found := _find(target, path, key))]

    def convert(obj: Any) -> Any:
        made = inner(obj)
        for one in stored:
            _store(one, obj, made)
        for one in restored:
            _restore(one, obj, made)
        return made

    return convert


def _find(cls: type[Model], path: str, annotation: str) -> _Kept | None:
    *container, name = path.split(".")
    holder: type[Model] = cls
    for step in container:
        below = next((found for found in fields_of(holder) if found.name == step), None)
        if below is None or below.type.category != "model":
            return None
        holder = below.type.python
    found = next((found for found in fields_of(holder) if found.name == name), None)
    if found is None:
        return None
    annotated: Any = found.info.annotation
    for part in found.info.metadata:
        annotated = Annotated[annotated, part]
    config = None if found.type.category == "model" else ConfigDict(strict=True)
    adapter: TypeAdapter[Any] = TypeAdapter(annotated, config=config)
    return _Kept(tuple(container), found, annotation, adapter)


def _store(one: _Kept, source: Object, target: Object) -> None:
    holder = _holder(source, one.container)
    value = getattr(holder, one.field.name, None) if holder is not None else None
    if holder is None or (not one.field.required and value == one.field.default):
        return
    text = one.adapter.dump_json(value).decode()
    _annotate(target, {**target.metadata.annotations, one.annotation: text})


def _restore(one: _Kept, source: Object, target: Object) -> None:
    text = source.metadata.annotations.get(one.annotation)
    holder = _holder(target, one.container)
    if text is None or holder is None:
        return
    try:
        value = one.adapter.validate_json(text)
    except ValidationError:
        return
    holder.__dict__[one.field.name] = value
    rest = {k: v for k, v in target.metadata.annotations.items() if k != one.annotation}
    _annotate(target, rest)


def _holder(obj: Model, container: tuple[str, ...]) -> Model | None:
    for step in container:
        obj = getattr(obj, step)
        if obj is None:
            return None
    return obj


def _annotate(obj: Object, annotations: dict[str, str]) -> None:
    # The metadata is shared with the source of the conversion, which must not see this.
    metadata = cast(Any, obj.metadata).model_copy()
    metadata.__dict__["annotations"] = annotations
    obj.__dict__["metadata"] = metadata
