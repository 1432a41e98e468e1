"""Defaulting: functions per versioned type, applied wherever the type occurs in an object.

A default belongs to a version, because it is part of what a document of that version means. A
function changes the object in place and is told by its annotation which type it is for; it runs
on the object itself before it runs on what the object holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.model import Model

SetDefaults = Callable[[Any], None]


class Defaulter:
    """The defaulting functions of a scheme, by type."""

    def __init__(self) -> None:
        self._functions: dict[type, SetDefaults] = {}
        self._plans: dict[type, _Plan] = {}

    def add(self, function: SetDefaults) -> None:
        """Register `def set_defaults(gadget: v1.Gadget) -> None`."""
        cls = _subject(function)
        if cls in self._functions:
            raise TypeError(f"{cls.__qualname__} has a defaulting function already")
        self._functions[cls] = function
        self._plans.clear()

    def apply(self, obj: Model) -> None:
        """Set every default of *obj* and of what it holds."""
        if self._functions:
            self._plan(type(obj)).run(obj)

    def _plan(self, cls: type[Model]) -> "_Plan":
        plan = self._plans.get(cls)
        if plan is None:
            plans: dict[type, _Plan] = {}
            plan = self._build(cls, plans)
            _prune(plans)
            self._plans |= plans
        return plan

    def _build(self, cls: type[Model], plans: dict[type, "_Plan"]) -> "_Plan":
        if cls in plans:
            return plans[cls]
        plan = plans[cls] = _Plan(self._functions.get(cls), [])
        for found in fields_of(cls):
            model = found.type.model
            if model is not None:
                plan.nested.append((found.name, found.type, self._build(model, plans)))
        return plan


@dataclass(eq=False, slots=True)
class _Plan:
    """What to do with an object of one type: its own function, and the fields worth entering."""

    function: SetDefaults | None
    nested: list[tuple[str, TypeInfo, "_Plan"]]

    def run(self, obj: Any) -> None:
        if self.function is not None:
            self.function(obj)
        for name, kind, plan in self.nested:
            _enter(getattr(obj, name), kind, plan)


def _enter(value: Any, kind: TypeInfo, plan: _Plan) -> None:
    if value is None:
        return
    if kind.category == "model":
        plan.run(value)
    elif kind.item is not None:
        for item in value.values() if kind.category == "map" else value:
            _enter(item, kind.item, plan)


def _prune(plans: dict[type, _Plan]) -> None:
    """Forget fields below which there is nothing to default, so that they cost nothing."""
    useful = {id(plan) for plan in plans.values() if plan.function is not None}
    while True:
        more = {
            id(plan)
            for plan in plans.values()
            if id(plan) not in useful and any(id(below) in useful for _, _, below in plan.nested)
        }
        if not more:
            break
        useful |= more
    for plan in plans.values():
        plan.nested = [entry for entry in plan.nested if id(entry[2]) in useful]


def _subject(function: SetDefaults) -> type:
    hints = get_type_hints(function)
    hints.pop("return", None)
    subjects = list(hints.values())
    if len(subjects) != 1 or not _is_model(subjects[0]):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"{name}: a defaulting function takes one object, and its annotation says of which"
            " type: def set_defaults(gadget: v1.Gadget) -> None"
        )
    return cast(type, subjects[0])


def _is_model(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Model)
