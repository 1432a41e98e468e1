"""Orders of a shop: types, defaults, rules and conversions, defined once and used twice.

A server of ours serves them as a group. Another server knows them as custom resources, and a
manager serves the same functions as webhooks.
"""

from typing import Any

from apimachinery import INTERNAL, GroupVersion, Model, Object, Scheme, field
from apimachinery.fieldpath import FieldErrors, Path, immutable, invalid, required
from apiserver.group import Group, Resource
from apiserver.registry.strategy import Strategy
from client.controller import Manager

GROUP = "shop.example.com"


class OrderSpec(Model):
    item: str = ""
    quantity: int = field(1, ge=1, le=1000)
    note: str = ""


class Order(Object):
    spec: OrderSpec = field(default_factory=OrderSpec)


class OrderSpecV1(Model):
    item: str = ""
    quantity: int = field(1, ge=1, le=1000)
    note: str = ""


class OrderV1(Object, kind="Order"):
    spec: OrderSpecV1 = field(default_factory=OrderSpecV1)


class OrderSpecV1alpha1(Model):
    item: str = ""
    count: int = field(1, ge=1, le=1000)


class OrderV1alpha1(Object, kind="Order"):
    spec: OrderSpecV1alpha1 = field(default_factory=OrderSpecV1alpha1)


def set_note(spec: OrderSpecV1) -> None:
    if not spec.note:
        spec.note = "as usual"


def validate_order(order: Order) -> FieldErrors:
    if not order.spec.item:
        yield required(Path("spec", "item"))
    if order.spec.quantity % 2:
        yield invalid(Path("spec", "quantity"), order.spec.quantity, "we sell pairs")


def validate_change(new: Order, old: Order) -> FieldErrors:
    if new.spec.item != old.spec.item:
        yield immutable(Path("spec", "item"), new.spec.item)


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, INTERNAL), Order)
    scheme.add(GroupVersion(GROUP, "v1"), OrderV1)
    scheme.add(GroupVersion(GROUP, "v1alpha1"), OrderV1alpha1)
    scheme.add_defaults(set_note)
    scheme.add_similar(OrderV1, Order)
    scheme.add_similar(
        OrderV1alpha1,
        Order,
        renames={"spec.count": "spec.quantity"},
        kept={"spec.note": f"{GROUP}/note"},
    )


class OrderStrategy(Strategy[Order]):
    def validate(self, obj: Order) -> FieldErrors:
        yield from validate_order(obj)

    def validate_update(self, new: Order, old: Order) -> FieldErrors:
        yield from validate_order(new)
        yield from validate_change(new, old)


ORDERS = Group(
    GROUP,
    versions=("v1", "v1alpha1"),
    resources=(Resource("orders", Order, OrderStrategy()),),
    add_to_scheme=add_to_scheme,
)


def setup(manager: Manager) -> None:
    """Serve the same definition as webhooks."""
    manager.defaulter(OrderV1, match_policy="Exact")(lambda order: None)
    manager.defaulter(OrderV1alpha1, match_policy="Exact")(lambda order: None)
    manager.validator(Order)(validate_order)

    @manager.validator(Order, operations=["UPDATE"], name="change.orders.example.com", path="/c")
    def change(order: Order, request: Any) -> FieldErrors:
        assert request.old is not None
        yield from validate_change(order, request.old)

    manager.converter(Order)


def _version(name: str, *, storage: bool) -> dict[str, Any]:
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


DEFINITION: dict[str, Any] = {
    "metadata": {"name": f"orders.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "orders", "kind": "Order"},
        "versions": [_version("v1", storage=True), _version("v1alpha1", storage=False)],
    },
}
