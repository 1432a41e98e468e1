"""Fields that recent servers have: trust bundles, pod certificates, signals, owners of files."""

import pytest

from tests.apis.core.pod.building import Case, Fields, container_errors, spec_errors, volume_errors
from tests.apis.core.pod.rules import ID_RANGE, LABEL, QUALIFIED, SUBDOMAIN

BUNDLE: Fields = {"path": "ca.pem"}
CERTIFICATE: Fields = {
    "signerName": "example.com/signer",
    "keyType": "ED25519",
    "credentialBundlePath": "bundle.pem",
}
DOMAIN_PATH = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
KEY_TYPES = '"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"'


def bundle(**fields: object) -> Fields:
    return {"clusterTrustBundle": {**BUNDLE, **fields}}


def certificate(**fields: object) -> Fields:
    return {"podCertificate": {**CERTIFICATE, **fields}}


PROJECTIONS: list[tuple[list[Fields], list[str]]] = [
    ([bundle(name="roots"), certificate()], []),
    ([bundle(name="example.com:signer:roots")], []),
    (
        [bundle()],
        ["[0].clusterTrustBundle: Required value: either name or signerName must be specified"],
    ),
    (
        [bundle(name="a", signerName="example.com/a")],
        [
            '[0].clusterTrustBundle: Invalid value: {"Name":"a","SignerName":"example.com/a",'
            '"LabelSelector":null,"Optional":null,"Path":"ca.pem","User":null}: '
            "only one of name and signerName may be used"
        ],
    ),
    (
        [bundle(name="", labelSelector={}, path="")],
        [
            "[0].clusterTrustBundle.name: Required value: must be a valid object name",
            '[0].clusterTrustBundle.name: Invalid value: "": '
            f"not a valid clustertrustbundlename: {SUBDOMAIN}",
            "[0].clusterTrustBundle.labelSelector: Invalid value: {}: "
            "labelSelector must be unset if name is specified",
            "[0].clusterTrustBundle.path: Required value",
        ],
    ),
    (
        [bundle(signerName="", path="../a", user=-1)],
        [
            "[0].clusterTrustBundle.signerName: Required value: must be a valid signer name",
            "[0].clusterTrustBundle.signerName: Required value",
            f"[0].clusterTrustBundle.user: Invalid value: -1: {ID_RANGE}",
            "[0].clusterTrustBundle.path: Invalid value: \"../a\": must not contain '..'",
        ],
    ),
    (
        [bundle(signerName="signer")],
        [f'[0].clusterTrustBundle.signerName: Invalid value: "signer": {DOMAIN_PATH}'],
    ),
    (
        [bundle(signerName="com/A")],
        [
            '[0].clusterTrustBundle.signerName: Invalid value: "com": '
            "should be a domain with at least two segments separated by dots",
            '[0].clusterTrustBundle.signerName: Invalid value: "A": '
            f'validating label "A": {SUBDOMAIN}',
        ],
    ),
    (
        [bundle(signerName="A.com/a")],
        [
            '[0].clusterTrustBundle.signerName: Invalid value: "A.com": '
            f'validating label "A": {LABEL}'
        ],
    ),
    (
        [bundle(name="a"), bundle(name="b")],
        ['^projected: Invalid value: "ca.pem": conflicting duplicate paths'],
    ),
    (
        [certificate(keyType="RSA", signerName="", credentialBundlePath="", user=-1)],
        [
            "[0].podCertificate.signerName: Required value",
            f"[0].podCertificate.user: Invalid value: -1: {ID_RANGE}",
            f'[0].podCertificate.keyType: Unsupported value: "RSA": supported values: {KEY_TYPES}',
            "[0].podCertificate: Required value: specify at least one of credentialBundlePath, "
            "keyPath, and certificateChainPath",
        ],
    ),
    (
        [certificate(maxExpirationSeconds=3599, keyPath="/k", certificateChainPath="bundle.pem")],
        [
            "[0].podCertificate.maxExpirationSeconds: Invalid value: 3599: "
            "if provided, maxExpirationSeconds must be >= 3600",
            '[0].podCertificate.keyPath: Invalid value: "/k": must be a relative path',
            '^projected: Invalid value: "bundle.pem": conflicting duplicate paths',
        ],
    ),
    (
        [certificate(maxExpirationSeconds=91 * 86400 + 1)],
        [
            "[0].podCertificate.maxExpirationSeconds: Invalid value: 7862401: "
            "if provided, maxExpirationSeconds must be <= 7862400"
        ],
    ),
    (
        [certificate(maxExpirationSeconds=86401, signerName="kubernetes.io/signer")],
        [
            "[0].podCertificate.maxExpirationSeconds: Invalid value: 86401: "
            "if provided, maxExpirationSeconds must be <= 86400"
        ],
    ),
    (
        [certificate(userAnnotations={"a b": "", "plain": ""})],
        [
            f'[0].podCertificate.userAnnotations: Invalid value: "a b": {QUALIFIED}',
            '[0].podCertificate.userAnnotations: Invalid value: "plain": '
            'must be a domain-prefixed key (such as "acme.io/foo")',
        ],
    ),
]


@pytest.mark.parametrize(("sources", "expected"), PROJECTIONS)
def test_projections(sources: list[Fields], expected: list[str]) -> None:
    prefix = "projected.sources"
    errors = volume_errors({"projected": {"sources": sources}})

    assert [
        error.removeprefix(prefix) if error.startswith(prefix) else f"^{error}" for error in errors
    ] == expected


VOLUMES: list[Case] = [
    ({"emptyDir": {"mode": 0o1777}}, []),
    (
        {"emptyDir": {"mode": 0o2000}},
        [
            "emptyDir.mode: Invalid value: 1024: "
            "must be a number between 0 and 01777 (octal), both inclusive"
        ],
    ),
    (
        {
            "secret": {
                "secretName": "s",
                "defaultUser": -1,
                "items": [{"key": "k", "path": "p", "user": 2**31}],
            }
        },
        [
            f"secret.defaultUser: Invalid value: -1: {ID_RANGE}",
            f"secret.items[0].user: Invalid value: 2147483648: {ID_RANGE}",
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), VOLUMES)
def test_modes_and_owners_of_files(fields: Fields, expected: list[str]) -> None:
    assert volume_errors(fields) == expected


CONTAINERS: list[Case] = [
    (
        {"lifecycle": {"stopSignal": "SIGTERM"}},
        [
            "lifecycle.stopSignal: Forbidden: "
            "may not be set for containers with empty `spec.os.name`"
        ],
    ),
    (
        {"readinessProbe": {"httpGet": {"port": 80, "protocol": "HTTP3"}}},
        [
            'readinessProbe.httpGet.protocol: Unsupported value: "HTTP3": '
            'supported values: "HTTP1", "HTTP2"'
        ],
    ),
    (
        {"readinessProbe": {"httpGet": {"port": 80, "protocol": "HTTP2", "scheme": "HTTPS"}}},
        [
            'readinessProbe.httpGet.protocol: Invalid value: "HTTP2": '
            "is only supported with HTTP (H2C)"
        ],
    ),
    (
        {"readinessProbe": {"httpGet": {"port": 80, "protocol": "HTTP2", "host": "a"}}},
        [
            'readinessProbe.httpGet.host: Invalid value: "a": '
            'must be empty when `protocol` is "HTTP2"'
        ],
    ),
    (
        {"readinessProbe": {"grpc": {"port": 80, "mode": "mTLS"}}},
        [
            'readinessProbe.grpc.mode: Unsupported value: "mTLS": '
            'supported values: "Plaintext", "TLS"'
        ],
    ),
    (
        {
            "volumeMounts": [
                {"name": "data", "mountPath": "/a", "bindMountOptions": ["noexec", "noexec", "x"]}
            ]
        },
        [
            'volumeMounts[0].bindMountOptions[1]: Duplicate value: "noexec"',
            'volumeMounts[0].bindMountOptions[2]: Unsupported value: "x": '
            'supported values: "nodev", "noexec", "nosuid"',
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), CONTAINERS)
def test_containers(fields: Fields, expected: list[str]) -> None:
    assert container_errors(fields) == expected


@pytest.mark.parametrize(
    ("system", "signal", "errors"),
    [
        ("linux", "SIGRTMAX-3", 0),
        ("linux", "SIGODD", 1),
        ("windows", "SIGKILL", 0),
        ("windows", "SIGHUP", 1),
    ],
)
def test_stop_signals_depend_on_the_operating_system(system: str, signal: str, errors: int) -> None:
    container = {"name": "c", "image": "i", "lifecycle": {"stopSignal": signal}}

    assert len(spec_errors({"os": {"name": system}, "containers": [container]})) == errors


def test_a_scheduling_group_has_a_name_and_no_responders() -> None:
    responders = [{"name": "a.example.com", "priority": 1}]

    assert spec_errors({"schedulingGroup": {}}) == [
        "schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`"
    ]
    assert spec_errors(
        {"schedulingGroup": {"podGroupName": "A"}, "evictionResponders": responders}
    ) == [
        f'schedulingGroup.podGroupName: Invalid value: "A": {SUBDOMAIN}',
        "schedulingGroup: Forbidden: may not be set when evictionResponders is set",
    ]
