"""Classes of kinds: the kind that a class declares, and the classes of its lists."""

from typing import Any, cast

from apimachinery.meta.types import Object, ObjectList, TypeMeta


def kind_name(cls: type[TypeMeta]) -> str:
    """Return the kind that a class declares, or else its name."""
    return cls.__kind__ if issubclass(cls, Object) else cls.__name__


# A string annotation: pydantic would compile `ObjectList[Any]` when this module is imported.
def list_class(cls: type[Object]) -> "type[ObjectList[Any]]":
    """Return the list class of *cls*, the same one for every call."""
    return ObjectList[cls]  # type: ignore[valid-type]


def is_list(cls: type[Any]) -> bool:
    """Return whether *cls* is the class of the lists of a kind."""
    return issubclass(cls, ObjectList) and bool(cls.__pydantic_generic_metadata__["args"])


def item_class(cls: type[Any]) -> type[Object]:
    """Return the class of the items of a list class."""
    return cast(type[Object], cls.__pydantic_generic_metadata__["args"][0])
