"""What a client is told when something is wrong."""

import logging

import pytest

from apimachinery.protobuf import ProtobufCodec
from apiserver.app import App
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import CONFIG_MAPS, GADGETS, gadget

PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/apis/nogroup",
        "/apis/nogroup/v1/things",
        "/apis/gadgets.example.io/v9",
        "/apis/gadgets.example.io/v9/gadgets",
        "/api/v2",
        "//api/v1",
        "/api/v1//configmaps",
        "/livez/nothing",
        "/openapi/v3/apis/nogroup/v1",
    ],
)
async def test_unknown_paths_are_plain_text(client: Driver, path: str) -> None:
    answer = await client.get(path)

    assert (answer.code, answer.body) == (404, b"404 page not found\n")
    assert answer.header("content-type") == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/nothings",
        "/api/v1/configmaps/x",
        "/api/v1/namespaces/default/namespaces/x",
        f"{GADGETS}/x/nothing",
        f"{GADGETS}/x/status/more",
    ],
)
async def test_unknown_resources_of_known_groups_are_a_status(client: Driver, path: str) -> None:
    answer = await client.get(path)

    assert answer.code == 404
    assert answer.json["message"] == "the server could not find the requested resource"
    assert answer.json["details"] == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/configmaps"),
        ("PUT", GADGETS),
        ("POST", f"{GADGETS}/x"),
        ("DELETE", "/api/v1/namespaces"),
        ("DELETE", f"{GADGETS}/x/status"),
        ("POST", "/version"),
        ("BREW", GADGETS),
        ("get", GADGETS),
        ("POST", "/api/v1/watch/configmaps"),
    ],
)
async def test_methods_that_are_not_there(client: Driver, method: str, path: str) -> None:
    answer = await client.send(method, path)

    assert (answer.code, answer.json["reason"]) == (405, "MethodNotAllowed")
    assert answer.json["message"] == (
        "the server does not allow this method on the requested resource"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b"",
            "the object provided is unrecognized (must be of type Gadget): couldn't get"
            " version/kind; json parse error: unexpected end of JSON input (<empty>)",
        ),
        (b"{nonsense", "the object provided is unrecognized (must be of type Gadget): "),
        (b"[1]", "the object provided is unrecognized (must be of type Gadget): "),
        (
            b'{"spec":{"model":5}}',
            'Gadget in version "v1" cannot be handled as a Gadget: json: cannot unmarshal number'
            " into Go struct field GadgetSpec.spec.model of type string",
        ),
        (
            b'{"kind":"Secret","apiVersion":"v1"}',
            'Secret in version "v1" cannot be handled as a Gadget: converting (v1.Secret) to'
            " (gadgets.Gadget): unknown conversion",
        ),
        (
            b'{"kind":"Gadget","apiVersion":"gadgets.example.io/v1beta1"}',
            "the API version in the data (gadgets.example.io/v1beta1) does not match the expected"
            " API version (gadgets.example.io/v1)",
        ),
        (
            b'{"kind":"Gadget","apiVersion":"a/b/c"}',
            "the object provided is unrecognized (must be of type Gadget): unexpected GroupVersion"
            ' string: a/b/c ({"kind":"Gadget","apiVersion": ...)',
        ),
        (
            b'{"kind":"Toy","apiVersion":"v1"}',
            'Toy in version "v1" cannot be handled as a Gadget: ',
        ),
    ],
)
async def test_bodies_that_cannot_be_read(client: Driver, body: bytes, message: str) -> None:
    answer = await client.send("POST", GADGETS, body=body)

    assert (answer.code, answer.json["reason"]) == (400, "BadRequest")
    assert answer.json["message"].startswith(message)


async def test_another_kind_of_the_same_version_cannot_be_handled(client: Driver) -> None:
    answer = await client.post(CONFIG_MAPS, {"kind": "Secret", "apiVersion": "v1"})

    assert answer.code == 400
    assert answer.json["message"] == (
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to'
        " (core.ConfigMap): unknown conversion"
    )


async def test_a_null_body_is_an_empty_object(client: Driver) -> None:
    answer = await client.send("POST", CONFIG_MAPS, body=b"null")

    assert answer.code == 422
    assert "name or generateName is required" in answer.json["message"]


async def test_broken_constraints_are_invalid_with_their_fields(client: Driver) -> None:
    answer = await client.post(GADGETS, gadget(replicas=101))

    assert (answer.code, answer.json["reason"]) == (422, "Invalid")
    assert answer.json["details"]["kind"] == "Gadget"
    assert answer.json["details"]["causes"][0]["field"] == "spec.replicas"


@pytest.mark.parametrize(
    ("query", "code", "warnings"),
    [
        ("", 201, ['299 - "unknown field \\"spec.shape\\""']),
        ("?fieldValidation=Warn", 201, ['299 - "unknown field \\"spec.shape\\""']),
        ("?fieldValidation=Ignore", 201, []),
        ("?fieldValidation=Strict", 400, []),
        ("?fieldValidation=Maybe", 422, []),
    ],
)
async def test_unknown_fields(client: Driver, query: str, code: int, warnings: list[str]) -> None:
    answer = await client.post(GADGETS + query, gadget(shape="round"))

    assert answer.code == code
    assert answer.all("warning") == warnings
    if code == 400:
        assert answer.json["message"] == (
            'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error:'
            ' unknown field "spec.shape"'
        )


async def test_a_deprecated_version_warns(client: Driver) -> None:
    answer = await client.get(GADGETS.replace("v1", "v1beta1"))

    assert answer.all("warning") == [
        '299 - "gadgets.example.io/v1beta1 Gadget is deprecated; use gadgets.example.io/v1 Gadget"'
    ]


async def test_unknown_content_types_are_named(client: Driver) -> None:
    answer = await client.send("POST", GADGETS, body=b"x", headers={"content-type": "text/plain"})

    assert (answer.code, answer.json["reason"]) == (415, "UnsupportedMediaType")
    assert "accepted media types include: application/json" in answer.json["message"]


async def test_errors_are_told_in_the_form_of_the_answer(client: Driver) -> None:
    yaml = await client.get(f"{GADGETS}/none", accept="application/yaml")
    protobuf = await client.get(f"{CONFIG_MAPS}/none", accept=PROTOBUF)
    neither = await client.get(f"{GADGETS}/none", accept="application/xml")

    assert yaml.header("content-type") == "application/yaml"
    assert b"\nkind: Status\n" in yaml.body
    assert protobuf.header("content-type") == PROTOBUF
    assert ProtobufCodec().read_envelope(protobuf.body).kind == "Status"
    assert neither.code == 406
    assert neither.body.startswith(b'{\n  "kind": "Status"')


async def test_a_bug_is_logged_and_not_told(
    app: App, client: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    app.router.add_path("/broken", get=broken)

    with caplog.at_level(logging.ERROR):
        answer = await client.get("/broken", audit_id="the-id")

    assert (answer.code, answer.json["reason"]) == (500, "InternalError")
    assert "the-id" in answer.json["message"]
    assert b"secret" not in answer.body
    assert "the-id" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_retry_after_is_also_a_header(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}?resourceVersion=999999")

    assert (answer.code, answer.header("retry-after")) == (504, "1")
    assert answer.json["message"].startswith(
        "Timeout: Too large resource version: 999999, current:"
    )


async def test_export_is_refused(client: Driver) -> None:
    answer = await client.get(f"{GADGETS}/x?export=true")

    assert answer.code == 400
    assert "no longer supported" in answer.json["message"]
