"""PodCertificateRequests and ClusterTrustBundles: who may set what, and what a signer issues."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from apimachinery.errors import Forbidden, Invalid
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.certificates import GROUP
from apis.certificates.admission import SignerPermissions
from apis.certificates.printers import POD_CERTIFICATE_REQUEST_COLUMNS
from apis.certificates.v1 import ClusterTrustBundle, PodCertificateRequest
from apis.certificates.validation.issued_certificate import validate_result
from apis.certificates.validation.pod_certificate_request import validate_pod_certificate_request
from apiserver import Attributes, User
from apiserver.admission.chain import Operation
from apiserver.context import RequestContext
from tests.apis.certificates.test_signing_requests import SIGNER, Grants
from tests.apis.validating import decoded, messages

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = ec.generate_private_key(ec.SECP256R1())
ISSUED = {
    "type": "Issued",
    "status": "True",
    "reason": "Done",
    "message": "",
    "lastTransitionTime": "2030-01-01T00:00:00Z",
}


def stub(key: Any = KEY) -> bytes:
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.DER)


def chain(key: Any = KEY, *, start: datetime = NOW, hours: float = 2) -> str:
    name = x509.Name([])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(hours=hours))
    )
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()


def request(status: dict[str, Any] | None = None, **spec: Any) -> PodCertificateRequest:
    names = {"podName": "a", "serviceAccountName": "b", "nodeName": "c"}
    uids = {"podUID": "1", "serviceAccountUID": "2", "nodeUID": "3"}
    encoded = b64encode(spec.pop("stub", stub())).decode()
    whole = {
        "signerName": SIGNER,
        "maxExpirationSeconds": 86400,
        "stubPKCS10Request": encoded,
        **names,
        **uids,
        **spec,
    }
    document = {"metadata": {"name": "r"}, "spec": whole, "status": status or {}}
    return decoded(PodCertificateRequest, document)


def issued(**changes: Any) -> dict[str, Any]:
    status = {
        "conditions": [ISSUED],
        "certificateChain": chain(),
        "notBefore": "2030-01-01T00:00:00Z",
        "beginRefreshAt": "2030-01-01T01:00:00Z",
        "notAfter": "2030-01-01T02:00:00Z",
    }
    return {**status, **changes}


BEFORE = "must be set to the NotBefore time encoded in the leaf certificate"
AFTER = "must be set to the NotAfter time encoded in the leaf certificate"
PRESENT = "must be present and consistent with the issued certificate"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (
            {"notBefore": None, "notAfter": None},
            [
                f"status.notBefore: Required value: {PRESENT}",
                f"status.notAfter: Required value: {PRESENT}",
            ],
        ),
        (
            {"notBefore": "2030-01-01T00:00:01Z"},
            [f'status.notBefore: Invalid value: "2030-01-01T00:00:01Z": {BEFORE}'],
        ),
        (
            {"notAfter": "2030-01-01T03:00:00Z"},
            [f'status.notAfter: Invalid value: "2030-01-01T03:00:00Z": {AFTER}'],
        ),
        (
            {"beginRefreshAt": "2030-01-01T00:01:00Z"},
            [
                'status.beginRefreshAt: Invalid value: "2030-01-01T00:01:00Z": must be at least 10'
                " minutes after status.notBefore"
            ],
        ),
        (
            {"beginRefreshAt": "2030-01-01T01:55:00Z"},
            [
                'status.beginRefreshAt: Invalid value: "2030-01-01T01:55:00Z": must be at least 10'
                " minutes before status.notAfter"
            ],
        ),
        (
            {"certificateChain": chain(hours=0.5), "notAfter": "2030-01-01T00:30:00Z"},
            [
                "status.certificateChain: Invalid value: 1800000000000: leaf certificate lifetime"
                " must be >= 1 hour"
            ],
        ),
        (
            {"certificateChain": chain(hours=48), "notAfter": "2030-01-03T00:00:00Z"},
            [
                "status.certificateChain: Invalid value: 172800000000000: leaf certificate"
                " lifetime must be <= spec.maxExpirationSeconds (86400)"
            ],
        ),
    ],
)
def test_a_certificate_is_issued_with_its_times(
    changes: dict[str, Any], expected: list[str]
) -> None:
    assert messages(validate_result(request(issued(**changes)), request(), NOW)) == expected


def test_a_certificate_is_new() -> None:
    """A clock may be five minutes off."""
    errors = validate_result(request(issued()), request(), NOW + timedelta(minutes=5))

    assert messages(errors) == [
        'status.notBefore: Invalid value: "2030-01-01T00:00:00Z": must be set to within 5 minutes'
        " of kube-apiserver's current time"
    ]


def test_a_result_is_final() -> None:
    old = request(issued())
    new = request(issued(beginRefreshAt="2030-01-01T01:10:00Z"))

    assert messages(validate_result(old, old, NOW)) == []
    assert messages(validate_result(new, old, NOW)) == [
        "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"
    ]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", ""),
        (chain(), ""),
        (
            "-----BEGIN KEY-----\nYWJj\n-----END KEY-----\n",
            "issued certificate chain must consist entirely of CERTFICATE PEM blocks",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n",
            "intermediate certificate does not parse as valid X.509",
        ),
    ],
)
def test_a_chain_consists_of_certificates(rest: str, expected: str) -> None:
    status = issued(certificateChain=chain() + rest)

    errors = messages(validate_result(request(status), request(), NOW))

    assert [error.rpartition(": ")[2] for error in errors] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (ed25519.Ed25519PrivateKey.generate(), ""),
        (ec.generate_private_key(ec.SECP384R1()), ""),
        (
            ec.generate_private_key(ec.SECP224R1()),
            '"curve P-224": elliptic public keys must use curve P256, P384, or P521',
        ),
        (
            rsa.generate_private_key(65537, 2048),
            '"2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
        ),
    ],
    ids=["Ed25519", "P-384", "P-224", "RSA-2048"],
)
def test_keys_of_requests(key: Any, expected: str) -> None:
    errors = messages(validate_pod_certificate_request(request(stub=stub(key))))

    path = "spec.stubPKCS10Request: Invalid value:"
    assert errors == ([f"{path} {expected}"] if expected else [])


def test_the_signature_of_a_request_is_verified() -> None:
    data = bytearray(stub())
    data[-1] ^= 1

    errors = messages(validate_pod_certificate_request(request(stub=bytes(data))))

    assert errors == ["spec.stubPKCS10Request: Invalid value: invalid signature"]


async def check(plugin: SignerPermissions, resource: str, new: Any, old: Any) -> None:
    context = RequestContext(User("jo"), "update", GroupVersionResource(GROUP, "v1", resource))
    kind = GroupKind(GROUP, type(new).__name__)
    attributes = Attributes(context, Operation.UPDATE, kind, new, old)
    await plugin.check_attest(attributes)
    await plugin.check_result(attributes)


async def test_only_a_signer_gives_results() -> None:
    new, old = request(issued()), request()

    await check(
        SignerPermissions(Grants(("sign", "example.com/*"))), "podcertificaterequests", new, old
    )
    with pytest.raises(Invalid) as refused:
        await check(
            SignerPermissions(Grants(("approve", SIGNER))), "podcertificaterequests", new, old
        )

    assert refused.value.message == (
        'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden:'
        f' User "jo" is not permitted to "sign" for signer "{SIGNER}"'
    )


async def test_only_those_who_may_attest_publish_anchors_of_a_signer() -> None:
    document = {"metadata": {"name": "x"}, "spec": {"signerName": SIGNER, "trustBundle": "a"}}
    old, new = decoded(ClusterTrustBundle, document), decoded(ClusterTrustBundle, document)
    new.metadata.finalizers = ["example.com/a"]
    nobody = SignerPermissions(Grants())

    await check(nobody, "clustertrustbundles", new, old)
    new.spec.trust_bundle = "b"
    await check(SignerPermissions(Grants(("attest", SIGNER))), "clustertrustbundles", new, old)
    with pytest.raises(Forbidden, match="user not permitted to attest for signerName"):
        await check(nobody, "clustertrustbundles", new, old)


def test_the_table_shows_the_result() -> None:
    cells = [column.cell(request(issued())) for column in POD_CERTIFICATE_REQUEST_COLUMNS]

    assert cells == ["r", "a", "b", "c", SIGNER, "Issued", "<none>"]
    assert POD_CERTIFICATE_REQUEST_COLUMNS[5].cell(request()) == "Pending"
