"""Groups are checked against their scheme: every mistake is named, all of them at once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import Model, field
from apimachinery.schema import INTERNAL, GroupResource, GroupVersion, GroupVersionKind
from apimachinery.scheme import Scheme
from apis.gadgets.install import GADGETS
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import AlwaysAllow
from apiserver.controlplane.standard_server import standard_groups
from apiserver.group import STATUS, Group, Resource, Subresource, scale
from apiserver.group_check import group_problems, register_groups
from apiserver.install import InstallError
from apiserver.registry.strategy import Strategy
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.views.table import Column

GROUP = "lamps.example.io"


class LampSpec(Model):
    color: str = field("")
    bulbs: int = field(0)
    labels: dict[str, str] = field(default_factory=dict)
    selector: LabelSelector | None = field(None)
    anything: Any = field(None)
    shades: list[str] = field(default_factory=list)
    is_lit: bool = field(False)


class LampStatus(Model):
    lit: int = field(0)


class Lamp(Object):
    spec: LampSpec = field(default_factory=LampSpec)
    status: LampStatus = field(default_factory=LampStatus)


class BetaLamp(Object, kind="Lamp"):
    spec: LampSpec = field(default_factory=LampSpec)
    status: LampStatus = field(default_factory=LampStatus)


class Shade(Object):
    size: int = field(0)


class Foreign(Object):
    size: int = field(0)


class Opaque:
    """A class that is no API type."""


class BrokenSpec(Model):
    opaque: Opaque = field(default_factory=Opaque)


class Broken(Object):
    spec: BrokenSpec = field(default_factory=BrokenSpec)


async def handle(context: Any, current: Any, body: Any) -> Any:
    return current


def add_lamps(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), Lamp, Shade, internal=True)
    scheme.add(GroupVersion(GROUP, "v1beta1"), BetaLamp)
    scheme.add_same(BetaLamp, Lamp)


SCALE = scale(spec_replicas="spec.bulbs", status_replicas="status.lit", selector="spec.selector")
LAMP_RESOURCE = Resource(
    "lamps",
    Lamp,
    short_names=("lm",),
    subresources=(STATUS, SCALE, Subresource("switch", ("create",), handle=handle)),
    columns=(Column("Color", lambda lamp: lamp.spec.color),),
    fields={"spec.color": "spec.color", "lit": "spec.isLit", "size": "spec.labels.size"},
)
SHADE_RESOURCE = Resource("shades", Shade)
LAMPS = Group(
    GROUP,
    ("v1", "v1beta1"),
    (LAMP_RESOURCE, SHADE_RESOURCE),
    add_lamps,
    storage_version="v1",
    deprecated={"v1beta1": "v1"},
)


def problems(group: Group, *others: Group) -> list[str]:
    return register_groups([*others, group], Scheme())


def lamps(**changes: Any) -> list[str]:
    """Return the problems of the group with changes to it, without its name."""
    return [one.removeprefix(f"group {GROUP!r}: ") for one in problems(replace(LAMPS, **changes))]


def lamp(**changes: Any) -> list[str]:
    """Return the problems of the group with changes to the resource lamps, without its name."""
    found = lamps(resources=(replace(LAMP_RESOURCE, **changes), SHADE_RESOURCE))
    return [one.removeprefix(f"group {GROUP!r}, resource 'lamps': ") for one in found]


def sub(*subresources: Subresource) -> list[str]:
    return lamp(subresources=subresources)


def test_a_sound_group_and_all_groups_of_every_server_have_no_problems() -> None:
    assert register_groups([LAMPS, GADGETS, *standard_groups()], Scheme()) == []


V3 = (
    "versions has 'v3', which has no kind in the scheme: register its kinds in add_to_scheme, or"
    " remove it; the scheme has v1, v1beta1"
)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (
            {"versions": ()},
            [
                "versions is empty: name the versions to serve; the scheme has v1, v1beta1",
                "deprecated has 'v1beta1', which is not in versions: remove it",
                f"group {GROUP!r}, resource 'lamps': kind Lamp is in none of the served versions;"
                " Lamp is in v1, v1beta1",
                f"group {GROUP!r}, resource 'shades': kind Shade is in none of the served versions;"
                " Shade is in v1",
            ],
        ),
        ({"versions": ("v3", "v1", "v1beta1")}, [V3]),
        (
            {"versions": ("v1", "v1", "v1beta1")},
            ["versions has 'v1' 2 times: remove all but one"],
        ),
        (
            {"versions": ("v1beta1",)},
            [
                f"group {GROUP!r}, resource 'shades': kind Shade is in none of the served versions;"
                " Shade is in v1"
            ],
        ),
        (
            {"storage_version": "v2"},
            [
                "storage_version is 'v2', which has no kind in the scheme: name another version, or"
                " none to store the internal class; the scheme has v1, v1beta1",
                f"group {GROUP!r}, resource 'lamps': kind Lamp is not in the storage version 'v2';"
                " Lamp is in v1, v1beta1",
                f"group {GROUP!r}, resource 'shades': kind Shade is not in the storage version"
                " 'v2'; Shade is in v1",
            ],
        ),
        (
            {"storage_version": "v1beta1"},
            [
                f"group {GROUP!r}, resource 'shades': kind Shade is not in the storage version"
                " 'v1beta1'; Shade is in v1"
            ],
        ),
        ({"storage_version": "", "deprecated": {}}, []),
        ({"storage_version": INTERNAL}, []),
        ({"deprecated": {"v1beta1": "lamps.example.io/v2 Lamp", "v1": ""}}, []),
        (
            {"deprecated": {"v1alpha1": "v9"}},
            [
                "deprecated has 'v1alpha1', which is not in versions: remove it",
                "deprecated replaces 'v1alpha1' by 'v9', which has no kind in the scheme: name"
                " another version; the scheme has v1, v1beta1",
            ],
        ),
        (
            {"resources": (LAMP_RESOURCE, LAMP_RESOURCE)},
            ["resource 'lamps' is declared 2 times: rename or remove all but one"],
        ),
        (
            {"resources": (LAMP_RESOURCE, replace(SHADE_RESOURCE, short_names=("lamp", "lm")))},
            [
                "resources 'lamps' and 'shades' are both called 'lamp': change the name, the"
                " singular or the short name of one",
                "resources 'lamps' and 'shades' are both called 'lm': change the name, the"
                " singular or the short name of one",
            ],
        ),
    ],
)
def test_versions_and_names_of_a_group(changes: dict[str, Any], found: list[str]) -> None:
    assert lamps(**changes) == found


HERE = f"{__name__}."


@pytest.mark.parametrize(
    ("cls", "found"),
    [
        (Foreign, f"class {HERE}Foreign is not registered: add it to the scheme in add_to_scheme"),
        (BetaLamp, f"class {HERE}BetaLamp is not internal: use {HERE}Lamp"),
    ],
)
def test_the_class_of_a_resource_is_registered_and_internal(cls: type[Object], found: str) -> None:
    assert lamp(cls=cls, subresources=(), columns=(), fields={}) == [found]


def test_the_class_of_a_resource_belongs_to_its_group() -> None:
    def add_foreign(scheme: Scheme) -> None:
        scheme.add(GroupVersion("others.example.io", "v1"), Foreign, internal=True)
        scheme.add(GroupVersion("borrowers.example.io", "v1"), Foreign)

    borrowers = Group(
        "borrowers.example.io", ("v1",), (Resource("foreigns", Foreign),), add_foreign
    )

    assert problems(borrowers) == [
        f"group 'borrowers.example.io', resource 'foreigns': class {HERE}Foreign belongs to group"
        " 'others.example.io': name the resource there in stored_as, or use a class of this group"
    ]


def test_every_version_is_converted_to_the_class_of_its_resource() -> None:
    def add(scheme: Scheme) -> None:
        scheme.add(GroupVersion("x.io", "v1"), BetaLamp, kind="Shade")
        scheme.add(GroupVersion("x.io", INTERNAL), Lamp)
        scheme.add(GroupVersion("x.io", INTERNAL), Shade)
        scheme.add_same(BetaLamp, Lamp)

    assert problems(Group("x.io", ("v1",), (Resource("shades", Shade),), add)) == [
        f"group 'x.io', resource 'shades': v1 Shade is converted to {HERE}Lamp, not to the class of"
        f" the resource, {HERE}Shade: use one of them for both"
    ]


def test_a_conversion_that_is_not_registered_is_named() -> None:
    def add(scheme: Scheme) -> None:
        scheme.add(GroupVersion("x.io", "v1"), BetaLamp)
        scheme.add(GroupVersion("x.io", INTERNAL), Lamp)

    assert problems(Group("x.io", ("v1",), (Resource("lamps", Lamp),), add)) == [
        f"group 'x.io': converting ({HERE}BetaLamp of x.io/v1, Kind=Lamp) to (x.io/{INTERNAL},"
        " Kind=Lamp): unknown conversion: register it in add_to_scheme, with add_same, add_similar"
        " or add_conversion"
    ]


NO_REPLICAS = "write the path of an integer in the internal object"
NO_FIELD = "LampSpec has no field 'bulb'; it has color, bulbs, labels, selector, anything, shades"


@pytest.mark.parametrize(
    ("subresource", "found"),
    [
        (Subresource("x"), ['the server implements only "status" and "scale": give it a handle']),
        (
            Subresource("x", ("list",), handle=handle),
            ["unknown verb 'list': use create, get, patch or update"],
        ),
        (Subresource("status", ("create",)), ["unknown verb 'create': use get, patch or update"]),
        (
            Subresource("x", handle=handle, kind=GroupVersionKind(GROUP, "v1", "Switch")),
            [
                f"its kind {GROUP}/v1, Kind=Switch is not registered: add it to the scheme in"
                " add_to_scheme"
            ],
        ),
        (
            Subresource("scale"),
            [
                f"spec_replicas is missing: {NO_REPLICAS}",
                f"status_replicas is missing: {NO_REPLICAS}",
            ],
        ),
        (
            replace(SCALE, spec_replicas="spec.bulb", status_replicas="spec.color"),
            [
                f"spec_replicas is 'spec.bulb': {NO_FIELD}, is_lit",
                "status_replicas is 'spec.color', which is not an integer: name a field of such a"
                " type",
            ],
        ),
        (
            replace(SCALE, spec_replicas="spec.is_lit", status_replicas="spec.color.name"),
            [
                "spec_replicas is 'spec.is_lit', which is not an integer: name a field of such a"
                " type",
                "status_replicas is 'spec.color.name': spec.color is a scalar, which has no fields",
            ],
        ),
        (
            replace(SCALE, selector="spec.bulbs"),
            [
                "selector is 'spec.bulbs', which is not a string, a map of labels or a"
                " LabelSelector: name a field of such a type"
            ],
        ),
        (replace(SCALE, selector="spec.color"), []),
        (replace(SCALE, selector="spec.labels"), []),
        (replace(SCALE, selector="spec.anything.selector"), []),
    ],
)
def test_subresources(subresource: Subresource, found: list[str]) -> None:
    assert sub(subresource) == [f"subresource {subresource.name!r}: {text}" for text in found]


def test_a_subresource_is_declared_once() -> None:
    found = ["subresource 'status' is declared 2 times: rename or remove all but one"]

    assert sub(STATUS, STATUS) == found


def test_a_status_has_a_default() -> None:
    shades = replace(SHADE_RESOURCE, subresources=(STATUS,))

    assert lamps(resources=(shades,)) == [
        f"group {GROUP!r}, resource 'shades': subresource 'status': Shade has a status"
        " subresource: give its status a default"
    ]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (
            {"verbs": ("get", "read")},
            [
                "unknown verb 'read': use create, delete, deletecollection, get, list, patch,"
                " update or watch"
            ],
        ),
        ({"roles": ("admin",)}, ["unknown role 'admin': use view or edit"]),
        (
            {"answer": handle},
            ['it answers reviews and stores nothing: write verbs=("create",)'],
        ),
        ({"strategy": Strategy}, ["its strategy is a class, not an object: write Strategy()"]),
        (
            {"fields": {"a": "spec.bulb", "b": "spec.shades", "c": "spec.is_lit"}},
            [
                "fields maps 'a' to 'spec.bulb': LampSpec has no field 'bulb'; it has color, bulbs,"
                " labels, selector, anything, shades, isLit",
                "fields maps 'b' to 'spec.shades', which is a list: field selectors compare"
                " strings, numbers and booleans, so name a field of such a type",
                "fields maps 'c' to 'spec.is_lit': LampSpec has no field 'is_lit'; it has color,"
                " bulbs, labels, selector, anything, shades, isLit",
            ],
        ),
        ({"fields": {"a": "metadata.uid", "b": "spec.anything.x", "c": "spec.bulbs"}}, []),
    ],
)
def test_declarations_of_a_resource(changes: dict[str, Any], found: list[str]) -> None:
    assert lamp(**changes) == found


def raising(lamp: Lamp) -> str:
    raise KeyError("a cell may depend on the data")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ([Column("A", raising, type="date", format="date-time", priority=1)], []),
        (
            [Column("A", len), Column("A", len)],
            ["column 'A' is declared 2 times: rename or remove all but one"],
        ),
        (
            [Column("A", len, type="text", format="short")],
            [
                "unknown type of column 'A': 'text': use boolean, date, integer, number or string",
                "unknown format of column 'A': 'short': use byte, date, date-time, double, float,"
                " int32, int64, name or password",
            ],
        ),
        (
            [Column("A", "spec.color")],  # type: ignore[arg-type]
            [
                "the cell of column 'A' is 'spec.color': write a function that returns the value"
                " for an object"
            ],
        ),
        (
            [Column("Age", len)],
            [
                "the server adds a column 'Age' itself: remove yours, or define the column 'Name'"
                " and thereby all columns"
            ],
        ),
        ([Column("Name", len), Column("Age", len)], []),
    ],
)
def test_columns(columns: list[Column], found: list[str]) -> None:
    assert lamp(columns=tuple(columns)) == found


def test_objects_are_stored_by_a_group_that_comes_first() -> None:
    shared = replace(LAMP_RESOURCE, stored_as=GroupResource(GROUP, "shades"))
    missing = replace(LAMP_RESOURCE, stored_as=GroupResource("x.io", "lamps"))

    assert lamps(resources=(shared, SHADE_RESOURCE)) == [
        f"its lamps are stored as shades.{GROUP}, whose group must be installed first"
    ]
    assert lamps(resources=(missing, SHADE_RESOURCE)) == [
        "its lamps are stored as lamps.x.io, which no group stores: serve the group that does, or"
        " correct stored_as"
    ]


def test_a_class_that_cannot_be_built_is_named() -> None:
    def add(scheme: Scheme) -> None:
        scheme.add(GroupVersion("x.io", "v1"), Broken, internal=True)

    group = Group("x.io", ("v1",), (Resource("brokens", Broken, fields={"a": "b"}),), add)

    (found,) = problems(group)

    assert found.startswith(f"class {HERE}BrokenSpec cannot be built: ")
    assert "Opaque" in found
    assert "\n" not in found


@pytest.fixture
def failing() -> Callable[[Exception], Group]:
    def make(error: Exception) -> Group:
        def add(scheme: Scheme) -> None:
            raise error

        name = f"{type(error).__name__.lower()}.io"
        return Group(name, ("v9",), (Resource("lamps", Lamp, verbs=("read",)),), add)

    return make


def test_every_group_is_tried_and_every_problem_reported(
    failing: Callable[[Exception], Group],
) -> None:
    one, two = failing(OSError("a\nb")), failing(ValueError("c"))

    found = problems(replace(LAMPS, versions=("v3", "v1", "v1beta1")), one, two)

    assert found[0].startswith(f"group 'oserror.io': add_to_scheme: OSError: a b ({__file__},")
    assert found[1].startswith("group 'valueerror.io': add_to_scheme: ValueError: c (")
    verb = "unknown verb 'read': use create, delete, deletecollection, get, list, patch"
    assert found[2:] == [
        f"group 'oserror.io', resource 'lamps': {verb}, update or watch",
        f"group 'valueerror.io', resource 'lamps': {verb}, update or watch",
        f"group {GROUP!r}: {V3}",
    ]


def test_the_line_of_a_registration_that_fails_is_named() -> None:
    def add(scheme: Scheme) -> None:
        add_lamps(scheme)
        scheme.add_same(Shade, Lamp)

    (found,) = problems(replace(LAMPS, add_to_scheme=add))

    line = add.__code__.co_firstlineno + 2
    assert "LostFields: deriving Shade -> Lamp: spec of the target has no source; " in found
    assert found.endswith(f" ({__file__}, line {line})")


def test_a_group_is_given_once() -> None:
    assert problems(LAMPS, LAMPS)[0] == f"group {GROUP!r} is given twice"


def test_registered_groups_can_be_checked_again() -> None:
    scheme = Scheme()
    add_lamps(scheme)

    assert group_problems([LAMPS], scheme) == []


async def test_an_application_with_such_groups_does_not_start() -> None:
    """Two mistakes of the same group, as every server reports them."""
    gadgets = replace(GADGETS, versions=("v3",), storage_version="v2")
    app = App(
        (gadgets,),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication([]),
        authorizer=AlwaysAllow(),
    )

    with pytest.raises(InstallError) as refused:
        await app.start()

    lines = str(refused.value).splitlines()
    assert [line.partition(",")[0] for line in lines][:2] == [
        "group 'gadgets.example.io': versions has 'v3'",
        "group 'gadgets.example.io': storage_version is 'v2'",
    ]
