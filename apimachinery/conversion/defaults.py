"""Defaulting: functions per versioned type, applied wherever the type occurs in an object.

A default belongs to a version, because it is part of the meaning of its documents. A defaulting
function changes an object of its annotated type in place; the function of an object runs before the
functions of the values nested in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.model import Model, is_model

SetDefaults = Callable[[Any], None]


class Defaulter:
    """The defaulting functions of a scheme, by type."""

    def __init__(self) -> None:
        self._functions: dict[type, SetDefaults] = {}
        self._plans: dict[type, _Plan] = {}

    def add(self, function: SetDefaults) -> None:
        """Register a function such as `def set_defaults(gadget: v1.Gadget) -> None`.

        Groups that share a type may register the same function. Raises TypeError if its annotation
        names no Model class, or the class has another function.
        """
        cls = _annotated_class(function)
        if self._functions.get(cls) is function:
            return
        if cls in self._functions:
            raise TypeError(f"{cls.__qualname__} already has a defaulting function")
        self._functions[cls] = function
        self._plans.clear()

    def apply(self, obj: Model) -> None:
        """Set the defaults of *obj* and of all values nested in it."""
        if self._functions:
            self._plan(type(obj)).run(obj)

    def has_functions(self, cls: type[Model]) -> bool:
        """Return whether a function is registered for *cls* or for a type nested in it."""
        if not self._functions:
            return False
        plan = self._plan(cls)
        return plan.function is not None or bool(plan.nested)

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
        for field in fields_of(cls):
            model = field.type.model
            if model is not None:
                plan.nested.append((field.name, field.type, self._build(model, plans)))
        return plan


@dataclass(eq=False, slots=True)
class _Plan:
    """How to default an object of one type: its function, and the fields with nested defaults."""

    function: SetDefaults | None
    nested: list[tuple[str, TypeInfo, "_Plan"]]

    def run(self, obj: Any) -> None:
        if self.function is not None:
            self.function(obj)
        for name, info, plan in self.nested:
            _run_nested(getattr(obj, name), info, plan)


def _run_nested(value: Any, info: TypeInfo, plan: _Plan) -> None:
    if value is None:
        return
    if info.category == "model":
        plan.run(value)
    elif info.item is not None:
        for item in value.values() if info.category == "map" else value:
            _run_nested(item, info.item, plan)


def _prune(plans: dict[type, _Plan]) -> None:
    """Remove fields without nested defaults from the plans, so that they cost nothing.

    Plans may be recursive, so the useful ones are collected until no more are found.
    """
    useful = {id(plan) for plan in plans.values() if plan.function is not None}
    while True:
        more = {
            id(plan)
            for plan in plans.values()
            if id(plan) not in useful and any(id(nested) in useful for _, _, nested in plan.nested)
        }
        if not more:
            break
        useful |= more
    for plan in plans.values():
        plan.nested = [entry for entry in plan.nested if id(entry[2]) in useful]


def _annotated_class(function: SetDefaults) -> type:
    hints = get_type_hints(function)
    hints.pop("return", None)
    classes = list(hints.values())
    if len(classes) != 1 or not is_model(classes[0]):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(
            f"{name}: a defaulting function takes one object, with its class as annotation:"
            " def set_defaults(gadget: v1.Gadget) -> None"
        )
    return cast(type, classes[0])
