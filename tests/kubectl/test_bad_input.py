"""Bad input by hand and by kubectl: every mistake is answered by a Status that says what it is."""

import pytest

from apimachinery.fieldpath import quote
from tests.kubectl.bad_calls import CALLS
from tests.kubectl.bad_commands import COMMANDS, FILES
from tests.kubectl.bad_creates import CREATES
from tests.kubectl.bad_patches import PATCHES
from tests.kubectl.bad_request import (
    CONFIG_MAPS,
    GADGETS,
    JSON_PATCH,
    MERGE_PATCH,
    NAMESPACE,
    SERVICES,
    Bad,
)
from tests.kubectl.normal import normal
from tests.kubectl.runner import Kubectl, one_version
from tests.servers import Server


@pytest.fixture(scope="session")
def filled(server: Server) -> Server:
    """The objects that the bad requests are about; as each of them fails, they stay as they are."""
    for path, body in (
        ("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}),
        (CONFIG_MAPS, {"metadata": {"name": "cm"}, "data": {"a": "b"}}),
        (SERVICES, {"metadata": {"name": "svc"}, "spec": {"ports": [{"port": 80}]}}),
        (GADGETS, {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}}),
    ):
        assert server.request("POST", path, body).code == 201
    return server


@pytest.mark.parametrize("bad", [*CREATES, *PATCHES, *CALLS])
def test_a_bad_request_is_answered_by_its_status(filled: Server, bad: Bad) -> None:
    headers = {"Content-Type": bad.media_type} if bad.media_type else {}

    answer = filled.request(bad.method, bad.path, bad.body, headers=headers)

    status = answer.json
    if bad.message.endswith("…"):
        assert status["message"].startswith(bad.message.removesuffix("…"))
    else:
        assert status["message"] == bad.message
    assert (answer.code, status["code"]) == (bad.code, bad.code)
    assert status["reason"] == bad.reason
    assert (status["kind"], status["apiVersion"], status["status"]) == ("Status", "v1", "Failure")
    details = status.get("details")
    assert (details is None) == (bad.about is None)
    assert {k: v for k, v in (details or {}).items() if k != "causes"} == (bad.about or {})


@pytest.mark.parametrize("bad", [b for b in (*CREATES, *PATCHES) if " is invalid: " in b.message])
def test_the_causes_are_what_the_message_says(filled: Server, bad: Bad) -> None:
    headers = {"Content-Type": str(bad.media_type)}

    status = filled.request(bad.method, bad.path, bad.body, headers=headers).json

    causes = [f"{c['field']}: {c['message']}" for c in status["details"]["causes"]]
    listed = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
    assert status["message"].split(" is invalid: ", 1)[1] == listed
    assert all(c["reason"].startswith("FieldValue") for c in status["details"]["causes"])


@pytest.mark.parametrize("path", ["/apis/nope/v1/things", "/apis/gadgets.example.io/v9/gadgets"])
def test_a_path_nobody_serves_is_not_found_in_plain_words(server: Server, path: str) -> None:
    answer = server.request("GET", path)

    assert (answer.code, answer.body) == (404, b"404 page not found\n")


def test_identities_are_compared(filled: Server) -> None:
    uid = filled.request("GET", f"{CONFIG_MAPS}/cm").json["metadata"]["uid"]

    deletion = filled.request("DELETE", f"{CONFIG_MAPS}/cm", {"preconditions": {"uid": "nope"}})
    body = {"metadata": {"name": "cm", "uid": "nope"}}
    update = filled.request("PUT", f"{CONFIG_MAPS}/cm", body)

    assert deletion.json["message"] == (
        'Operation cannot be fulfilled on ConfigMap "cm": the UID in the precondition (nope) does '
        f"not match the UID in record ({uid}). The object might have been deleted and then "
        "recreated"
    )
    assert update.json["message"].endswith(
        f"Precondition failed: UID in precondition: nope, UID in object meta: {uid}"
    )
    assert (deletion.code, update.code) == (409, 409)


@pytest.mark.parametrize(
    ("path", "patch", "reason"),
    [
        (
            f"{CONFIG_MAPS}/cm",
            {"data": {"a": 1}},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            f"{GADGETS}/lamp/status",
            {"status": {"readyReplicas": "x"}},
            "json: cannot unmarshal string into Go struct field GadgetStatus.status.readyReplicas"
            " of type int64",
        ),
    ],
)
def test_a_patch_that_makes_nonsense_is_shown_with_what_it_makes(
    filled: Server, path: str, patch: object, reason: str
) -> None:
    answer = filled.request("PATCH", path, patch, headers={"Content-Type": MERGE_PATCH})

    assert (answer.code, answer.json["reason"]) == (422, "Invalid")
    assert answer.json["message"].startswith(' "" is invalid: patch: Invalid value: "{')
    assert answer.json["message"].endswith(f'": {reason}')


ODD_OPERATION = b"""[
  {"op": "test", "path": "/data/a", "path": "/data/a", "value": "b", "note": "x"},
  {"op": "add", "path": "/dat", "value": {}}
]"""
ODDITIES = (
    'json patch duplicate field "[0].path"',
    'json patch unknown field "[0].note"',
    'unknown field "dat"',
)


def test_what_is_odd_in_a_patch_is_told_before_what_is_odd_in_its_result(filled: Server) -> None:
    headers = {"Content-Type": JSON_PATCH}
    path = f"{CONFIG_MAPS}/cm?dryRun=All&fieldValidation="

    warned = filled.request("PATCH", path + "Warn", ODD_OPERATION, headers=headers)
    refused = filled.request("PATCH", path + "Strict", ODD_OPERATION, headers=headers)
    ignored = filled.request("PATCH", path + "Ignore", ODD_OPERATION, headers=headers)

    said = [f"299 - {quote(oddity)}" for oddity in ODDITIES]
    assert (warned.code, warned.headers.get_all("warning")) == (200, said)
    assert refused.code == 422
    assert refused.json["message"].startswith(' "" is invalid: patch: Invalid value: "{')
    assert refused.json["message"].endswith('": strict decoding error: ' + ", ".join(ODDITIES))
    assert (ignored.code, ignored.headers.get_all("warning")) == (200, None)


@one_version
@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_kubectl_passes_the_message_on(
    kubectl: Kubectl, filled: Server, command: list[str], expected: str
) -> None:
    for name, text in FILES.items():
        kubectl.write(name, text)

    result = kubectl(*command, "--namespace", NAMESPACE)

    assert result.code == 1
    assert normal(result.stderr, NAMESPACE) == normal(expected, NAMESPACE)
