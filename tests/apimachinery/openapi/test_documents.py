"""Whole OpenAPI documents: paths, operations, parameters and bodies."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.openapi.documents import Document, document_v2, document_v3, index_versions
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.openapi.operations import ResourceDescription, SubresourceDescription
from apimachinery.schema import GroupVersion
from apimachinery.serialization.media_types import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH

CORE = GroupVersion("", "v1")
APPS = GroupVersion("apps", "v1")
GADGETS = GroupVersion("gadgets.example.io", "v1")
SCALE = GroupVersion("autoscaling", "v1").with_kind("Scale")
META = "io.k8s.apimachinery.pkg.apis.meta.v1."


class ConfigMap(Object):
    """Values by name."""

    data: dict[str, str] = field(default_factory=dict)


class Namespace(Object):
    """A space of names."""


class DeploymentSpec(Model):
    """What is wanted."""

    replicas: int = 1


class Deployment(Object):
    """Keeps pods running."""

    spec: DeploymentSpec = field(default_factory=DeploymentSpec)


class ScaleSpec(Model):
    replicas: int = 0


class Scale(Object):
    """How many."""

    spec: ScaleSpec = field(default_factory=ScaleSpec)


class Review(Object):
    """A question."""


class Gadget(Object):
    """A gadget."""


VERSIONS = {
    CORE: (
        ResourceDescription(plural="configmaps", kind="ConfigMap", cls=ConfigMap),
        ResourceDescription(
            plural="namespaces",
            kind="Namespace",
            cls=Namespace,
            namespaced=False,
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
            subresources=(SubresourceDescription(name="finalize", verbs=("update",)),),
        ),
    ),
    APPS: (
        ResourceDescription(
            plural="deployments",
            kind="Deployment",
            cls=Deployment,
            subresources=(
                SubresourceDescription(name="status"),
                SubresourceDescription(name="scale", kind=SCALE, cls=Scale),
            ),
        ),
    ),
    GADGETS: (
        ResourceDescription(
            plural="gadgets",
            kind="Gadget",
            cls=Gadget,
            media_types=(JSON,),
            patch_types=(JSON_PATCH, MERGE_PATCH, APPLY_PATCH),
        ),
        ResourceDescription(
            plural="reviews", kind="Review", cls=Review, namespaced=False, verbs=("create",)
        ),
    ),
}


def resources(version: GroupVersion, **changes: Any) -> list[ResourceDescription]:
    return [replace(resource, **changes) for resource in VERSIONS[version]]


def v3(version: GroupVersion, *, watch_paths: bool = False, **changes: Any) -> Document:
    return document_v3(
        title="Test",
        version="v1.2.3",
        group_version=version,
        resources=resources(version, has_watch_paths=watch_paths, **changes),
        index=index_versions(VERSIONS),
    )


def v2(*, watch_paths: bool = False) -> Document:
    versions = {version: resources(version, has_watch_paths=watch_paths) for version in VERSIONS}
    return document_v2(title="Test", version="v1.2.3", versions=versions)


def operations(document: Document) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def identifiers(document: Document) -> dict[str, str]:
    return {f"{method} {path}": each["operationId"] for path, method, each in operations(document)}


def names(parameters: list[dict[str, Any]], place: str) -> list[str]:
    return [each["name"] for each in parameters if each["in"] == place]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for held in value.values():
            yield from references(held)
    elif isinstance(value, list):
        for held in value:
            yield from references(held)


def test_operations_of_a_namespaced_resource_are_named_as_in_kubernetes() -> None:
    root = "/api/v1"
    here = f"{root}/namespaces/{{namespace}}/configmaps"

    found = identifiers(v3(CORE, watch_paths=True))

    assert {key: value for key, value in found.items() if "configmaps" in key} == {
        f"get {root}/configmaps": "listCoreV1ConfigMapForAllNamespaces",
        f"get {here}": "listCoreV1NamespacedConfigMap",
        f"post {here}": "createCoreV1NamespacedConfigMap",
        f"delete {here}": "deleteCoreV1CollectionNamespacedConfigMap",
        f"get {here}/{{name}}": "readCoreV1NamespacedConfigMap",
        f"put {here}/{{name}}": "replaceCoreV1NamespacedConfigMap",
        f"patch {here}/{{name}}": "patchCoreV1NamespacedConfigMap",
        f"delete {here}/{{name}}": "deleteCoreV1NamespacedConfigMap",
        f"get {root}/watch/configmaps": "watchCoreV1ConfigMapListForAllNamespaces",
        f"get {root}/watch/namespaces/{{namespace}}/configmaps": (
            "watchCoreV1NamespacedConfigMapList"
        ),
        f"get {root}/watch/namespaces/{{namespace}}/configmaps/{{name}}": (
            "watchCoreV1NamespacedConfigMap"
        ),
    }


def test_operations_of_a_cluster_resource_are_named_as_in_kubernetes() -> None:
    found = identifiers(v3(CORE))

    assert {key: value for key, value in found.items() if key.count("namespace") == 1} == {
        "get /api/v1/namespaces": "listCoreV1Namespace",
        "post /api/v1/namespaces": "createCoreV1Namespace",
        "get /api/v1/namespaces/{name}": "readCoreV1Namespace",
        "put /api/v1/namespaces/{name}": "replaceCoreV1Namespace",
        "patch /api/v1/namespaces/{name}": "patchCoreV1Namespace",
        "delete /api/v1/namespaces/{name}": "deleteCoreV1Namespace",
        "put /api/v1/namespaces/{name}/finalize": "replaceCoreV1NamespaceFinalize",
    }
    assert found["get /api/v1/"] == "getCoreV1APIResources"


def test_subresources_are_named_after_their_parent() -> None:
    base = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"

    document = v3(APPS)

    found = identifiers(document)
    scale = document["paths"][f"{base}/scale"]
    assert found[f"get {base}/status"] == "readAppsV1NamespacedDeploymentStatus"
    assert found[f"patch {base}/scale"] == "patchAppsV1NamespacedDeploymentScale"
    assert scale["put"]["x-kubernetes-group-version-kind"] == {
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
    }
    assert list(references(scale["put"]["requestBody"])) == [
        "#/components/schemas/io.k8s.api.autoscaling.v1.Scale"
    ]
    assert "io.k8s.api.autoscaling.v1.ScaleSpec" in document["components"]["schemas"]


def test_group_of_several_words_is_written_in_camel_case() -> None:
    document = v3(GADGETS)

    path = document["paths"]["/apis/gadgets.example.io/v1/namespaces/{namespace}/gadgets"]
    assert path["post"]["operationId"] == "createGadgetsExampleIoV1NamespacedGadget"
    assert path["post"]["tags"] == ["gadgetsExampleIo_v1"]


def test_kind_that_can_only_be_created_has_one_path_and_no_list() -> None:
    document = v3(GADGETS)

    found = [path for path in document["paths"] if "reviews" in path]
    assert found == ["/apis/gadgets.example.io/v1/reviews"]
    assert list(document["paths"][found[0]]) == ["parameters", "post"]
    assert "io.example.gadgets.v1.ReviewList" not in document["components"]["schemas"]


@pytest.mark.parametrize("version", [CORE, APPS, GADGETS])
def test_actions_are_those_of_kubernetes(version: GroupVersion) -> None:
    actions = {
        "get": {"get", "list", "watch", "watchlist"},
        "post": {"post"},
        "put": {"put"},
        "patch": {"patch"},
        "delete": {"delete", "deletecollection"},
    }
    for path, method, operation in operations(v3(version, watch_paths=True)):
        if not path.endswith("/"):
            assert operation["x-kubernetes-action"] in actions[method], path


def test_kubectl_finds_the_parameters_it_looks_for_in_patch() -> None:
    """kubectl reads the parameters of the operation, not those of the path."""
    path = v3(CORE)["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]

    patch = path["patch"]
    assert names(patch["parameters"], "query") == [
        "dryRun",
        "fieldManager",
        "fieldValidation",
        "force",
    ]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "",
        "version": "v1",
        "kind": "ConfigMap",
    }


def test_parameters_of_each_action() -> None:
    paths = v3(CORE)["paths"]
    collection = paths["/api/v1/namespaces/{namespace}/configmaps"]
    item = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]

    written = ["dryRun", "fieldManager", "fieldValidation"]
    assert names(collection["post"]["parameters"], "query") == written
    assert names(item["put"]["parameters"], "query") == written
    assert "parameters" not in item["get"]
    assert names(item["parameters"], "path") == ["name", "namespace"]
    assert names(item["parameters"], "query") == ["pretty"]
    assert {"propagationPolicy", "gracePeriodSeconds", "dryRun"} <= set(
        names(item["delete"]["parameters"], "query")
    )
    assert names(collection["get"]["parameters"], "query") == [
        "allowWatchBookmarks",
        "continue",
        "fieldSelector",
        "labelSelector",
        "limit",
        "resourceVersion",
        "resourceVersionMatch",
        "sendInitialEvents",
        "shardSelector",
        "timeoutSeconds",
        "watch",
    ]
    assert {"labelSelector", "propagationPolicy"} <= set(
        names(collection["delete"]["parameters"], "query")
    )
    assert "watch" not in names(collection["delete"]["parameters"], "query")


def test_parameters_of_all_operations_are_listed_with_the_path() -> None:
    paths = v3(CORE)["paths"]
    all_namespaces = paths["/api/v1/configmaps"]
    review = v3(GADGETS)["paths"]["/apis/gadgets.example.io/v1/reviews"]

    assert "parameters" not in all_namespaces["get"]
    assert {"limit", "pretty", "watch"} < set(names(all_namespaces["parameters"], "query"))
    assert "parameters" not in review["post"]
    assert names(review["parameters"], "query") == [
        "dryRun",
        "fieldManager",
        "fieldValidation",
        "pretty",
    ]


def test_a_deletion_responds_with_the_object_where_the_resource_does() -> None:
    paths = v3(CORE, returns_deleted=True)["paths"]
    item = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
    collection = paths["/api/v1/namespaces/{namespace}/configmaps"]

    prefix = "#/components/schemas/"
    assert set(references(item["delete"]["responses"])) == {f"{prefix}io.k8s.api.core.v1.ConfigMap"}
    assert set(references(collection["delete"]["responses"])) == {f"{prefix}{META}Status"}


def test_types_of_no_group_are_published_where_an_operation_refers_to_them() -> None:
    meta = {f"{META}{name}" for name in ("DeleteOptions", "Patch", "Status", "WatchEvent")}
    review = next(each for each in VERSIONS[GADGETS] if each.kind == "Review")
    reviews = document_v3(title="", version="", group_version=GADGETS, resources=[review])

    assert meta & set(reviews["components"]["schemas"]) == set()
    assert meta - set(v3(GADGETS)["components"]["schemas"]) == {f"{META}WatchEvent"}
    assert meta <= set(v3(GADGETS, watch_paths=True)["components"]["schemas"])


def test_answers_and_bodies_of_each_action() -> None:
    paths = v3(CORE, watch_paths=True)["paths"]
    collection = paths["/api/v1/namespaces/{namespace}/configmaps"]
    item = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]
    watch = paths["/api/v1/watch/configmaps"]

    def answers(operation: dict[str, Any]) -> dict[str, set[str]]:
        return {
            code: {each.rpartition(".")[2] for each in references(found)}
            for code, found in operation["responses"].items()
        }

    def body(operation: dict[str, Any]) -> set[str]:
        return {each.rpartition(".")[2] for each in references(operation["requestBody"])}

    one, nothing = {"ConfigMap"}, set[str]()
    assert answers(collection["post"]) == {"200": one, "201": one, "202": one, "401": nothing}
    assert answers(item["put"]) == {"200": one, "201": one, "401": nothing}
    assert answers(item["patch"]) == {"200": one, "201": one, "401": nothing}
    assert answers(item["delete"]) == {"200": {"Status"}, "202": {"Status"}, "401": nothing}
    assert answers(collection["delete"]) == {"200": {"Status"}, "401": nothing}
    assert answers(collection["get"]) == {"200": {"ConfigMapList"}, "401": nothing}
    assert answers(watch["get"]) == {"200": {"WatchEvent"}, "401": nothing}
    assert body(collection["post"]) == body(item["put"]) == one
    assert body(item["patch"]) == {"Patch"}
    assert body(item["delete"]) == body(collection["delete"]) == {"DeleteOptions"}
    assert "required" not in item["delete"]["requestBody"]


def test_media_types_are_those_of_the_resource() -> None:
    core = v3(CORE)["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]
    base = "/apis/gadgets.example.io/v1/namespaces/{namespace}/gadgets"
    gadgets = v3(GADGETS)["paths"]

    assert list(core["patch"]["requestBody"]["content"]) == [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ]
    assert list(gadgets[f"{base}/{{name}}"]["patch"]["requestBody"]["content"]) == [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ]
    assert list(gadgets[base]["get"]["responses"]["200"]["content"]) == [
        "application/json",
        "application/json;stream=watch",
    ]
    assert list(core["get"]["responses"]["200"]["content"]) == [
        "application/json",
        "application/vnd.kubernetes.protobuf",
        "application/yaml",
    ]


def test_v2_has_every_version_and_writes_bodies_as_parameters() -> None:
    document = v2()

    paths = document["paths"]
    post = paths["/apis/apps/v1/namespaces/{namespace}/deployments"]["post"]
    assert {"/api/v1/", "/apis/apps/v1/", "/apis/gadgets.example.io/v1/"} <= set(paths)
    assert list(paths) == sorted(paths)
    assert post["parameters"][0] == {
        "in": "body",
        "name": "body",
        "required": True,
        "schema": {"$ref": "#/definitions/io.k8s.api.apps.v1.Deployment"},
    }
    assert names(post["parameters"], "query") == ["dryRun", "fieldManager", "fieldValidation"]
    assert post["consumes"] == ["*/*"]
    assert post["schemes"] == ["https"]
    assert post["responses"]["401"] == {"description": "Unauthorized"}


def test_delete_options_are_a_kind_of_every_version() -> None:
    in_v2 = v2()["definitions"][f"{META}DeleteOptions"]["x-kubernetes-group-version-kind"]
    schema = v3(APPS)["components"]["schemas"][f"{META}DeleteOptions"]
    in_v3 = schema["x-kubernetes-group-version-kind"]

    assert [each["group"] for each in in_v2] == ["", "apps", "gadgets.example.io"]
    assert [each["group"] for each in in_v3] == ["", "apps"]


def test_operation_ids_are_unique() -> None:
    found = [each["operationId"] for _, _, each in operations(v2(watch_paths=True))]

    assert len(found) == len(set(found))


def test_every_reference_leads_to_a_schema() -> None:
    for version in VERSIONS:
        document = v3(version, watch_paths=True)
        schemas = document["components"]["schemas"]
        found = {each.removeprefix("#/components/schemas/") for each in references(document)}
        assert found <= set(schemas)

    document = v2(watch_paths=True)
    found = {each.removeprefix("#/definitions/") for each in references(document)}
    assert found <= set(document["definitions"])


def test_documents_are_valid_openapi() -> None:
    validator = pytest.importorskip("openapi_spec_validator")

    for version in VERSIONS:
        validator.validate(v3(version, watch_paths=True))
    validator.validate(v2(watch_paths=True))


def test_order_of_resources_does_not_change_a_document() -> None:
    backwards = {version: resources[::-1] for version, resources in [*VERSIONS.items()][::-1]}

    again_v2 = document_v2(title="Test", version="v1.2.3", versions=backwards)
    again_v3 = document_v3(
        title="Test",
        version="v1.2.3",
        group_version=GADGETS,
        resources=backwards[GADGETS],
        index=index_versions(backwards),
    )

    assert json.dumps(again_v2) == json.dumps(v2())
    assert json.dumps(again_v3) == json.dumps(v3(GADGETS))


def test_unknown_verb_is_refused_by_the_name_of_its_resource() -> None:
    odd = ResourceDescription(plural="gadgets", kind="Gadget", cls=Gadget, verbs=("peek",))

    with pytest.raises(UnpublishableType, match=r"Resource=gadgets: verb 'peek' has no operation"):
        document_v3(title="t", version="v", group_version=GADGETS, resources=[odd])


def test_kind_of_a_subresource_needs_its_class() -> None:
    odd = ResourceDescription(
        plural="gadgets",
        kind="Gadget",
        cls=Gadget,
        subresources=(SubresourceDescription(name="scale", kind=SCALE),),
    )

    with pytest.raises(UnpublishableType, match=r"gadgets/scale: .*Kind=Scale needs its class"):
        document_v3(title="t", version="v", group_version=GADGETS, resources=[odd])
