"""Requests: patches, sets of fields, query options, metadata, discovery and names of resources."""

from collections.abc import Iterable
from typing import Any

from apimachinery.apply import (
    FieldSet,
    InvalidFieldSet,
    InvalidManagedFields,
    InvalidValue,
    managed_fields,
    validate,
)
from apimachinery.errors import BadRequest, Invalid
from apimachinery.fieldpath import FieldError
from apimachinery.mapper import (
    NoKindMatch,
    NoResourceMatch,
    ResourceMissing,
    mapper_for,
)
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.meta.options import (
    CreateOptions,
    DeleteOptions,
    ListOptions,
    PatchOptions,
    TableOptions,
)
from apimachinery.meta.options_validation import (
    check,
    check_table_options,
    validate_create_options,
    validate_delete_options,
    validate_list_options,
    validate_patch_options,
)
from apimachinery.meta.query_parameters import Query, load, load_list
from apimachinery.meta.types import ObjectMeta
from apimachinery.model.class_fields import shape_of
from apimachinery.patch import json_patch, merge_patch, strategic
from apimachinery.patch.json_values import JSONObject
from apimachinery.patch.patch_errors import MalformedPatch, PatchFailed, PatchTooLarge
from apimachinery.resources import (
    MalformedDiscovery,
    ServedResource,
    from_aggregated_discovery,
    from_discovery,
)
from apimachinery.schema import GroupKind, GroupVersion, GroupVersionResource
from tests.apimachinery.bad_input import MILLION, SURROGATE, Table

META = shape_of(ObjectMeta)
STORED: JSONObject = {
    "name": "n",
    "labels": {"a": "b"},
    "finalizers": ["x/a"],
    "ownerReferences": [{"uid": "1", "name": "o"}],
}


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def operation(op: str, path: str, **more: Any) -> list[dict[str, Any]]:
    return [{"op": op, "path": path, **more}]


JSON_PATCHES = Table(
    "json patches",
    lambda patch: json_patch.apply({"a": {"b": [1, 2]}, "c": "text"}, patch),
    [
        ({}, MalformedPatch, "cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ("x", MalformedPatch, "cannot unmarshal string into Go value of type jsonpatch.Patch"),
        ([5], MalformedPatch, "cannot unmarshal number into Go value of type jsonpatch.Operation"),
        ([{}], PatchFailed, 'operation 0: None "None": unknown operation'),
        ([None], PatchFailed, "unknown operation"),
        ([{"op": ["add"]}], PatchFailed, "unknown operation"),
        ([{"op": "ADD", "path": ""}], PatchFailed, "unknown operation"),
        ([{"op": "add"}], PatchFailed, '"path" must be a string'),
        (operation("add", "a", value=1), PatchFailed, 'path "a" must contain a "/"'),
        (operation("add", "", value=1), PatchFailed, 'path "" must contain a "/"'),
        (operation("replace", "", value=1), PatchFailed, "the root must be an object or a list"),
        (operation("move", "/a"), PatchFailed, '"from" must be a string'),
        (operation("remove", ""), PatchFailed, 'operation 0: remove ""'),
        (operation("remove", "/x"), PatchFailed, 'remove "/x": member "x" does not exist'),
        (operation("remove", "/~"), PatchFailed, 'member "~" does not exist'),
        (operation("add", "/x/y", value=1), PatchFailed, "neither an object nor a list"),
        (operation("add", "/c/y", value=1), PatchFailed, "neither an object nor a list"),
        (operation("add", "/a/b/3", value=1), PatchFailed, "index 3 is out of range"),
        (operation("add", "/a/b/-4", value=1), PatchFailed, "index -4 is out of range"),
        (operation("add", "/a/b/1_0", value=1), PatchFailed, '"1_0" is not a list index'),
        (operation("add", "/a/b/\u0661", value=1), PatchFailed, "is not a list index"),
        (operation("remove", "/a/b/-"), PatchFailed, '"-" is not a list index'),
        (operation("remove", "/a/b/" + "9" * MILLION), PatchFailed, "is not a list index"),
        (operation("test", "/a/b/0", value=True), PatchFailed, "the value differs"),
        (operation("move", "/a/b", **{"from": "/a"}), PatchFailed, "neither an object nor a list"),
        (operation("add", "/" + SURROGATE + "/x", value=1), PatchFailed, "\\ud800"),
        (operation("add", "/a", value=nested(300)), MalformedPatch, "deeper than 200 levels"),
        (operation("add", "/a", value=nested(5000)), MalformedPatch, "deeper than 200 levels"),
        (
            operation("copy", "/a/b/-", **{"from": "/a"}) * 60,
            PatchFailed,
            "copy operations may add at most",
        ),
        (operation("test", "/c", value="text") * 10_001, PatchTooLarge, "got 10001"),
        (operation("remove", "/x" * MILLION), PatchFailed, "neither an object nor a list"),
    ],
)

MERGE_PATCHES = Table(
    "merge patches",
    lambda patch: merge_patch.apply({"a": 1}, patch),
    [
        (nested(201), MalformedPatch, "the patch is nested deeper than 200 levels"),
        (nested(5000), MalformedPatch, "the patch is nested deeper than 200 levels"),
        ({"a": [nested(5000)]}, MalformedPatch, "the patch is nested deeper than 200 levels"),
    ],
)

CREATED_PATCHES = Table(
    "patches to create",
    lambda documents: merge_patch.create_three_way(**documents),
    [
        ({"original": 5, "modified": {}, "current": {}}, PatchFailed, "the original document must"),
        (
            {"original": {}, "modified": [], "current": {}},
            PatchFailed,
            "the modified document",
        ),
        ({"original": {}, "modified": {}, "current": ""}, PatchFailed, "the current document must"),
        (
            {"original": {}, "modified": nested(5000), "current": {}},
            PatchFailed,
            "the modified document is nested deeper",
        ),
    ],
)

STRATEGIC_PATCHES = Table(
    "strategic merge patches",
    lambda patch: strategic.apply(STORED, patch, META),
    [
        (None, MalformedPatch, "must be an object"),
        ([], MalformedPatch, "must be an object"),
        (nested(5000), MalformedPatch, "the patch is nested deeper than 200 levels"),
        ({"$patch": 5}, MalformedPatch, "unknown patch type: 5 in map"),
        ({"$patch": "merge"}, MalformedPatch, "unknown patch type: merge"),
        ({"$patch": {}}, MalformedPatch, "unknown patch type: map[]"),
        ({"labels": {"$patch": "x"}}, MalformedPatch, "labels: unknown patch type: x"),
        ({"$retainKeys": 5}, MalformedPatch, "invalid patch format of retainKeys"),
        ({"$retainKeys": [5]}, MalformedPatch, "invalid patch format of retainKeys"),
        ({"$retainKeys": [], "name": "x"}, MalformedPatch, "invalid patch format of retainKeys"),
        ({"$setElementOrder": []}, MalformedPatch, "invalid patch format of setElementOrder list"),
        ({"$setElementOrder/finalizers": 5}, PatchFailed, "finalizers: expected a []interface {}"),
        ({"$setElementOrder/finalizers": [[]]}, PatchFailed, "finalizers:"),
        ({"$setElementOrder/ownerReferences": [{}]}, PatchFailed, "declared merge key: uid"),
        ({"$setElementOrder/nope": []}, PatchFailed, 'json field "nope"'),
        (
            {"$setElementOrder/finalizers": ["x/b"], "finalizers": ["x/c"]},
            MalformedPatch,
            "finalizers: the order in patch list",
        ),
        (
            {"$deleteFromPrimitiveList": []},
            MalformedPatch,
            "invalid patch format of primitive list",
        ),
        ({"$deleteFromPrimitiveList/finalizers": 5}, MalformedPatch, "primitive list"),
        ({"$deleteFromPrimitiveList/finalizers": [{}]}, PatchFailed, "finalizers: list element"),
        ({"finalizers": [{"a": 1}]}, PatchFailed, "finalizers: list element types are not"),
        ({"finalizers": [None]}, PatchFailed, "finalizers: list element types are not identical"),
        ({"finalizers": [["x"]]}, PatchFailed, "finalizers: lists of lists are not supported"),
        ({"ownerReferences": [5]}, PatchFailed, "ownerReferences: list element types"),
        ({"ownerReferences": [{"name": "o"}]}, PatchFailed, "declared merge key: uid"),
        ({"ownerReferences": [{"uid": []}]}, PatchFailed, "ownerReferences: [] cannot identify"),
        (
            {"ownerReferences": [{"uid": "1", "$patch": "merge"}]},
            MalformedPatch,
            "ownerReferences: merging lists cannot yet be specified in the patch",
        ),
        (
            {"ownerReferences": [{"uid": "1", "$patch": "?"}]},
            MalformedPatch,
            "ownerReferences: unknown patch type: ?",
        ),
        (
            {"ownerReferences": [{"uid": "1", "$patch": nested(150)}]},
            MalformedPatch,
            "ownerReferences: unknown patch type",
        ),
    ],
)

FIELD_SETS = Table(
    "field sets",
    FieldSet.from_json,
    [
        (b"", InvalidFieldSet, "fieldsV1"),
        (b"[]", InvalidFieldSet, "fieldsV1: expected an object, got list"),
        (b'{"f:a": 5}', InvalidFieldSet, "fieldsV1 at f:a: expected an object, got int"),
        (b'{"f:a": {"f:b": []}}', InvalidFieldSet, "fieldsV1 at f:a/f:b: expected an object"),
        (b'{"k:x": {}}', InvalidFieldSet, '"k:x"'),
        (b'{"k:[1]": {}}', InvalidFieldSet, "expected a JSON object"),
        (b'{"k:{\\"a\\":[]}": {}}', InvalidFieldSet, "cannot identify a list item"),
        (b'{"v:{}": {}}', InvalidFieldSet, "a map cannot identify a list item"),
        (b'{"v:": {}}', InvalidFieldSet, '"v:"'),
        (b'{"i:x": {}}', InvalidFieldSet, "expected an integer"),
        (b'{"i:99999999999999999999": {}}', InvalidFieldSet, "expected an integer"),
        (b'{"v:NaN": {}}', InvalidFieldSet, "not JSON"),
        (b'{"f:a":' * 200 + b"{}" + b"}" * 200, InvalidFieldSet, "more than 128 levels"),
        (b'{"f:a":' * 100_000, InvalidFieldSet, "fieldsV1"),
        ('{"f:\ud800": 5}', InvalidFieldSet, "fieldsV1"),
    ],
)


def entry(**changes: Any) -> list[dict[str, Any]]:
    whole = {"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    return [{**whole, "fieldsV1": {}, **changes}]


MANAGED_FIELDS = Table(
    "managed fields",
    managed_fields.decode,
    [
        ({}, InvalidManagedFields, "expected a list, got dict"),
        ([5], InvalidManagedFields, "entry 0: expected an object, got int"),
        (entry(operation="Patch"), InvalidManagedFields, "operation must be `Apply` or `Update`"),
        (entry(apiVersion=""), InvalidManagedFields, "apiVersion must not be empty"),
        (entry(fieldsType="FieldsV2"), InvalidManagedFields, 'invalid fieldsType "FieldsV2"'),
        (entry(manager=5), InvalidManagedFields, "entry 0: manager: expected a string, got int"),
        (entry(time="now"), InvalidManagedFields, 'entry 0: time: parsing time "now"'),
        (entry(fieldsV1={"i:x": {}}), InvalidManagedFields, "managed fields entry 0"),
        (entry(fieldsV1=nested(5000)), InvalidManagedFields, "managed fields entry 0"),
    ],
)

SHAPES = Table(
    "values and their shapes",
    lambda value: validate(value, META),
    [
        ([], InvalidValue, "expected map"),
        ({"nope": 1}, InvalidValue, ".nope: field not declared in schema"),
        ({"labels": [1]}, InvalidValue, ".labels"),
        ({"finalizers": ["a", "a"]}, InvalidValue, ".finalizers"),
        ({"ownerReferences": {"uid": "1"}}, InvalidValue, ".ownerReferences"),
    ],
)

LIST_QUERIES = Table(
    "list queries",
    load_list,
    [
        ({"limit": ["x"]}, BadRequest, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ({"limit": ["1.5"]}, BadRequest, 'parsing "1.5": invalid syntax'),
        ({"limit": [" 1"]}, BadRequest, 'parsing " 1": invalid syntax'),
        ({"limit": ["9" * MILLION]}, BadRequest, "value out of range"),
        ({"limit": ["\u0661"]}, BadRequest, "invalid syntax"),
        ({"timeoutSeconds": [""]}, BadRequest, 'parsing "": invalid syntax'),
        ({"labelSelector": ["a in"]}, BadRequest, "unable to parse requirement"),
        ({"labelSelector": ["=" * MILLION]}, BadRequest, "no more than 32768 characters"),
        ({"fieldSelector": ["a"]}, BadRequest, "invalid selector: 'a'"),
        ({"labelSelector": [SURROGATE]}, BadRequest, 'invalid UTF-8 in parameter "\\ud800"'),
        ({"continue": [SURROGATE]}, BadRequest, "invalid UTF-8 in parameter"),
    ],
)

DELETE_QUERIES = Table(
    "delete queries",
    lambda query: load(DeleteOptions, query),
    [
        ({"gracePeriodSeconds": ["soon"]}, BadRequest, 'parsing "soon": invalid syntax'),
        ({"dryRun": ["All", SURROGATE]}, BadRequest, "invalid UTF-8 in parameter"),
        ({"uid": [SURROGATE]}, BadRequest, "invalid UTF-8 in parameter"),
    ],
)


def list_options(query: Query) -> None:
    options = load(ListOptions, query)
    check(options, validate_list_options(options))


LIST_OPTIONS = Table(
    "list options",
    list_options,
    [
        ({"resourceVersionMatch": ["Exact"]}, Invalid, "forbidden unless resourceVersion is"),
        (
            {"resourceVersionMatch": ["Exact"], "resourceVersion": ["0"]},
            Invalid,
            'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden',
        ),
        (
            {"resourceVersionMatch": ["Newest"], "resourceVersion": ["1"]},
            Invalid,
            'resourceVersionMatch: Unsupported value: "Newest"',
        ),
        ({"sendInitialEvents": ["1"]}, Invalid, "sendInitialEvents is forbidden for list"),
        ({"watch": ["1"], "sendInitialEvents": ["1"]}, Invalid, "to NotOlderThan"),
        (
            {"resourceVersionMatch": ["Exact"], "resourceVersion": ["1"], "continue": ["c"]},
            Invalid,
            "is forbidden when continue is provided",
        ),
    ],
)

CREATE_OPTIONS = Table(
    "create options",
    lambda options: check(options, validate_create_options(options)),
    [
        (CreateOptions(dry_run=["Some"]), Invalid, 'dryRun: Unsupported value: ["Some"]'),
        (CreateOptions(field_manager="m" * 129), Invalid, "fieldManager: Too long"),
        (CreateOptions(field_manager="a\x00"), Invalid, "invalid character U+0000 (at position 1)"),
        (CreateOptions(field_validation="strict"), Invalid, "fieldValidation: Unsupported value"),
    ],
)

PATCH_OPTIONS = Table(
    "patch options",
    lambda given: check(given[0], validate_patch_options(given[0], apply=given[1])),
    [
        ((PatchOptions(), True), Invalid, "fieldManager: Required value"),
        ((PatchOptions(force=True), False), Invalid, "force: Forbidden: may not be specified"),
    ],
)

DELETE_OPTIONS = Table(
    "delete options",
    lambda options: check(options, validate_delete_options(options)),
    [
        (DeleteOptions(propagation_policy=""), Invalid, 'propagationPolicy: Unsupported value: ""'),
        (
            DeleteOptions(propagation_policy="Orphan", orphan_dependents=True),
            Invalid,
            "propagationPolicy: Invalid value",
        ),
    ],
)

TABLE_OPTIONS = Table(
    "table options",
    check_table_options,
    [(TableOptions(include_object="All"), BadRequest, 'includeObject: Invalid value: "All"')],
)


def metadata(**fields: Any) -> ObjectMeta:
    return ObjectMeta(**{"name": "n", "namespace": "s", **fields})


def check_metadata(meta: ObjectMeta) -> None:
    errors: Iterable[FieldError] = validate_object_meta(meta, namespaced=True)
    if found := list(errors):
        raise Invalid.of(GroupKind("", "Gadget"), meta.name, found)


METADATA = Table(
    "metadata",
    check_metadata,
    [
        (metadata(name=""), Invalid, "metadata.name: Required value: name or generateName"),
        (metadata(name="A"), Invalid, 'metadata.name: Invalid value: "A": a lowercase RFC 1123'),
        (metadata(name="a/b"), Invalid, 'metadata.name: Invalid value: "a/b"'),
        (metadata(name=".."), Invalid, 'metadata.name: Invalid value: ".."'),
        (metadata(name="a" * 254), Invalid, "must be no more than 253 characters"),
        (metadata(name="a" * MILLION), Invalid, "must be no more than 253 characters"),
        (metadata(name="a\x00"), Invalid, 'metadata.name: Invalid value: "a\\x00"'),
        (metadata(name="a\n"), Invalid, 'metadata.name: Invalid value: "a\\n"'),
        (metadata(name="\u0430"), Invalid, "metadata.name: Invalid value"),
        (metadata(generate_name="-"), Invalid, "metadata.generateName: Invalid value"),
        (metadata(namespace=""), Invalid, "metadata.namespace: Required value"),
        (metadata(namespace="a.b"), Invalid, "metadata.namespace: Invalid value"),
        (metadata(generation=-1), Invalid, "metadata.generation: Invalid value: -1"),
        (metadata(labels={"": "x"}), Invalid, "metadata.labels: Invalid value"),
        (metadata(labels={"a": "-"}), Invalid, 'metadata.labels: Invalid value: "-"'),
        (metadata(labels={"a/b/c": ""}), Invalid, 'metadata.labels: Invalid value: "a/b/c"'),
        (metadata(annotations={"a": "x" * MILLION}), Invalid, "metadata.annotations: Too long"),
        (metadata(annotations={"a b": ""}), Invalid, "metadata.annotations: Invalid value"),
        (metadata(finalizers=[""]), Invalid, "metadata.finalizers: Invalid value"),
        (metadata(finalizers=["a/b/c"]), Invalid, 'metadata.finalizers: Invalid value: "a/b/c"'),
    ],
)


def resources(*found: Any, version: Any = "v1") -> list[dict[str, Any]]:
    return [{"groupVersion": version, "resources": list(found)}]


DISCOVERY = Table(
    "discovery",
    lambda lists: from_discovery({"groups": []}, lists),
    [
        ([5], MalformedDiscovery, "[0]: must be an object"),
        ([{}], MalformedDiscovery, "[0].groupVersion: must be a non-empty string"),
        (resources(version="a/b/c"), MalformedDiscovery, "GroupVersion string: a/b/c"),
        (
            [{"groupVersion": "v1", "resources": {}}],
            MalformedDiscovery,
            "resources: must be a",
        ),
        (resources(5), MalformedDiscovery, "[0].resources[0]: must be an object"),
        (resources({"name": 5}), MalformedDiscovery, "resources[0].name: must be a non-empty"),
        (resources({"name": "a"}), MalformedDiscovery, "resources[0].kind: must be a non-empty"),
        (
            resources({"name": "a", "kind": "A", "namespaced": "yes"}),
            MalformedDiscovery,
            "resources[0].namespaced: must be true or false",
        ),
        (
            resources({"name": "a", "kind": "A", "shortNames": [5]}),
            MalformedDiscovery,
            "shortNames[0]: must be a string",
        ),
    ],
)

GROUP_LISTS = Table(
    "group lists",
    lambda groups: from_discovery(groups, []),
    [
        (5, MalformedDiscovery, "must be an object"),
        ({"groups": [5]}, MalformedDiscovery, "groups[0]: must be an object"),
        ({"groups": [{"preferredVersion": 5}]}, MalformedDiscovery, "groups[0].preferredVersion"),
        (
            {"groups": [{"versions": [{}]}]},
            MalformedDiscovery,
            "versions[0].groupVersion",
        ),
    ],
)

AGGREGATED_DISCOVERY = Table(
    "aggregated discovery",
    from_aggregated_discovery,
    [
        ([], MalformedDiscovery, "[0]: must be an object"),
        ({"items": 5}, MalformedDiscovery, "[0].items: must be a list"),
        ({"items": [{"metadata": 5}]}, MalformedDiscovery, "[0].items[0].metadata: must be an"),
        ({"items": [{"versions": [{}]}]}, MalformedDiscovery, "items[0].versions[0].version"),
        (
            {
                "items": [
                    {
                        "versions": [
                            {
                                "version": "v1",
                                "resources": [{"responseKind": {"kind": "A"}, "scope": "Galaxy"}],
                            }
                        ]
                    }
                ]
            },
            MalformedDiscovery,
            "versions[0].resources[0].scope: must be Namespaced or Cluster",
        ),
    ],
)

MAPPER = mapper_for(
    [
        ServedResource(GroupVersion("a.io", "v1").with_kind("Lamp"), "lamps", "lamp"),
        ServedResource(GroupVersion("b.io", "v1").with_kind("Lamp"), "lamps", "lamp"),
    ]
)

RESOURCE_NAMES = Table(
    "names of resources",
    lambda name: MAPPER.kind_for(GroupVersionResource(**name)),
    [
        ({"resource": ""}, ResourceMissing, "a resource must be present"),
        ({"resource": "stars"}, NoResourceMatch, "no matches for /, Resource=stars"),
        ({"resource": "x" * MILLION}, NoResourceMatch, "no matches for"),
    ],
)

KIND_NAMES = Table(
    "names of kinds",
    lambda name: MAPPER.mapping(GroupKind("a.io", name), "v1"),
    [("Star", NoKindMatch, 'no matches for kind "Star" in version "a.io/v1"')],
)

TABLES: tuple[Table, ...] = (
    JSON_PATCHES,
    MERGE_PATCHES,
    CREATED_PATCHES,
    STRATEGIC_PATCHES,
    FIELD_SETS,
    MANAGED_FIELDS,
    SHAPES,
    LIST_QUERIES,
    DELETE_QUERIES,
    LIST_OPTIONS,
    CREATE_OPTIONS,
    PATCH_OPTIONS,
    DELETE_OPTIONS,
    TABLE_OPTIONS,
    METADATA,
    DISCOVERY,
    GROUP_LISTS,
    AGGREGATED_DISCOVERY,
    RESOURCE_NAMES,
    KIND_NAMES,
)
