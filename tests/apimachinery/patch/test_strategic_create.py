"""Creating strategic merge patches: what `kubectl apply` sends, and round trips."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.patch import strategic
from apimachinery.patch.json_values import equal
from apimachinery.patch.patch_errors import PatchError, PatchFailed
from tests.apimachinery.patch.strategic_shapes import POD, SPEC


def names(*values: Any) -> list[dict[str, Any]]:
    return [{"name": value} for value in values]


TWO_WAY: dict[str, tuple[Any, Any, Any]] = {
    "nothing": ({"replicas": 1}, {"replicas": 1}, {}),
    "equal unknown fields": ({"bogus": {"a": [1]}}, {"bogus": {"a": [1]}}, {}),
    "a scalar": ({"replicas": 1}, {"replicas": 2}, {"replicas": 2}),
    "a field less": ({"replicas": 1}, {}, {"replicas": None}),
    "a map": (
        {"nodeSelector": {"a": "1", "b": "2"}},
        {"nodeSelector": {"b": "3", "c": "4"}},
        {"nodeSelector": {"a": None, "b": "3", "c": "4"}},
    ),
    "a map that is replaced": ({"whole": {"a": 1}}, {"whole": {"b": 1}}, {"whole": {"b": 1}}),
    "a list that is replaced": (
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "an element is added": (
        {"containers": names("a")},
        {"containers": names("b", "a")},
        {"containers": names("b"), "$setElementOrder/containers": names("b", "a")},
    ),
    "an element is deleted": (
        {"containers": names("a", "b")},
        {"containers": names("b")},
        {
            "containers": [{"name": "a", "$patch": "delete"}],
            "$setElementOrder/containers": names("b"),
        },
    ),
    "an element is changed": (
        {"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "b"}]},
        {"containers": [{"name": "a", "image": "2"}, {"name": "b"}]},
        {
            "containers": [{"name": "a", "image": "2", "args": None}],
            "$setElementOrder/containers": names("a", "b"),
        },
    ),
    "elements are reordered": (
        {"containers": names("a", "b")},
        {"containers": names("b", "a")},
        {"$setElementOrder/containers": names("b", "a")},
    ),
    "the last element is deleted": (
        {"containers": names("a")},
        {"containers": []},
        {"containers": [{"name": "a", "$patch": "delete"}]},
    ),
    "the first element is added": (
        {"containers": []},
        {"containers": names("a")},
        {"containers": names("a")},
    ),
    "keys are retained": (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"surge": 1}}},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"type": "Recreate", "rollingUpdate": None, "$retainKeys": ["type"]}},
    ),
    "keys of an element are retained": (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
        {
            "volumes": [
                {
                    "name": "v",
                    "emptyDir": None,
                    "hostPath": {"path": "/"},
                    "$retainKeys": ["hostPath", "name"],
                }
            ],
            "$setElementOrder/volumes": names("v"),
        },
    ),
}


@pytest.mark.parametrize(("original", "modified", "patch"), TWO_WAY.values(), ids=TWO_WAY)
def test_two_way_patches_are_those_of_kubernetes(original: Any, modified: Any, patch: Any) -> None:
    created = strategic.create_two_way(original, modified, SPEC)

    assert equal(created, patch)
    assert equal(strategic.apply(original, created, SPEC), modified)


def test_lists_of_primitives_tell_additions_deletions_and_order() -> None:
    original: Any = {"metadata": {"finalizers": ["a", "b", "c"]}}
    modified: Any = {"metadata": {"finalizers": ["d", "b"]}}

    assert strategic.create_two_way(original, modified, POD) == {
        "metadata": {
            "finalizers": ["d"],
            "$deleteFromPrimitiveList/finalizers": ["a", "c"],
            "$setElementOrder/finalizers": ["d", "b"],
        }
    }


THREE_WAY: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    "what others added stays": (
        {"replicas": 1}, {"replicas": 2}, {"replicas": 1, "nodeSelector": {"a": "1"}},
        {"replicas": 2},
        {"replicas": 2, "nodeSelector": {"a": "1"}},
    ),
    "what others changed is set back": ({"replicas": 1}, {"replicas": 1}, {"replicas": 5},
                                        {"replicas": 1}, {"replicas": 1}),
    "what is no longer applied is removed": (
        {"nodeSelector": {"a": "1", "b": "2"}}, {"nodeSelector": {"a": "1"}},
        {"nodeSelector": {"a": "1", "b": "2", "server": "3"}},
        {"nodeSelector": {"b": None}},
        {"nodeSelector": {"a": "1", "server": "3"}},
    ),
    "the server's element stays": (
        {"containers": names("1", "2")}, {"containers": names("2", "3")},
        {"containers": [{"name": "1", "image": "a"}, {"name": "4", "image": "c"}]},
        {"containers": [*names("2", "3"), {"name": "1", "$patch": "delete"}],
         "$setElementOrder/containers": names("2", "3")},
        {"containers": [{"name": "4", "image": "c"}, *names("2", "3")]},
    ),
    "the server's element makes the order be told": (
        {"containers": names("a")}, {"containers": names("a")},
        {"containers": names("server", "a")},
        {"$setElementOrder/containers": names("a")},
        {"containers": names("server", "a")},
    ),
    "fields others added to an element stay": (
        {"containers": [{"name": "a", "image": "1", "args": ["x"]}]},
        {"containers": [{"name": "a", "image": "2"}]},
        {"containers": [{"name": "a", "image": "1", "args": ["x"], "env": names("server")}]},
        {"containers": [{"name": "a", "image": "2", "args": None}],
         "$setElementOrder/containers": names("a")},
        {"containers": [{"name": "a", "image": "2", "env": names("server")}]},
    ),
    "retained keys clear what others added": (
        {"strategy": {"type": "A"}}, {"strategy": {"type": "A"}},
        {"strategy": {"type": "A", "rollingUpdate": {}}},
        {"strategy": {"$retainKeys": ["type"]}},
        {"strategy": {"type": "A"}},
    ),
    "what others removed is set again": (
        {"strategy": {"type": "A"}}, {"strategy": {"type": "A"}}, {},
        {"strategy": {"type": "A"}}, {"strategy": {"type": "A"}},
    ),
    "removed by both": ({"replicas": 1}, {}, {}, {"replicas": None}, {}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("original", "modified", "current", "patch", "result"), THREE_WAY.values(), ids=THREE_WAY
)
def test_three_way_patches_are_those_of_kubernetes(
    original: Any, modified: Any, current: Any, patch: Any, result: Any
) -> None:
    created = strategic.create_three_way(
        original=original, modified=modified, current=current, shape=SPEC
    )

    assert equal(created, patch)
    assert equal(strategic.apply(current, created, SPEC), result)


def test_primitives_of_others_stay() -> None:
    def finalizers(*values: str) -> Any:
        return {"metadata": {"finalizers": list(values)}}

    current = finalizers("a", "b", "c", "server")
    patch = strategic.create_three_way(
        original=finalizers("a", "b", "c"),
        modified=finalizers("b", "a"),
        current=current,
        shape=POD,
    )

    assert strategic.apply(current, patch, POD) == finalizers("b", "a", "server")


@pytest.mark.parametrize("wrong", ["original", "modified", "current"])
def test_patches_are_of_objects(wrong: str) -> None:
    arguments: dict[str, Any] = {"original": {}, "modified": {}, "current": {}, wrong: 1}

    with pytest.raises(PatchFailed, match=f"the {wrong} document must be an object"):
        strategic.create_three_way(**arguments, shape=POD)


def test_unknown_fields_that_differ_are_refused() -> None:
    with pytest.raises(PatchFailed, match="unable to find api field in struct PodSpec"):
        strategic.create_two_way({"bogus": {"a": 1}}, {"bogus": {"a": 2}}, SPEC)


def test_keyed_lists_without_key_are_refused() -> None:
    original: Any = {"keyless": names("a")}
    modified: Any = {"keyless": names("b")}

    with pytest.raises(PatchFailed, match="keyless: cannot merge lists without merge key"):
        strategic.create_two_way(original, modified, SPEC)


word = st.sampled_from("abcd")
strings = st.dictionaries(word, word, max_size=3)


def structs(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=members)


def elements(key: str, keys: st.SearchStrategy[Any], **members: Any) -> st.SearchStrategy[Any]:
    element = st.fixed_dictionaries({key: keys}, optional=members)
    return st.lists(element, max_size=4, unique_by=lambda item: item[key])


containers = elements(
    "name",
    word,
    image=word,
    args=st.lists(word, max_size=2),
    env=elements("name", word, value=word),
    ports=elements("containerPort", st.integers(1, 3), name=word),
    resources=structs(limits=strings),
)
specs = structs(
    containers=containers,
    volumes=elements("name", word, emptyDir=structs(medium=word), hostPath=structs(path=word)),
    tolerations=st.lists(structs(key=word, value=word), max_size=2),
    nodeSelector=strings,
    selector=structs(matchLabels=strings),
    strategy=structs(type=word, rollingUpdate=structs(surge=st.integers(0, 2))),
    replicas=st.integers(0, 2) | st.booleans(),
    whole=strings,
    byName=st.dictionaries(word, structs(name=word, image=word), max_size=2),
)
pods = structs(
    metadata=structs(name=word, labels=strings, finalizers=st.lists(word, max_size=4, unique=True)),
    spec=specs,
)


@given(original=pods, modified=pods)
def test_a_two_way_patch_leads_to_the_modified_document(original: Any, modified: Any) -> None:
    before = copy.deepcopy((original, modified))

    patch = strategic.create_two_way(original, modified, POD)

    assert equal(strategic.apply(original, patch, POD), modified)
    assert (original, modified) == before


@given(document=pods)
def test_there_is_nothing_to_do_for_equal_documents(document: Any) -> None:
    assert strategic.create_two_way(document, copy.deepcopy(document), POD) == {}


@given(original=pods, modified=pods, current=pods)
def test_after_a_three_way_patch_the_configuration_holds(
    original: Any, modified: Any, current: Any
) -> None:
    """Labels stand for maps, containers for keyed lists, finalizers for lists of primitives."""
    patch = strategic.create_three_way(
        original=original, modified=modified, current=current, shape=POD
    )

    result: Any = strategic.apply(current, patch, POD)

    for view in (top_level, labels, container_names, finalizers):
        applied_before, wanted, live = view(original), view(modified), view(current)
        if wanted is not None:
            expected = wanted | ((live or set()) - ((applied_before or set()) - wanted))
            assert view(result) == expected


def top_level(pod: Any) -> set[str] | None:
    return set(pod)


def labels(pod: Any) -> set[str] | None:
    found = pod.get("metadata", {}).get("labels")
    return None if found is None else set(found)


def container_names(pod: Any) -> set[str] | None:
    found = pod.get("spec", {}).get("containers")
    return None if found is None else {container["name"] for container in found}


def finalizers(pod: Any) -> set[str] | None:
    found = pod.get("metadata", {}).get("finalizers")
    return None if found is None else set(found)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | word,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "containers", "spec", "strategy", "finalizers", "x"]), inner
        )
    ),
    max_leaves=15,
)


@given(original=anything, modified=anything, current=anything)
def test_patches_of_anything_are_created_or_a_patch_error(
    original: Any, modified: Any, current: Any
) -> None:
    for shape in (POD, SPEC):
        try:
            patch = strategic.create_three_way(
                original=original, modified=modified, current=current, shape=shape
            )
        except PatchError as error:
            assert str(error)
        else:
            assert isinstance(patch, dict)
