"""ResourceClaims and their templates: what can be requested, allocated and changed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.errors import Invalid
from apis.core.v1 import Namespace
from apis.kubernetes import KUBERNETES
from apis.resource.admission import ADMIN_LABEL
from apis.resource.printers import RESOURCE_CLAIM_COLUMNS
from apis.resource.strategy import ResourceClaimStrategy, ResourceClaimTemplateStrategy
from apis.resource.v1 import ResourceClaim, ResourceClaimTemplate
from client.testing import environment
from tests.apis.validating import decoded, messages

CLAIM = ResourceClaimStrategy()
TEMPLATE = ResourceClaimTemplateStrategy()
EXACTLY = {"deviceClassName": "gpus"}
REQUEST = {"name": "gpu", "exactly": EXACTLY}
RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
DEVICE = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
CONSUMER = {"resource": "pods", "name": "a", "uid": "u1"}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used"
    " for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
UNKNOWN = (
    "must be the name of a request in the claim or the name of a request and a subrequest"
    " separated by '/'"
)


def claim(*requests: dict[str, Any], status: dict[str, Any] | None = None, **more: Any) -> Any:
    spec = {"devices": {"requests": list(requests), **more}}
    document = {"metadata": {"name": "c"}, "spec": spec, "status": status or {}}
    return decoded(ResourceClaim, document)


def template(*requests: dict[str, Any], metadata: Any = None, **more: Any) -> Any:
    spec = {"metadata": metadata or {}, "spec": {"devices": {"requests": requests, **more}}}
    return decoded(ResourceClaimTemplate, {"metadata": {"name": "t"}, "spec": spec})


def exactly(**changes: Any) -> dict[str, Any]:
    return {"name": "gpu", "exactly": {**EXACTLY, **changes}}


def test_requests_have_defaults() -> None:
    tolerating = exactly(tolerations=[{"key": "a"}])
    alternatives = {"name": "any", "firstAvailable": [{"name": "a", **EXACTLY}]}

    first, second = claim(tolerating, alternatives).spec.devices.requests

    assert (first.exactly.allocation_mode, first.exactly.count) == ("ExactCount", 1)
    assert first.exactly.tolerations[0].operator == "Equal"
    assert second.first_available[0].count == 1
    assert claim(exactly(allocationMode="All")).spec.devices.requests[0].exactly.count == 0


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (REQUEST, []),
        (
            {"name": "GPU"},
            [
                f'.name: Invalid value: "GPU": {LABEL}',
                ": Required value: exactly one of `exactly` or `firstAvailable` is required",
            ],
        ),
        (
            {**REQUEST, "firstAvailable": [{"name": "a", **EXACTLY}]},
            [
                ": Invalid value: null: exactly one of `exactly` or `firstAvailable` is required,"
                " but multiple fields are set"
            ],
        ),
        (exactly(deviceClassName=""), [".exactly.deviceClassName: Required value"]),
        (
            exactly(allocationMode="All", count=2),
            [
                ".exactly.count: Invalid value: 2: must not be specified when allocationMode is"
                " 'All'"
            ],
        ),
        (exactly(count=-1), [".exactly.count: Invalid value: -1: must be greater than zero"]),
        (
            exactly(allocationMode="Some"),
            [
                '.exactly.allocationMode: Unsupported value: "Some": supported values: "All",'
                ' "ExactCount"'
            ],
        ),
        (
            exactly(
                tolerations=[
                    {"operator": "Exists", "value": "v"},
                    {"operator": "Is", "effect": "Evict"},
                ]
            ),
            [
                '.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator'
                " `Exists`",
                '.exactly.tolerations[1].operator: Unsupported value: "Is": supported values:'
                ' "Equal", "Exists"',
                '.exactly.tolerations[1].effect: Unsupported value: "Evict": supported values:'
                ' "NoExecute", "NoSchedule", "None"',
            ],
        ),
        (
            {"name": "any", "firstAvailable": [{"name": "a", **EXACTLY}] * 2},
            [
                '.firstAvailable[1]: Duplicate value: {"name":"a","deviceClassName":"gpus",'
                '"allocationMode":"ExactCount","count":1}'
            ],
        ),
        (
            {"name": "any", "firstAvailable": [{"name": f"a{i}", **EXACTLY} for i in range(9)]},
            [".firstAvailable: Too many: 9: must have at most 8 items"],
        ),
    ],
)
def test_rules_of_requests(request_: dict[str, Any], expected: list[str]) -> None:
    assert messages(CLAIM.validate(claim(request_))) == [
        f"spec.devices.requests[0]{text}" for text in expected
    ]
    assert messages(TEMPLATE.validate(template(request_))) == [
        f"spec.spec.devices.requests[0]{text}" for text in expected
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"constraints": [{"requests": ["gpu"], "matchAttribute": "gpu.example.com/model"}]},
            [],
        ),
        (
            {"constraints": [{}]},
            [
                'constraints[0]: Required value: exactly one of "matchAttribute" or'
                ' "distinctAttribute" is required, but multiple fields are set'
            ],
        ),
        (
            {"constraints": [{"requests": ["nic", "gpu/a"], "matchAttribute": "model"}]},
            [
                f'constraints[0].requests[0]: Invalid value: "nic": {UNKNOWN}',
                f'constraints[0].requests[1]: Invalid value: "gpu/a": {UNKNOWN}',
                'constraints[0].matchAttribute: Invalid value: "model": a fully qualified name'
                " must be a domain and a name separated by a slash",
            ],
        ),
        (
            {"constraints": [{"distinctAttribute": "/"}]},
            [
                'constraints[0].distinctAttribute: Invalid value: "": prefix must not be empty',
                'constraints[0].distinctAttribute: Invalid value: "": name must not be empty',
            ],
        ),
        (
            {"config": [{"requests": ["gpu", "gpu"]}]},
            [
                'config[0].requests[1]: Duplicate value: "gpu"',
                "config[0].opaque: Required value",
            ],
        ),
    ],
)
def test_rules_of_claims(more: dict[str, Any], expected: list[str]) -> None:
    assert messages(CLAIM.validate(claim(REQUEST, **more))) == [
        f"spec.devices.{text}" for text in expected
    ]


def test_claims_and_templates_are_immutable() -> None:
    new, old = claim(exactly(count=2)), claim(REQUEST)
    shown = (
        '{"Spec":{"Devices":{"Requests":[{"Name":"gpu","Exactly":{"DeviceClassName":"gpus",'
        '"Selectors":null,"AllocationMode":"ExactCount","Count":2,"AdminAccess":null,'
        '"Tolerations":null,"Capacity":null,"DerivedAttributes":null},"FirstAvailable":null}],'
        '"Constraints":null,"Config":null}}}'
    )

    assert messages(CLAIM.validate_update(new, old)) == [
        "spec: Invalid value: null: field is immutable"
    ]
    assert messages(TEMPLATE.validate_update(template(exactly(count=2)), template(REQUEST))) == [
        f"spec: Invalid value: {shown}: field is immutable"
    ]


def test_the_metadata_of_a_template_has_labels_and_annotations_only() -> None:
    metadata = {"labels": {"a": "b"}, "name": "x", "finalizers": ["f"]}

    assert messages(TEMPLATE.validate(template(REQUEST, metadata=metadata))) == [
        "spec.metadata.name: Forbidden: cannot be set",
        "spec.metadata.finalizers: Forbidden: cannot be set",
    ]


def test_attributes_of_a_feature_that_is_off_are_dropped() -> None:
    derived = {"derivedAttributes": [{"name": "a.b/c", "expression": "1"}]}
    alternatives = {"name": "any", "firstAvailable": [{"name": "a", **EXACTLY, **derived}]}
    new, kept = claim(exactly(**derived), alternatives), claim(exactly(**derived))

    CLAIM.prepare_for_create(new)
    CLAIM.prepare_for_update(kept, claim(exactly(**derived)))

    assert new.spec.devices.requests[0].exactly.derived_attributes == []
    assert new.spec.devices.requests[1].first_available[0].derived_attributes == []
    assert kept.spec.devices.requests[0].exactly.derived_attributes != []


def allocated(**more: Any) -> dict[str, Any]:
    return {"allocation": {"devices": {"results": [RESULT]}}, **more}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (allocated(reservedFor=[CONSUMER], devices=[DEVICE]), []),
        (
            {"reservedFor": [CONSUMER]},
            ["reservedFor: Forbidden: may not be specified when `allocated` is not set"],
        ),
        (
            allocated(reservedFor=[{}]),
            [
                "reservedFor[0].resource: Required value",
                "reservedFor[0].name: Required value",
                "reservedFor[0].uid: Required value",
            ],
        ),
        (
            {"devices": [{**DEVICE, "networkData": {"ips": ["10.0.0.1", "::ffff:10.0.0.1/120"]}}]},
            [
                'devices[0]: Invalid value: {"Driver":"gpu.example.com","Pool":"node-1",'
                '"Device":"gpu-0","ShareID":""}: must be an allocated device in the claim',
                'devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address'
                " in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
                'devices[0].networkData.ips[1]: Invalid value: "::ffff:10.0.0.1/120": must be in'
                ' canonical form ("10.0.0.1/24")',
            ],
        ),
        (
            {"allocation": {"devices": {"results": [{**RESULT, "request": "x", "shareID": "y"}]}}},
            [
                f'allocation.devices.results[0].request: Invalid value: "x": {UNKNOWN}',
                'allocation.devices.results[0].shareID: Invalid value: "y": must be a lowercase'
                " UUID in 8-4-4-4-12 format",
            ],
        ),
        (
            {"allocation": {"devices": {"config": [{"source": "FromPod"}]}}},
            [
                'allocation.devices.config[0].source: Unsupported value: "FromPod": supported'
                ' values: "FromClaim", "FromClass"',
                "allocation.devices.config[0].opaque: Required value",
            ],
        ),
        (
            {"allocation": {"nodeSelector": {}}},
            [
                "allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one"
                " node selector term"
            ],
        ),
    ],
)
def test_rules_of_a_status(status: dict[str, Any], expected: list[str]) -> None:
    errors = CLAIM.validate_status_update(claim(REQUEST, status=status), claim(REQUEST))

    assert messages(errors) == [f"status.{text}" for text in expected]


def test_an_allocation_cannot_be_changed() -> None:
    other = {"allocation": {"devices": {"results": [{**RESULT, "device": "gpu-1"}]}}}
    new, old = claim(REQUEST, status=other), claim(REQUEST, status=allocated())

    assert messages(CLAIM.validate_status_update(new, old)) == [
        "status.allocation: Invalid value: null: field cannot be modified once set"
    ]


def test_a_deleted_claim_is_reserved_for_nobody_else() -> None:
    new = claim(REQUEST, status=allocated(reservedFor=[CONSUMER]))
    new.metadata.deletion_timestamp = datetime(2026, 1, 1, tzinfo=UTC)

    assert messages(CLAIM.validate_status_update(new, claim(REQUEST, status=allocated()))) == [
        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested`"
        " or `deletionTimestamp` are set"
    ]


def test_the_state_of_freed_devices_is_removed() -> None:
    new = claim(REQUEST, status={"devices": [DEVICE]})

    CLAIM.prepare_for_status_update(new, claim(REQUEST, status=allocated(devices=[DEVICE])))

    assert new.status.devices == []


def test_columns() -> None:
    deleted = claim(REQUEST)
    deleted.metadata.deletion_timestamp = datetime(2026, 1, 1, tzinfo=UTC)
    claims = [
        claim(REQUEST),
        claim(REQUEST, status=allocated()),
        claim(REQUEST, status=allocated(reservedFor=[CONSUMER])),
        deleted,
    ]

    assert [RESOURCE_CLAIM_COLUMNS[0].cell(one) for one in claims] == [
        "pending",
        "allocated",
        "allocated,reserved",
        "deleted",
    ]


async def test_access_for_administration_needs_a_labelled_namespace() -> None:
    spec = {"devices": {"requests": [exactly(adminAccess=True)]}}
    document = {"metadata": {"name": "c", "namespace": "default"}, "spec": spec}

    async with environment(KUBERNETES) as env:
        claims = env.client.of(ResourceClaim, namespace="default")
        with pytest.raises(Invalid) as refused:
            await claims.create(document)
        labels = {"metadata": {"labels": {ADMIN_LABEL: "true"}}}
        await env.client.of(Namespace).patch("default", labels)
        created = await claims.create(document)

    assert refused.value.causes[0].field == "spec.devices.requests[0].adminAccess"
    assert created.metadata.name == "c"
