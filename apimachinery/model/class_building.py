"""Class building: build classes ahead of their first use, to find those that cannot be built.

pydantic builds a Model on first use, so a bound that does not fit its type, or an annotation that
names nothing, would otherwise fail the first request.
"""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from apimachinery.model.class_fields import fields_of, type_info


def build_classes(roots: Iterable[type[BaseModel]]) -> dict[type[BaseModel], Exception | None]:
    """Build *roots* and every class nested in them; return those that cannot be built.

    A class that fails only because a class nested in it does has None in place of the error.
    """
    building = _Building()
    for root in roots:
        building.visit(root)
    return building.broken


def unbuilt_classes(roots: Iterable[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Yield the classes to build, nested ones first: each of them then takes a moment only."""
    seen: set[type[BaseModel]] = set()
    pending = [(root, False) for root in roots]
    while pending:
        cls, is_expanded = pending.pop()
        if is_expanded:
            yield cls
        elif cls not in seen and not cls.__pydantic_complete__:
            seen.add(cls)
            pending.append((cls, True))
            pending += [(nested, False) for nested in _nested(cls)]


class _Building:
    def __init__(self) -> None:
        self.broken: dict[type[BaseModel], Exception | None] = {}
        self._visited: set[type[BaseModel]] = set()

    def visit(self, cls: type[BaseModel]) -> None:
        if cls in self._visited:
            return
        self._visited.add(cls)
        # Nested classes first: otherwise their errors would be reported for the outer class.
        nested = [] if cls.__pydantic_complete__ else list(_nested(cls))
        for nested_class in nested:
            self.visit(nested_class)
        try:
            fields = fields_of(cls)
        except Exception as error:  # pydantic and the types of fields raise errors of any class
            causes = any(nested_class in self.broken for nested_class in nested)
            self.broken[cls] = None if causes else error
            return
        for field in fields:
            # Annotations that refer forward are resolved only now.
            if field.type.model is not None:
                self.visit(field.type.model)


def _nested(cls: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for info in cls.__pydantic_fields__.values():
        if (nested := type_info(info.annotation).model) is not None:
            yield nested
