"""CertificateSigningRequests: from the request through the approval to the certificate."""

from base64 import b64encode
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.errors import Forbidden, Invalid
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.certificates import GROUP
from apis.certificates.admission import SignerPermissions
from apis.certificates.printers import SIGNING_REQUEST_COLUMNS
from apis.certificates.strategy.signing_request import SigningRequestStrategy
from apis.certificates.v1 import (
    CertificateSigningRequest,
    CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
)
from apis.kubernetes import KUBERNETES
from apiserver import Attributes, Decision, RequestInfo, User
from apiserver.admission.chain import Operation
from apiserver.auth.authorization import Rules
from apiserver.context import RequestContext
from client.interface import ResourceClient
from client.testing import environment
from tests.apis.certificates.requests import pem_certificate, pem_request
from tests.apis.validating import decoded, messages

Requests = ResourceClient[CertificateSigningRequest]

STRATEGY = SigningRequestStrategy()
SIGNER = "example.com/signer"
THEN = "2030-01-01T00:00:00Z"
FIXED = "updates may not modify existing certificate content"
EXCLUSIVE = (
    'must specify at most one of: `conditions[{"type": "Approved"}]`,'
    ' `conditions[{"type": "Denied"}]`'
)


def spec(**changes: Any) -> dict[str, Any]:
    encoded = b64encode(pem_request("team")).decode()
    return {"request": encoded, "signerName": SIGNER, "usages": ["client auth"], **changes}


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


def with_status(*conditions: dict[str, str], certificate: bytes = b"") -> CertificateSigningRequest:
    status = {"conditions": conditions, "certificate": b64encode(certificate).decode()}
    return decoded(
        CertificateSigningRequest, {"metadata": {"name": "a"}, "spec": spec(), "status": status}
    )


@pytest.fixture
async def requests() -> AsyncIterator[Requests]:
    async with environment(KUBERNETES) as env:
        yield env.client.of(CertificateSigningRequest)


async def test_the_server_records_who_asks(requests: Requests) -> None:
    made = await requests.create(
        {"metadata": {"name": "jane"}, "spec": spec(username="joan", groups=["a"], uid="1")}
    )

    assert (made.spec.username, made.spec.uid) == ("admin", "")
    assert "system:masters" in made.spec.groups
    assert made.metadata.generation == 0


async def test_a_request_never_changes(requests: Requests) -> None:
    made = await requests.create({"metadata": {"name": "jane"}, "spec": spec()})

    changed = await requests.patch(
        "jane",
        {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"signerName": "other.com/signer"},
            "status": {"conditions": [condition("Approved")]},
        },
    )

    assert (changed.spec, changed.status) == (made.spec, made.status)
    assert changed.metadata.labels == {"a": "b"}


async def test_approval_and_certificate(requests: Requests) -> None:
    await requests.create({"metadata": {"name": "jane"}, "spec": spec()})
    approval, status = requests.subresource("approval"), requests.subresource("status")
    approved = [condition("Approved", reason="Known", message="It is her.")]
    certificate = b64encode(pem_certificate()).decode()

    await approval.patch("jane", {"status": {"conditions": approved, "certificate": certificate}})
    middle = await requests.get("jane")
    await status.patch("jane", {"status": {"certificate": certificate}})
    done = await requests.get("jane")

    (found,) = middle.status.conditions
    assert (found.reason, found.message) == ("Known", "It is her.")
    assert found.last_update_time is not None
    assert found.last_transition_time == found.last_update_time
    assert middle.status.certificate == b""
    assert done.status.conditions == middle.status.conditions
    assert done.status.certificate == pem_certificate()


async def test_an_approval_is_final(requests: Requests) -> None:
    await requests.create({"metadata": {"name": "jane"}, "spec": spec()})
    approval = requests.subresource("approval")
    await approval.patch("jane", {"status": {"conditions": [condition("Approved")]}})

    with pytest.raises(Invalid, match='updates may not remove a condition of type "Approved"'):
        await approval.patch("jane", {"status": {"conditions": []}})
    with pytest.raises(Invalid, match="must specify at most one of"):
        both = [condition("Approved"), condition("Denied")]
        await approval.patch("jane", {"status": {"conditions": both}})


async def test_clients_cannot_ask_for_all_permissions(requests: Requests) -> None:
    encoded = b64encode(pem_request("system:masters")).decode()
    wanted = spec(request=encoded, signerName="kubernetes.io/kube-apiserver-client")

    with pytest.raises(Forbidden) as refused:
        await requests.create({"metadata": {"name": "jane"}, "spec": wanted})

    assert refused.value.message.endswith(
        "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    )


async def test_requests_are_selected_by_signer(requests: Requests) -> None:
    for name, signer in (("a", SIGNER), ("b", "other.com/signer")):
        await requests.create({"metadata": {"name": name}, "spec": spec(signerName=signer)})

    found = requests.list(fields={"spec.signerName": SIGNER})

    assert [request.metadata.name async for request in found] == ["a"]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([condition("Failed")], []),
        (
            [condition("", ""), condition("Odd", "Maybe"), condition("Failed", "False")],
            [
                "status.conditions[0].type: Required value",
                "status.conditions[0].status: Required value",
                'status.conditions[1].status: Unsupported value: "Maybe": supported values:'
                ' "False", "True", "Unknown"',
                'status.conditions[2].status: Unsupported value: "False": supported values: "True"',
            ],
        ),
        (
            [condition("A"), condition("A")],
            ['status.conditions[1].type: Duplicate value: "A"'],
        ),
        (
            [condition("Denied")],
            ['status.conditions: Forbidden: updates may not add a condition of type "Denied"'],
        ),
    ],
)
def test_mistakes_in_conditions(conditions: list[dict[str, str]], expected: list[str]) -> None:
    new = with_status(*conditions)

    assert messages(STRATEGY.validate_status_update(new, with_status())) == expected


def test_only_one_of_approved_and_denied() -> None:
    new = with_status(condition("Approved"), condition("Denied"))

    (error,) = messages(STRATEGY.validate_status_update(new, new))

    assert error.endswith(EXCLUSIVE)


@pytest.mark.parametrize(
    ("certificate", "expected"),
    [
        (
            b"junk",
            [
                'status.certificate: Invalid value: "<certificate data>": must contain at least one'
                " CERTIFICATE PEM block",
                f"status.certificate: Forbidden: {FIXED}",
            ],
        ),
        (
            pem_certificate() * 2,
            [f"status.certificate: Forbidden: {FIXED}"],
        ),
    ],
)
def test_a_certificate_is_issued_once(certificate: bytes, expected: list[str]) -> None:
    old = with_status(certificate=pem_certificate())

    found = STRATEGY.validate_status_update(with_status(certificate=certificate), old)

    assert messages(found) == expected


def test_signers_keep_the_approval_and_the_times_of_conditions() -> None:
    old = with_status(
        condition("Approved", reason="Known", lastTransitionTime=THEN),
        condition("Odd", lastTransitionTime=THEN),
    )
    new = with_status(condition("Odd"), condition("Approved", reason="Changed"))

    STRATEGY.prepare_for_status_update(new, old)

    odd, approved = new.status.conditions
    assert odd.last_transition_time == datetime(2030, 1, 1, tzinfo=UTC)
    assert odd.last_update_time is not None
    assert odd.last_update_time > odd.last_transition_time.replace(year=2020)
    assert approved.reason == "Known"


class Grants:
    """Allows some verbs on some signers."""

    def __init__(self, *allowed: tuple[str, str]) -> None:
        self._allowed = allowed

    async def authorize(self, user: User, attributes: RequestInfo) -> Decision:
        assert (attributes.group, attributes.resource) == (GROUP, "signers")
        return Decision((attributes.verb, attributes.name) in self._allowed)

    async def rules(self, user: User, namespace: str) -> Rules:
        return Rules()


@pytest.mark.parametrize(
    ("subresource", "granted", "refusal"),
    [
        ("", (), ""),
        ("approval", (("approve", SIGNER),), ""),
        ("approval", (("approve", "example.com/*"),), ""),
        ("approval", (("sign", SIGNER),), "user not permitted to approve requests with"),
        ("status", (("sign", "example.com/*"),), ""),
        ("status", (("approve", SIGNER),), "user not permitted to sign requests with"),
    ],
)
async def test_permissions_for_signers(
    subresource: str, granted: tuple[tuple[str, str], ...], refusal: str
) -> None:
    resource = GroupVersionResource(GROUP, "v1", "certificatesigningrequests")
    context = RequestContext(User("jo"), "update", resource, subresource=subresource, name="a")
    kind = GroupKind(GROUP, "CertificateSigningRequest")
    new, old = with_status(condition("Failed")), with_status()
    plugin = SignerPermissions(Grants(*granted))

    try:
        attributes = Attributes(context, Operation.UPDATE, kind, new, old)
        await plugin.check_approval(attributes)
        await plugin.check_signing(attributes)
    except Forbidden as error:
        assert refusal
        assert error.message == (
            'certificatesigningrequests.certificates.k8s.io "a" is forbidden:'
            f' {refusal} signerName "{SIGNER}"'
        )
    else:
        assert not refusal


@pytest.mark.parametrize(
    ("types", "certificate", "expected"),
    [
        ((), b"", "Pending"),
        (("Approved",), b"", "Approved"),
        (("Approved",), b"x", "Approved,Issued"),
        (("Approved", "Failed"), b"", "Approved,Failed"),
        (("Approved", "Denied"), b"", "Denied"),
    ],
)
def test_columns(types: tuple[str, ...], certificate: bytes, expected: str) -> None:
    made = CertificateSigningRequest(
        metadata=ObjectMeta(name="a"),
        spec=CertificateSigningRequestSpec(
            signer_name=SIGNER, username="jane", expiration_seconds=3600
        ),
        status=CertificateSigningRequestStatus(
            conditions=with_status(*map(condition, types)).status.conditions,
            certificate=certificate,
        ),
    )

    shown = {column.name: column.cell(made) for column in SIGNING_REQUEST_COLUMNS}

    assert list(shown.items()) == [
        ("Name", "a"),
        ("Age", "<unknown>"),
        ("SignerName", SIGNER),
        ("Requestor", "jane"),
        ("RequestedDuration", "60m"),
        ("Condition", expected),
    ]
