"""In which form a request is answered."""

import pytest

from apimachinery.errors import NotAcceptable, UnsupportedMediaType
from apiserver.http.negotiation import (
    ALL_TYPES,
    TEXT_TYPES,
    Accepted,
    MediaTypeOffer,
    Shape,
    accepts_gzip,
    body_media_type,
    wants_pretty,
)
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import GADGETS, gadget

JSON, YAML, PROTOBUF = ALL_TYPES
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Accepted(JSON)),
        ("*/*", Accepted(JSON)),
        ("application/*", Accepted(JSON)),
        ("application/yaml", Accepted(YAML)),
        ("application/xml, application/json;q=0.5", Accepted(JSON)),
        ("application/json;q=0.1,application/yaml;q=0.9", Accepted(YAML)),
        (f"{PROTOBUF},{JSON}", Accepted(PROTOBUF)),
        ("application/json;pretty=1", Accepted(JSON, pretty=True)),
        ("application/json;charset=utf-8", Accepted(JSON)),
        (KUBECTL, Accepted(JSON, "Table")),
        (
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            Accepted(JSON, "PartialObjectMetadata"),
        ),
        ("application/json;as=Unknown;v=v1;g=meta.k8s.io, application/yaml", Accepted(YAML)),
    ],
)
def test_the_first_form_that_can_be_had(header: str, expected: Accepted) -> None:
    assert MediaTypeOffer(ALL_TYPES).accept(header) == expected


def test_a_kind_without_protobuf_is_answered_in_the_next_best() -> None:
    assert MediaTypeOffer(TEXT_TYPES).accept(f"{PROTOBUF},{JSON}") == Accepted(JSON)


@pytest.mark.parametrize(
    ("header", "shape", "message"),
    [
        ("application/xml", Shape.OBJECT, "406: Not Acceptable\n\nAvailable representations: "),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io", Shape.OBJECT, "only the following media"),
        (f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io", Shape.OBJECT, "only the following media"),
        (
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            Shape.LIST,
            "you requested PartialObjectMetadata, but the requested object is a list",
        ),
        (
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            Shape.OBJECT,
            "you requested PartialObjectMetadataList, but the requested object is not a list",
        ),
        (
            "application/yaml",
            Shape.STREAM,
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(header: str, shape: Shape, message: str) -> None:
    with pytest.raises(NotAcceptable) as refused:
        MediaTypeOffer(ALL_TYPES).accept(header, shape)

    assert refused.value.message.startswith(message)


def test_streams_of_other_types_than_json_say_so() -> None:
    assert Accepted(JSON).stream_type == "application/json"
    assert Accepted(PROTOBUF).stream_type == f"{PROTOBUF};stream=watch"


def test_what_was_answered_before_is_remembered_but_not_without_bound() -> None:
    offer = MediaTypeOffer(ALL_TYPES)

    answers = [offer.accept(f"application/json;x={i}") for i in range(1000)]

    assert set(answers) == {Accepted(JSON)}
    assert len(offer._cache) <= 256


def test_bodies_without_a_type_are_json() -> None:
    assert body_media_type("", ALL_TYPES) == JSON
    assert body_media_type("application/json; charset=utf-8", ALL_TYPES) == JSON


@pytest.mark.parametrize("header", ["text/plain", "nonsense", "application/json, text/plain"])
def test_bodies_of_other_types_are_refused(header: str) -> None:
    with pytest.raises(
        UnsupportedMediaType, match="accepted media types include: application/json"
    ):
        body_media_type(header, ALL_TYPES)


@pytest.mark.parametrize(
    ("parameter", "agent", "expected"),
    [
        ("", "curl/8.1", True),
        ("", "Wget/1", True),
        ("", "Mozilla/5.0 (X11)", True),
        ("", "kubectl/v1.33", False),
        ("false", "curl/8.1", False),
        ("true", "kubectl", True),
        ("1", "", True),
        ("nonsense", "curl", False),
    ],
)
def test_who_gets_it_indented(parameter: str, agent: str, expected: bool) -> None:
    assert wants_pretty(parameter, agent) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False), ("", False), ("br", False)],
)
def test_who_gets_it_compressed(header: str, expected: bool) -> None:
    assert accepts_gzip(header) is expected


OLD_TABLE = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
LAMP = f"{GADGETS}/lamp"
OLD_META = "meta.k8s.io/v1beta1"


async def test_a_table_can_be_of_the_older_version(client: Driver) -> None:
    await client.post(GADGETS, gadget())

    one = (await client.get(LAMP, accept=OLD_TABLE)).json
    several = (await client.get(GADGETS, accept=OLD_TABLE)).json
    newer = (await client.get(GADGETS, accept=f"{TABLE},{OLD_TABLE},application/json")).json

    for table in (one, several):
        assert (table["kind"], table["apiVersion"]) == ("Table", OLD_META)
        (row,) = table["rows"]
        assert row["cells"][0] == "lamp"
        assert (row["object"]["kind"], row["object"]["apiVersion"]) == (
            "PartialObjectMetadata",
            OLD_META,
        )
    assert newer["apiVersion"] == newer["rows"][0]["object"]["apiVersion"] == "meta.k8s.io/v1"


async def test_a_watch_can_be_of_older_tables(client: Driver) -> None:
    await client.post(GADGETS, gadget())

    headers = {"accept": OLD_TABLE}
    async with client.stream(
        f"{GADGETS}?watch=1&allowWatchBookmarks=true", headers=headers
    ) as found:
        added, bookmark = await found.events(2)

    for event in (added, bookmark):
        assert event["object"]["apiVersion"] == OLD_META
        assert event["object"]["rows"][0]["object"]["apiVersion"] == OLD_META


async def test_metadata_can_be_of_the_older_version_but_not_as_protobuf(client: Driver) -> None:
    await client.post(GADGETS, gadget())
    accept = "application/{};as=PartialObjectMetadata{};v=v1beta1;g=meta.k8s.io"

    one = (await client.get(LAMP, accept=accept.format("json", ""))).json
    several = (await client.get(GADGETS, accept=accept.format("json", "List"))).json
    refused = await client.get(GADGETS, accept=accept.format("vnd.kubernetes.protobuf", "List"))

    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", OLD_META)
    assert (several["kind"], several["apiVersion"]) == ("PartialObjectMetadataList", OLD_META)
    assert several["items"][0]["apiVersion"] == OLD_META
    assert refused.code == 406
