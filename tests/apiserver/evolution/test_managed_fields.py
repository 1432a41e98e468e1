"""managedFields of objects whose types have lost a field."""

from typing import Any

from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import Scheme
from apiserver import STATUS, Group, Resource, Strategy
from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.releases import (
    GROUP,
    LAMPS,
    Api,
    Fields,
    lamp,
    lamp_class,
    serving_alone,
)

APPLY = "application/apply-patch+yaml"
SECOND = LAMPS.replace("/v1/", "/v2/")
FIRST_FIELDS: Fields = {"color": (str, ""), "watts": (int, 0), "size": (int, 0)}
LATER_FIELDS: Fields = {"watts": (int, 0), "size": (int, 0)}


def two_versions(fields: Fields, *, dropped: tuple[str, ...] = ()) -> Group:
    """Return a release whose lamps have the same fields in two versions."""
    internal, first, second = (lamp_class(fields) for _ in range(3))

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(GroupVersion(GROUP, "v1"), first)
        scheme.add(GroupVersion(GROUP, "v2"), second)
        scheme.add(GroupVersion(GROUP, INTERNAL), internal)
        for version in (first, second):
            scheme.add_same(version, internal)
        if dropped:
            scheme.add_upgrade(internal, dropped=dropped)

    return Group(
        name=GROUP,
        versions=("v1", "v2"),
        add_to_scheme=add_to_scheme,
        resources=(Resource("lamps", internal, Strategy(), subresources=(STATUS,)),),
    )


async def test_fields_that_are_gone_are_pruned_by_the_next_write(new_store: NewStore) -> None:
    """Whoever owned them, in whichever version, by update or by apply."""
    store = new_store()
    async with serving_alone(two_versions(FIRST_FIELDS), storage=store) as api:
        await _apply(api, LAMPS, "first", color="red", watts=1)
        await _apply(api, SECOND, "second", color="red")
        await _patch(api, SECOND, "updater", {"color": "blue", "size": 2})

    async with serving_alone(
        two_versions(LATER_FIELDS, dropped=("spec.color",)), storage=store
    ) as api:
        await _patch(api, LAMPS, "other", {"size": 3})
        owned = _owned(await api.get("a"))

    assert owned == {
        "first": {"f:spec": {"f:watts": {}}},
        "other": {"f:spec": {"f:size": {}}},
    }


async def test_an_apply_prunes_as_well(new_store: NewStore) -> None:
    store = new_store()
    async with serving_alone(two_versions(FIRST_FIELDS), storage=store) as api:
        await _apply(api, LAMPS, "first", color="red", watts=1)
        await _patch(api, SECOND, "updater", {"size": 2})

    async with serving_alone(
        two_versions(LATER_FIELDS, dropped=("spec.color",)), storage=store
    ) as api:
        await _apply(api, SECOND, "third", size=2)
        owned = _owned(await api.get("a"))

    assert owned == {
        "first": {"f:spec": {"f:watts": {}}},
        "third": {"f:spec": {"f:size": {}}},
        "updater": {"f:spec": {"f:size": {}}},
    }


async def _apply(api: Api, path: str, manager: str, **spec: Any) -> None:
    body = lamp("a", **spec) | {"apiVersion": path.removeprefix("/apis/").rsplit("/namespaces")[0]}
    query = {"fieldManager": manager, "force": "true"}
    answer = await api("PATCH", f"{path}/a", body, content_type=APPLY, query=query)
    assert answer.code in (200, 201), answer.body


async def _patch(api: Api, path: str, manager: str, spec: Any) -> None:
    answer = await api(
        "PATCH",
        f"{path}/a",
        {"spec": spec},
        content_type="application/merge-patch+json",
        query={"fieldManager": manager},
    )
    assert answer.code == 200, answer.body


def _owned(obj: Any) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"]["managedFields"]}
